// The task of 1.20: the end of its data, its final checkpoint, notices, stop with savepoint.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/network/network_semantics.hpp"
#include "tests/engine/task/task_world.hpp"

namespace tailrace::engine {
namespace {

// One partition of lines that are there from the beginning; each costs 2 ms.
FakeLog lines_of_2_ms(std::int32_t count, bool finite) {
  FakeLog::Lines lines;
  for (std::int32_t i = 0; i < count; ++i) {
    lines.emplace_back(std::string(1, static_cast<char>('a' + i % 26)), Time{});
  }
  return FakeLog({lines}, finite);
}

std::int64_t count_of(const Story& story, const std::string& event) {
  return std::count(story.begin(), story.end(), event);
}

// A source chained to a storyteller, and a reader behind the network.
class Tasks120 : public testing::Test {
 protected:
  explicit Tasks120(FakeLog log = lines_of_2_ms(100, false))
      : world_(network()), log_(std::move(log)), tasks_(log_, true) {
    tasks_.config.generation = Generation::kFlink120;
    tasks_.config.checkpointing_enabled = true;
    tasks_.config.max_concurrent_checkpoints = 2;
    tasks_.config.segment_bytes = 32;
    tasks_.config.inline_threshold_bytes = 0;  // all state goes to the store
    world_.slice_length = Duration::millis(1);
  }
  static NetworkConfig network() {
    NetworkConfig config;
    config.segment_bytes = 32;
    config.semantics = &network_semantics_120();
    return config;
  }
  void start() {
    source_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0));
    reader_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(1));
    source_->task().invoke();
    reader_->task().invoke();
  }
  void complete(CheckpointId id) {
    source_->task().notify_checkpoint_complete(id);
    reader_->task().notify_checkpoint_complete(id);
  }
  TaskWorld world_;
  FakeLog log_;
  TwoTasks tasks_;
  std::unique_ptr<HostedTask> source_;
  std::unique_ptr<HostedTask> reader_;
};

class Finite120 : public Tasks120 {
 protected:
  Finite120() : Tasks120(lines_of_2_ms(4, true)) {}
};

TEST_F(Finite120, AFinishedTaskStaysForItsFinalCheckpoint) {
  start();
  world_.run_until_ms(500);
  EXPECT_TRUE(source_->ended_data.has_value());
  EXPECT_TRUE(reader_->ended_data.has_value());
  EXPECT_FALSE(source_->finished.has_value());
  EXPECT_FALSE(reader_->finished.has_value());
  EXPECT_EQ((Story{tasks_.downstream.end() - 2, tasks_.downstream.end()}),
            (Story{"endInput", "finish"}));

  source_->trigger(7);
  world_.run_until_ms(600);
  EXPECT_EQ(source_->acknowledged, std::vector<CheckpointId>{7});
  EXPECT_EQ(reader_->acknowledged, std::vector<CheckpointId>{7});
  EXPECT_FALSE(source_->finished.has_value());

  complete(7);
  world_.run_until_ms(700);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_EQ((Story{tasks_.downstream.end() - 5, tasks_.downstream.end()}),
            (Story{"endInput", "finish", "snapshot 7", "complete 7", "close"}));
}

TEST_F(Finite120, ACheckpointFromBeforeTheEndOfDataIsNotTheFinalOne) {
  start();
  source_->trigger(6);
  world_.run_until_ms(500);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{6});
  complete(6);
  world_.run_until_ms(600);
  EXPECT_FALSE(source_->finished.has_value());
  EXPECT_FALSE(reader_->finished.has_value());
  source_->trigger(7);
  world_.run_until_ms(700);
  complete(7);
  world_.run_until_ms(800);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
}

TEST_F(Finite120, ANoticeOfALaterCheckpointWillDo) {  // id >= minimum
  start();
  world_.run_until_ms(500);
  source_->trigger(7);
  source_->trigger(8);
  world_.run_until_ms(600);
  complete(8);
  world_.run_until_ms(700);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_EQ(count_of(tasks_.downstream, "complete 7"), 0);
}

TEST_F(Finite120, WithoutCheckpointsNothingIsWaitedFor) {
  tasks_.config.checkpointing_enabled = false;
  start();
  world_.run_until_ms(500);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
}

TEST_F(Finite120, CancelledWhileItWaitsATaskStops) {
  start();
  world_.run_until_ms(500);
  reader_->task().cancel();
  world_.run_until_ms(501);
  EXPECT_TRUE(reader_->stopped.has_value());
  EXPECT_FALSE(reader_->finished.has_value());
  EXPECT_EQ(tasks_.downstream.back(), "close");
}

