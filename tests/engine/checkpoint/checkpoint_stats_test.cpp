// The statistics of checkpoints (spec coordinator.md 7; rows C-116 to C-120 with more around them).
#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/barrier/counting_allocator.hpp"

namespace tailrace::engine::test {
namespace {

const std::vector<StatsVertex> kVertices = {{OperatorId{{1}}, 2}, {OperatorId{{2}}, 1}};

CheckpointProperties checkpoint() {
  return CheckpointProperties::for_checkpoint(
      CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION);
}
CheckpointProperties savepoint() {
  return CheckpointProperties::for_savepoint();
}

SubtaskStateStats ack(std::int64_t at, std::int64_t state_size = 0) {
  SubtaskStateStats stats;
  stats.ack_timestamp = at;
  stats.state_size = state_size;
  stats.report = SubtaskReport::COMPLETE;
  return stats;
}
SubtaskStateStats incomplete(std::int64_t at, std::int64_t state_size) {
  SubtaskStateStats stats = ack(at, state_size);
  stats.report = SubtaskReport::INCOMPLETE;
  return stats;
}

std::int64_t gauge(const CheckpointStatsTracker& tracker, std::string_view name) {
  for (const CheckpointGauge& candidate : tracker.traits().gauges) {
    if (candidate.name == name) return candidate.value(tracker);
  }
  ADD_FAILURE() << "no gauge " << name;
  return -2;
}

std::vector<CheckpointId> ids(const CheckpointStatsTracker& tracker) {
  std::vector<CheckpointId> result;
  for (const auto& stats : tracker.create_snapshot()->history) result.push_back(stats->id());
  return result;
}

class BothGenerations : public testing::TestWithParam<const CheckpointStatsTraits*> {
 protected:
  [[nodiscard]] CheckpointStatsTracker make(std::int32_t history = 10) const {
    return {*GetParam(), history};
  }
};
INSTANTIATE_TEST_SUITE_P(Flink, BothGenerations,
                         testing::Values(&kCheckpointStats110, &kCheckpointStats120));

TEST_P(BothGenerations, C117_CountEveryCheckpointOnce) {
  CheckpointStatsTracker tracker = make();
  tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_pending_checkpoint(2, 0, checkpoint(), kVertices);
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{0, 2, 2, 0, 0}));
  tracker.report_completed_checkpoint(1, "chk-1");
  tracker.report_failed_checkpoint(2, 5, CheckpointFailureReason::CHECKPOINT_EXPIRED);
  tracker.report_initialization_start(9);
  tracker.report_restored_checkpoint({.id = 1, .restore_timestamp = 9});
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{1, 2, 0, 1, 1}));
}

TEST_P(BothGenerations, R71_ReadMinusOneBeforeThereIsAnything) {
  const CheckpointStatsTracker tracker = make();
  for (const CheckpointGauge& gauge : tracker.traits().gauges) {
    const std::string name = gauge.name;
    const bool counter = name.starts_with("numberOf") || name.starts_with("total");
    EXPECT_EQ(gauge.value(tracker), counter ? 0 : -1) << name;
  }
  EXPECT_EQ(tracker.last_checkpoint_external_path(), "n/a");
}

TEST_P(BothGenerations, R76_EndWithTheAcknowledgementThatWasHandledLast) {
  CheckpointStatsTracker tracker = make();
  const CheckpointStatsPtr stats =
      tracker.report_pending_checkpoint(1, 1000, checkpoint(), kVertices);
  EXPECT_EQ(stats->end_to_end_duration(), -1);
  EXPECT_TRUE(tracker.report_subtask_stats(1, 0, 0, ack(1500, 10)));
  EXPECT_TRUE(tracker.report_subtask_stats(1, 1, 0, ack(1400, 20)));
  EXPECT_TRUE(tracker.report_subtask_stats(1, 0, 1, ack(1300, 30)));
  EXPECT_FALSE(tracker.report_subtask_stats(1, 0, 1, ack(1900, 30)));  // it has reported
  EXPECT_FALSE(tracker.report_subtask_stats(1, 0, 2, ack(1900)));      // there is no such subtask
  EXPECT_FALSE(tracker.report_subtask_stats(1, 2, 0, ack(1900)));      // nor such a vertex
  EXPECT_FALSE(tracker.report_subtask_stats(2, 0, 0, ack(1900)));      // nor such a checkpoint
  tracker.report_completed_checkpoint(1, "chk-1");
  EXPECT_EQ(stats->end_to_end_duration(), 300);
  EXPECT_EQ(stats->latest_ack_timestamp(), 1300);
  EXPECT_EQ(stats->number_of_acknowledged_subtasks(), 3);
  EXPECT_EQ(stats->state_size(), 60);
  const TaskStateStats& first = stats->tasks()[0];
  EXPECT_EQ(first.end_to_end_duration(1000), 300);
  EXPECT_EQ(first.summary(StatsQuantity::STATE_SIZE).average(), 20);
  EXPECT_EQ(first.summary(StatsQuantity::ACK_TIMESTAMP).maximum(), 1500);
  EXPECT_EQ(gauge(tracker, "lastCheckpointDuration"), 300);
  EXPECT_EQ(tracker.last_checkpoint_external_path(), "chk-1");
}

