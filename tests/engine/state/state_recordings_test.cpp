// Recordings of Flink 1.10's state backends as far as the state kinds exist: zero differences. Files
// that are read to the end are replayed in tests/golden.
#include "tests/engine/state/state_recordings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace tailrace::engine::test {
namespace {

// Where a recording lies: below $TAILRACE_SHARED (default ../shared), else in tests/data.
std::optional<std::filesystem::path> find_recording(const std::string& path_below_golden) {
  const char* variable = std::getenv("TAILRACE_SHARED");
  const std::filesystem::path source(TAILRACE_SOURCE_DIR);
  const std::filesystem::path shared =
      variable != nullptr ? std::filesystem::path(variable) : source / "../shared";
  for (const auto& root : {shared, source / "tests/data"}) {
    const auto path = root / "golden" / path_below_golden;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

struct ReplayCount {
  int replayed = 0;
  int passed_over = 0;
  int differences = 0;
  std::string first_difference;
};
ReplayCount replay_all(const std::filesystem::path& file,
                       const std::function<bool(const Json&)>& replay) {
  ReplayCount count;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json test_case = Json::parse(line);
    if (test_case.contains("meta")) continue;
    try {
      ++(replay(test_case) ? count.replayed : count.passed_over);
    } catch (const std::exception& error) {
      if (count.differences++ == 0) count.first_difference = error.what();
    }
  }
  return count;
}

ReplayCount replay_file(const std::string& path, const std::function<bool(const Json&)>& replay) {
  const auto file = find_recording(path);
  if (!file.has_value()) return {};
  return replay_all(*file, replay);
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