TEST_F(Finite120, ATaskWhoseDataHaveNotArrivedDownstreamStays) {
  // There is no reader, so nobody says that the records were processed.
  source_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0));
  source_->task().invoke();
  world_.run_until_ms(100);
  source_->trigger(1);
  world_.run_until_ms(200);
  ASSERT_EQ(source_->acknowledged, std::vector<CheckpointId>{1});
  source_->task().notify_checkpoint_complete(1);
  world_.run_until_ms(300);
  EXPECT_FALSE(source_->finished.has_value());
  reader_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(1));
  reader_->task().invoke();
  world_.run_until_ms(500);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_FALSE(reader_->finished.has_value());  // it has had no final checkpoint
}

TEST_F(Finite120, TheCoordinatorTriggersAReaderBehindAFinishedTask) {  // 5.3
  start();
  world_.run_until_ms(500);
  reader_->trigger(3);  // its input has not ended: the barrier is injected into the channel
  world_.run_until_ms(600);
  EXPECT_EQ(reader_->acknowledged, std::vector<CheckpointId>{3});
  EXPECT_TRUE(source_->acknowledged.empty());
}

TEST_F(Tasks120, AnAbortedCheckpointIsCancelledDownstream) {  // 0b
  start();
  world_.run_until_ms(20);
  source_->task().notify_checkpoint_aborted(5, 0);
  source_->trigger(5);
  world_.run_until_ms(500);
  EXPECT_EQ(count_of(tasks_.upstream, "abort 5"), 1);
  EXPECT_EQ(count_of(tasks_.upstream, "snapshot 5"), 0);
  EXPECT_TRUE(source_->declined.empty());
  ASSERT_EQ(reader_->declined.size(), 1u);
  EXPECT_EQ(reader_->declined[0].second,
            CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
}

TEST_F(Tasks120, AsynchronousPartsRunOneAfterAnother) {
  start();
  world_.run_until_ms(500);
  source_->trigger(1);
  source_->trigger(2);
  // Both snapshots are taken at once, each writes two streams of 1 ms.
  world_.run_until_ms(502);
  EXPECT_EQ(source_->acknowledged, std::vector<CheckpointId>{1});
  world_.run_until_ms(504);
  EXPECT_EQ(source_->acknowledged, (std::vector<CheckpointId>{1, 2}));
}

TEST_F(Tasks120, AnAbortDuringTheAsynchronousPartComesTooLate) {  // C-92 with one worker
  start();
  world_.run_until_ms(500);
  source_->trigger(1);
  world_.run_until_ms(500);
  source_->task().notify_checkpoint_aborted(1, 0);
  world_.run_until_ms(510);
  EXPECT_EQ(source_->acknowledged, std::vector<CheckpointId>{1});
  EXPECT_TRUE(source_->incomplete.empty());
}

TEST_F(Tasks120, AnAbortOfAPartThatWaitsDiscardsNothingBeforeItsTurn) {
  start();
  world_.run_until_ms(500);
  source_->trigger(1);
  source_->trigger(2);
  world_.run_until_ms(500);
  source_->task().notify_checkpoint_aborted(2, 0);
  world_.run_until_ms(600);
  // The close has queued behind the part that it was to close.
  EXPECT_EQ(source_->acknowledged, (std::vector<CheckpointId>{1, 2}));
}

TEST_F(Tasks120, CancellingReportsWhatItDiscards) {
  start();
  world_.run_until_ms(500);
  source_->trigger(1);
  world_.run_until_ms(500);
  source_->task().cancel();
  world_.run_until_ms(600);
  EXPECT_EQ(source_->incomplete, std::vector<CheckpointId>{1});
  EXPECT_TRUE(source_->acknowledged.empty());
  EXPECT_TRUE(source_->declined.empty());
}

TEST_F(Tasks120, HandlesSayHowMetadataNamesThem) {  // spec state.md 6.1
  tasks_.keyed_reader = true;
  start();
  world_.run_until_ms(50);
  for (const CheckpointType type : {CheckpointType::CHECKPOINT, CheckpointType::SAVEPOINT}) {
    const CheckpointId id = type == CheckpointType::CHECKPOINT ? 1 : 2;
    source_->trigger(id, type);
    world_.run_until_ms(id * 300);
    ASSERT_EQ(reader_->acknowledged.back(), id);
    const OperatorSubtaskState& state = reader_->last_state->operators.begin()->second;
    const auto& handle = dynamic_cast<const KeyGroupsStateHandle&>(*state.managed_keyed.front());
    // Savepoints are canonical unless the user says otherwise.
    EXPECT_EQ(handle.format(), type == CheckpointType::CHECKPOINT ? KeyGroupsFormat::BACKEND
                                                                  : KeyGroupsFormat::SAVEPOINT);
    for (const auto& stream : {handle.stream(), state.managed_operator.front().delegate}) {
      const auto& file = std::get<FileStateHandle>(*stream);
      EXPECT_FALSE(file.relative_path.empty());
      EXPECT_TRUE(file.path.ends_with('/' + file.relative_path)) << file.path;
    }
  }
}

TEST_F(Tasks120, AFailedAsynchronousPartDeclines) {
  start();
  world_.run_until_ms(500);
  world_.store_works = false;
  source_->trigger(1);
  world_.run_until_ms(600);
  ASSERT_EQ(source_->declined.size(), 1u);
  EXPECT_EQ(source_->declined[0].second, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
  EXPECT_TRUE(source_->failure.empty());
}

class StopWithSavepoint120 : public Tasks120 {
 protected:
  void stop(CheckpointType type) {
    start();
    world_.run_until_ms(31);
    source_->trigger(1);  // before the stop, so it is taken before it
    source_->trigger(2, type);
    world_.run_until_ms(1000);
    EXPECT_EQ(source_->acknowledged, (std::vector<CheckpointId>{1, 2}));
    EXPECT_EQ(reader_->acknowledged, (std::vector<CheckpointId>{1, 2}));
    EXPECT_FALSE(source_->finished.has_value());
    EXPECT_FALSE(reader_->finished.has_value());
    EXPECT_LT(source_->task().records_in(), 100);  // no record behind the savepoint
    EXPECT_EQ(source_->task().records_in(), reader_->task().records_in());
    complete(1);
    world_.run_until_ms(1100);
    EXPECT_FALSE(source_->finished.has_value());
    EXPECT_FALSE(reader_->finished.has_value());
  }
};

TEST_F(StopWithSavepoint120, DrainingTheOperatorsFinish) {
  stop(CheckpointType::SAVEPOINT_TERMINATE);
  EXPECT_TRUE(source_->ended_data.has_value());
  EXPECT_TRUE(reader_->ended_data.has_value());
  complete(2);
  world_.run_until_ms(1200);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_EQ((Story{tasks_.downstream.end() - 6, tasks_.downstream.end()}),
            (Story{"endInput", "finish", "snapshot 2", "complete 1", "complete 2", "close"}));
}

TEST_F(StopWithSavepoint120, SuspendingTheyDoNot) {
  stop(CheckpointType::SAVEPOINT_SUSPEND);
  EXPECT_TRUE(source_->ended_data.has_value());
  EXPECT_FALSE(reader_->ended_data.has_value());
  complete(2);
  world_.run_until_ms(1200);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_EQ(count_of(tasks_.downstream, "finish"), 0);
  EXPECT_EQ(count_of(tasks_.upstream, "endInput"), 0);
}

TEST_F(StopWithSavepoint120, AbortedItFailsTheTask) {
  stop(CheckpointType::SAVEPOINT_SUSPEND);
  source_->task().notify_checkpoint_aborted(2, 1);
  world_.run_until_ms(1200);
  EXPECT_EQ(source_->failure, "Stop-with-savepoint failed.");
  EXPECT_EQ(count_of(tasks_.upstream, "abort 2"), 0);  // the operators are not told
}

TEST_F(Finite120, RestoredAsFinishedATaskCallsNoOperatorAndStaysForItsFinalCheckpoint) {
  auto restore = std::make_shared<JobManagerTaskRestore>();
  restore->restore_checkpoint_id = 4;
  restore->snapshot.is_task_deployed_as_finished = true;
  const auto restored = [&](std::int32_t vertex) {
    auto descriptor = std::make_shared<TaskDeploymentDescriptor>(*tasks_.descriptor(vertex));
    descriptor->restore = restore;
    return descriptor;
  };
  source_ = std::make_unique<HostedTask>(world_, restored(0));
  reader_ = std::make_unique<HostedTask>(world_, restored(1));
  source_->task().invoke();
  reader_->task().invoke();
  world_.run_until_ms(100);
  source_->trigger(5);
  world_.run_until_ms(200);
  EXPECT_EQ(reader_->acknowledged, std::vector<CheckpointId>{5});
  complete(5);
  world_.run_until_ms(300);
  EXPECT_TRUE(source_->finished.has_value());
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_TRUE(tasks_.upstream.empty());
  EXPECT_TRUE(tasks_.downstream.empty());
}

}  // namespace
}  // namespace tailrace::engine