TEST_P(BothGenerations, R76_AFailedOneEndsWithItsFailure) {
  CheckpointStatsTracker tracker = make();
  const CheckpointStatsPtr stats =
      tracker.report_pending_checkpoint(1, 1000, checkpoint(), kVertices);
  tracker.report_subtask_stats(1, 0, 0, ack(1500));
  tracker.report_failed_checkpoint(1, 1700, CheckpointFailureReason::CHECKPOINT_DECLINED);
  EXPECT_EQ(stats->end_to_end_duration(), 700);
  EXPECT_EQ(stats->failure_reason(), CheckpointFailureReason::CHECKPOINT_DECLINED);
  EXPECT_FALSE(stats->is_failure_counted());
  tracker.set_failure_counted(2);  // of another one
  EXPECT_FALSE(stats->is_failure_counted());
  tracker.set_failure_counted(1);
  EXPECT_TRUE(stats->is_failure_counted());
}

TEST_P(BothGenerations, C116_ShowTheNewestFirst) {
  CheckpointStatsTracker tracker = make(3);
  for (CheckpointId id = 0; id < 4; ++id) {
    tracker.report_pending_checkpoint(id, 0, checkpoint(), kVertices);
  }
  EXPECT_EQ(ids(tracker), (std::vector<CheckpointId>{3, 2, 1}));
  // Ending keeps the place.
  tracker.report_completed_checkpoint(2, "chk-2");
  EXPECT_EQ(ids(tracker), (std::vector<CheckpointId>{3, 2, 1}));
  EXPECT_EQ(tracker.create_snapshot()->history[1]->status(), CheckpointStatsStatus::COMPLETED);
}

TEST_P(BothGenerations, R710_KeepTheLatestOfEachKindByItsId) {
  CheckpointStatsTracker tracker = make(4);
  for (CheckpointId id = 1; id <= 4; ++id) {
    tracker.report_pending_checkpoint(id, 0, id == 2 ? savepoint() : checkpoint(), kVertices);
  }
  tracker.report_completed_checkpoint(3, "chk-3");
  tracker.report_completed_checkpoint(1, "chk-1");
  tracker.report_completed_checkpoint(2, "sp-2");
  tracker.report_failed_checkpoint(4, 5, CheckpointFailureReason::CHECKPOINT_EXPIRED);
  const auto snapshot = tracker.create_snapshot();
  EXPECT_EQ(snapshot->latest_completed->id(), 3);
  EXPECT_EQ(snapshot->latest_savepoint->id(), 2);
  EXPECT_EQ(snapshot->latest_failed->id(), 4);
  // The metrics follow the order of the reports.
  EXPECT_EQ(tracker.last_checkpoint_external_path(), "sp-2");
}

TEST_P(BothGenerations, R710_KeepNothingElseWithoutAHistory) {
  CheckpointStatsTracker tracker = make(0);
  tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_completed_checkpoint(1, "chk-1");
  EXPECT_TRUE(ids(tracker).empty());
  EXPECT_EQ(tracker.create_snapshot()->latest_completed->id(), 1);
}

