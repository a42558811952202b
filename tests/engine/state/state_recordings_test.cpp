// Recordings of Flink 1.10's state backends, replayed: zero differences.
#include "tests/engine/state/state_recordings.hpp"

#include <gtest/gtest.h>

namespace tailrace::engine::test {
namespace {

ReplayCount replay_file(const std::string& path, const std::function<bool(const Json&)>& replay) {
  const auto file = find_recording(path);
  if (!file.has_value()) return {};
  return replay_all(*file, replay);
}

TEST(StateRecordings, CopyOnWriteMapTakesEveryRecordedStep) {
  const ReplayCount count = replay_file("state/cowmap_f110.jsonl", [](const Json& test_case) {
    replay_cow_map(test_case);
    return true;
  });
  if (count.replayed + count.differences == 0) GTEST_SKIP() << "no recording";
  EXPECT_EQ(count.differences, 0) << count.first_difference;
}

TEST(StateRecordings, HeapSnapshotsEqualFlinksByteByByte) {
  const ReplayCount count = replay_file("state/keyed_snapshots_f110.jsonl", replay_keyed_snapshot);
  if (count.replayed + count.differences == 0) GTEST_SKIP() << "no recording";
  EXPECT_EQ(count.differences, 0) << count.first_difference;
  RecordProperty("replayed", count.replayed);
  RecordProperty("passed_over", count.passed_over);
}

TEST(StateRecordings, OperatorSnapshotsEqualFlinksByteByByte) {
  const ReplayCount count =
      replay_file("state/operator_snapshots_f110.jsonl", replay_operator_snapshot);
  if (count.replayed + count.differences == 0) GTEST_SKIP() << "no recording";
  EXPECT_EQ(count.differences, 0) << count.first_difference;
  RecordProperty("replayed", count.replayed);
  RecordProperty("passed_over", count.passed_over);
}

}  // namespace
}  // namespace tailrace::engine::test
