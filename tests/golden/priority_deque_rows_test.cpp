// Rows L14 to L16, each by its name, as real Flink did them.
#include "tests/golden/priority_deque_rows.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace tailrace::golden {
namespace {

namespace fs = std::filesystem;

Json row_of(const std::string& id) {
  const char* shared = std::getenv("TAILRACE_SHARED");
  const fs::path folder = shared != nullptr && *shared != '\0'
                              ? fs::path(shared)
                              : fs::path(TAILRACE_SOURCE_DIR "/tests/data");
  std::ifstream in(folder / "golden" / "rows_barriers" / "barriers_rows_L.jsonl");
  for (std::string text; std::getline(in, text);) {
    Json line = Json::parse(text);
    if (!line.contains("meta") && line.at("id") == id) return line;
  }
  return {};
}

class PriorityDequeRow : public testing::TestWithParam<const char*> {};

TEST_P(PriorityDequeRow, Replays) {
  const Json line = row_of(GetParam());
  if (line.is_null()) GTEST_SKIP() << "the recording does not have the row";
  EXPECT_NO_THROW(replay_priority_deque_row(line));
}

INSTANTIATE_TEST_SUITE_P(RowsBarriers, PriorityDequeRow, testing::Values("L14", "L15", "L16"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace tailrace::golden