TEST_P(BothGenerations, R710_MakeASnapshotAnewOnlyAfterAChange) {
  CheckpointStatsTracker tracker = make();
  tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  const auto before = tracker.create_snapshot();
  EXPECT_EQ(tracker.create_snapshot(), before);
  tracker.report_subtask_stats(1, 0, 0, ack(5));  // seen through the old one
  EXPECT_EQ(tracker.create_snapshot(), before);
  EXPECT_EQ(before->history[0]->number_of_acknowledged_subtasks(), 1);
  tracker.report_completed_checkpoint(1, "chk-1");
  EXPECT_NE(tracker.create_snapshot(), before);
  EXPECT_EQ(before->counts.completed, 0);
}

TEST_P(BothGenerations, AcknowledgingAllocatesNothing) {
  CheckpointStatsTracker tracker = make();
  std::vector<StatsVertex> many = {{OperatorId{{1}}, 10'000}};
  tracker.report_pending_checkpoint(1, 0, checkpoint(), many);
  const std::size_t before = allocation_count();
  for (std::int32_t subtask = 0; subtask < 10'000; ++subtask) {
    tracker.report_subtask_stats(1, 0, subtask, ack(subtask, 1));
  }
  EXPECT_EQ(allocation_count(), before);
}

TEST(CheckpointStats110, AFailureBelongsToItsCheckpointWhateverTheHistoryHolds) {
  CheckpointStatsTracker tracker(kCheckpointStats110, 1);
  tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_pending_checkpoint(2, 0, checkpoint(), kVertices);
  tracker.report_failed_checkpoint(1, 5, CheckpointFailureReason::CHECKPOINT_EXPIRED);
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{0, 2, 1, 0, 1}));
}

TEST(CheckpointStats120, R74_AFailureThatTheHistoryDoesNotKnowCountsAsOneWithoutACheckpoint) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 1);
  const CheckpointStatsPtr dropped =
      tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_pending_checkpoint(2, 0, checkpoint(), kVertices);
  tracker.report_failed_checkpoint(1, 5, CheckpointFailureReason::CHECKPOINT_EXPIRED);
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{0, 3, 2, 0, 1}));
  EXPECT_EQ(dropped->status(), CheckpointStatsStatus::FAILED);
  tracker.report_failed_checkpoint_without_in_progress();
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{0, 4, 2, 0, 2}));
}

TEST(CheckpointStats120, ASecondFailureOfTheSameCheckpointCountsAgainButNeverBelowZero) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  const CheckpointStatsPtr stats = tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_failed_checkpoint(1, 5, CheckpointFailureReason::CHECKPOINT_EXPIRED);
  tracker.report_failed_checkpoint(1, 7, CheckpointFailureReason::IO_EXCEPTION);
  EXPECT_EQ(tracker.counts(), (CheckpointStatsCounts{0, 1, 0, 0, 2}));
  EXPECT_EQ(stats->failure_timestamp(), 7);
}

TEST(CheckpointStats120, C120_LateMetricsUpdateTheEntryAndNotTheAcknowledgedCount) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  const CheckpointStatsPtr stats =
      tracker.report_pending_checkpoint(1, 1000, checkpoint(), kVertices);
  tracker.report_subtask_stats(1, 0, 0, ack(1500, 10));
  tracker.report_failed_checkpoint(1, 1600, CheckpointFailureReason::CHECKPOINT_DECLINED);
  EXPECT_EQ(stats->tasks()[0].subtasks()[1].report, SubtaskReport::NONE);
  EXPECT_FALSE(tracker.report_subtask_stats(1, 0, 1, ack(1700, 20)));  // it is not in progress
  EXPECT_TRUE(tracker.report_incomplete_stats(1, 0, 1, incomplete(1700, 20)));
  EXPECT_EQ(stats->tasks()[0].subtasks()[1].state_size, 20);
  EXPECT_EQ(stats->number_of_acknowledged_subtasks(), 1);
  EXPECT_EQ(stats->tasks()[0].number_of_acknowledged_subtasks(), 1);
  EXPECT_EQ(stats->latest_ack_timestamp(), 1500);
  EXPECT_EQ(stats->state_size(), 30);
  EXPECT_EQ(stats->status(), CheckpointStatsStatus::FAILED);
}

