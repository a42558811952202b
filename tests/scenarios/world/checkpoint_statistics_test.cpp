// What a run tells of its checkpoints in Flink's words is what its own rows tell.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/world/scenario_run.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

using analysis::CheckpointRow;
using analysis::CheckpointStatistics;
using analysis::CheckpointStatus;

void expect_same(const CheckpointRow& row, const CheckpointStatistics& statistics) {
  EXPECT_EQ(statistics.id, row.id);
  EXPECT_EQ(statistics.is_savepoint, row.savepoint);
  EXPECT_EQ(statistics.num_subtasks, row.subtasks);
  EXPECT_EQ(statistics.num_acknowledged_subtasks, row.acknowledged);
  EXPECT_EQ(statistics.status == "COMPLETED", row.status == CheckpointStatus::kCompleted);
  EXPECT_EQ(statistics.failure_reason, row.failure);
  if (row.status == CheckpointStatus::kCompleted) {
    EXPECT_EQ(statistics.state_size, row.state_bytes);
    // It ends with its last acknowledgement, before the metadata is written.
    EXPECT_LE(statistics.end_to_end_duration, row.duration->millis_truncated());
  }
  std::int64_t state_size = 0;
  std::int32_t acknowledged = 0;
  for (const analysis::TaskStatistics& task : statistics.tasks) {
    for (const analysis::SubtaskStatistics& subtask : task.subtasks) {
      state_size += subtask.state_size;
      acknowledged += subtask.reported ? 1 : 0;
    }
  }
  EXPECT_EQ(state_size, statistics.state_size);
  EXPECT_EQ(acknowledged, statistics.num_acknowledged_subtasks);
}

class CheckpointStatisticsOf : public testing::TestWithParam<const char*> {};

TEST_P(CheckpointStatisticsOf, ARunAgreeWithItsRows) {
  const analysis::RunResult result = run(library_scenario(GetParam(), {})).result;
  ASSERT_FALSE(result.checkpoints.empty());
  ASSERT_EQ(result.checkpoint_history.size(), result.checkpoints.size());
  for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
    expect_same(result.checkpoints[i], result.checkpoint_history[i]);
  }
  // Flink's are of the last coordinator alone.
  const analysis::CheckpointingStatistics& last = result.checkpointing;
  EXPECT_GT(last.total, 0);
  EXPECT_LE(last.total, static_cast<std::int64_t>(result.checkpoints.size()));
  EXPECT_EQ(last.total, last.completed + last.failed + last.in_progress);
  EXPECT_EQ(last.history.front(), result.checkpoints.back().id);
  EXPECT_LE(last.history.size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(Library, CheckpointStatisticsOf,
                         testing::Values("wordcount", "timeouts-in-a-row",
                                         "wordcount-crash-rescale", "late-acknowledgement"));

}  // namespace
}  // namespace tailrace::scenarios