TEST(CheckpointStats120, R75_AnIncompleteReportThatCameFirstKeepsItsPlace) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  const CheckpointStatsPtr stats =
      tracker.report_pending_checkpoint(1, 1000, checkpoint(), kVertices);
  EXPECT_TRUE(tracker.report_incomplete_stats(1, 0, 0, incomplete(1100, 20)));
  EXPECT_FALSE(tracker.report_subtask_stats(1, 0, 0, ack(1500, 10)));
  EXPECT_EQ(stats->end_to_end_duration(), -1);
  EXPECT_EQ(stats->tasks()[0].summary(StatsQuantity::ACK_TIMESTAMP).count(), 0);
}

TEST(CheckpointStats120, NothingIsReportedLateToACompletedCheckpointOrToOneThatIsGone) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 1);
  tracker.report_pending_checkpoint(1, 0, checkpoint(), kVertices);
  tracker.report_completed_checkpoint(1, "chk-1");
  EXPECT_FALSE(tracker.report_incomplete_stats(1, 0, 0, incomplete(5, 1)));
  tracker.report_pending_checkpoint(2, 0, checkpoint(), kVertices);
  tracker.report_pending_checkpoint(3, 0, checkpoint(), kVertices);
  EXPECT_FALSE(tracker.report_incomplete_stats(2, 0, 0, incomplete(5, 1)));
  EXPECT_TRUE(tracker.report_incomplete_stats(3, 0, 0, incomplete(5, 1)));
}

TEST(CheckpointStats120, R77_FinishedSubtasksHaveAcknowledgedAtTheTrigger) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  const CheckpointStatsPtr stats =
      tracker.report_pending_checkpoint(1, 1000, checkpoint(), kVertices);
  tracker.report_subtask_stats(1, 0, 0, finished_subtask_state_stats_120(1000));
  EXPECT_EQ(stats->number_of_acknowledged_subtasks(), 1);
  EXPECT_EQ(stats->end_to_end_duration(), 0);
  EXPECT_EQ(stats->state_size(), 0);
}

TEST(CheckpointStats120, EachAttemptOfARestoreForgetsTheOneBefore) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  tracker.report_initialization_start(100);
  tracker.report_restored_checkpoint({.id = 7, .restore_timestamp = 100});
  EXPECT_EQ(tracker.create_snapshot()->latest_restored->id, 7);
  tracker.report_initialization_start(200);  // nothing is found
  EXPECT_EQ(gauge(tracker, "lastCheckpointRestoreTimestamp"), 200);
  EXPECT_FALSE(tracker.latest_restored().has_value());
  EXPECT_EQ(tracker.counts().restored, 1);
}

TEST(CheckpointStats120, TheSizeGaugesTellTheNewBytesFromTheFullOnes) {
  CheckpointStatsTracker tracker(kCheckpointStats120, 10);
  tracker.report_pending_checkpoint(5, 0, checkpoint(), kVertices);
  const CheckpointMetrics metrics{.alignment_ns = -1,
                                  .sync_ns = 2'999'999,
                                  .start_delay_ns = 4'000'000,
                                  .bytes_processed_during_alignment = 11,
                                  .bytes_persisted_during_alignment = 22,
                                  .bytes_persisted_of_this_checkpoint = 300,
                                  .total_bytes_persisted = 1000,
                                  .unaligned = true};
  const SubtaskStateStats stats = subtask_state_stats_120(9, metrics, SubtaskReport::COMPLETE);
  EXPECT_EQ(stats.sync_duration, 2);
  EXPECT_EQ(stats.start_delay, 4);
  EXPECT_EQ(stats.alignment_duration, 0);  // not set: -1 ns
  tracker.report_subtask_stats(5, 0, 0, stats);
  const CheckpointStatsPtr completed = tracker.report_completed_checkpoint(5, "chk-5");
  EXPECT_TRUE(completed->is_unaligned());
  EXPECT_EQ(gauge(tracker, "lastCheckpointSize"), 300);
  EXPECT_EQ(gauge(tracker, "lastCheckpointFullSize"), 1000);
  EXPECT_EQ(gauge(tracker, "lastCheckpointProcessedData"), 11);
  EXPECT_EQ(gauge(tracker, "lastCheckpointPersistedData"), 22);
  EXPECT_EQ(gauge(tracker, "lastCompletedCheckpointId"), 5);
}

TEST(CheckpointStats110, TheSizeIsThatOfTheHandles) {
  CheckpointStatsTracker tracker(kCheckpointStats110, 10);
  tracker.report_pending_checkpoint(5, 0, checkpoint(), kVertices);
  const CheckpointMetrics metrics{.alignment_bytes_buffered = 44, .alignment_ns = 1'999'999};
  tracker.report_subtask_stats(5, 0, 0, subtask_state_stats_110(9, metrics, 77));
  tracker.report_completed_checkpoint(5, "chk-5");
  EXPECT_EQ(gauge(tracker, "lastCheckpointSize"), 77);
  EXPECT_EQ(gauge(tracker, "lastCheckpointAlignmentBuffered"), 44);
  EXPECT_EQ(tracker.summary().entries()[2].summary.sum(), 44);
  EXPECT_EQ(tracker.summary().entries()[2].window.quantiles({.5}), std::nullopt);
}

// commons-math3, Percentile with LEGACY: 1..4 at 0.5 is between the second and the third value.
TEST(QuantileWindow, InterpolatesBetweenTwoValues) {
  QuantileWindow window(10);
  EXPECT_EQ(window.quantiles({.5}), std::nullopt);
  window.add(4);
  EXPECT_EQ(window.quantiles({.001, .5, .999}), (std::vector<double>{4, 4, 4}));
  window.add(-1);  // ignored
  window.add(1);
  window.add(3);
  window.add(2);
  EXPECT_EQ(window.quantiles({.5, .9, .1, .25}), (std::vector<double>{2.5, 4, 1, 1.25}));
}

TEST(QuantileWindow, ForgetsTheOldest) {
  QuantileWindow window(3);
  for (const std::int64_t value : {100, 1, 2, 3}) window.add(value);
  EXPECT_EQ(window.quantiles({.5, .99}), (std::vector<double>{2, 3}));
}

TEST(QuantileWindow, OfNoSizeHasNoQuantiles) {
  QuantileWindow window(0);
  window.add(1);
  EXPECT_EQ(window.quantiles({.5}), std::nullopt);
}

// What a window says is what a sorted list of its last values says.
RC_GTEST_PROP(QuantileWindow, AgreesWithASortedList, (const std::vector<std::uint16_t>& values)) {
  constexpr std::size_t kSize = 5;
  QuantileWindow window(kSize);
  for (const std::uint16_t value : values) window.add(value);
  if (values.empty()) return;
  std::vector<std::int64_t> last(
      values.end() - static_cast<std::ptrdiff_t>(std::min(kSize, values.size())), values.end());
  std::sort(last.begin(), last.end());
  // At i / (n + 1) lies the i-th value, up to rounding of the position.
  const double count = static_cast<double>(last.size()) + 1;
  for (std::size_t i = 0; i < last.size(); ++i) {
    const double quantile = static_cast<double>(i + 1) / count;
    const double found = window.quantiles({quantile})->front();
    const double expected = static_cast<double>(last[i]);
    RC_ASSERT(found > expected - 0.001 && found < expected + 0.001);
  }
}

// Counts against a naive list of what has happened.
RC_GTEST_PROP(CheckpointStatsTracker, CountsLikeAList, (const std::vector<bool>& ends)) {
  for (const CheckpointStatsTraits* traits : {&kCheckpointStats110, &kCheckpointStats120}) {
    CheckpointStatsTracker tracker(*traits, 1000);
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    CheckpointId next = 1;
    CheckpointId oldest = 1;
    for (const bool end : ends) {
      if (!end || oldest == next) {
        tracker.report_pending_checkpoint(next++, 0, checkpoint(), kVertices);
      } else if (oldest % 3 == 0) {
        tracker.report_failed_checkpoint(oldest++, 1, CheckpointFailureReason::CHECKPOINT_EXPIRED);
        ++failed;
      } else {
        tracker.report_completed_checkpoint(oldest++, "");
        ++completed;
      }
      RC_ASSERT(tracker.counts() ==
                (CheckpointStatsCounts{0, next - 1, next - oldest, completed, failed}));
      RC_ASSERT((tracker.find_in_progress(oldest) != nullptr) == (oldest < next));
    }
  }
}

}  // namespace
}  // namespace tailrace::engine::test
