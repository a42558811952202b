// Rows C-91 to C-102 of the coordinator's specification, each by its name, as real Flink did them.
#include "tests/golden/task_rows.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::golden {
namespace {

std::filesystem::path recordings() {
  const char* shared = std::getenv("TAILRACE_SHARED");
  const std::filesystem::path root = shared != nullptr ? std::filesystem::path(shared) / "golden"
                                                       : TAILRACE_SOURCE_DIR "/tests/data/golden";
  return root / "rows_coordinator";
}

std::vector<Json> rows() {
  std::vector<Json> rows;
  for (const char* file : {"rows_10_7_f110.jsonl", "rows_10_7_f120.jsonl"}) {
    std::ifstream in(recordings() / file);
    for (std::string text; std::getline(in, text);) {
      Json line = Json::parse(text);
      if (!line.contains("meta") && is_task_row(line)) rows.push_back(std::move(line));
    }
  }
  return rows;
}

std::string name_of(const testing::TestParamInfo<Json>& info) {
  std::string name = info.param.at("row").get<std::string>() + "_" +
                     info.param.at("flink").get<std::string>() + "_" +
                     info.param.at("variant").get<std::string>();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class TaskRow : public testing::TestWithParam<Json> {};

TEST_P(TaskRow, DoesWhatFlinkDid) {
  EXPECT_NO_THROW(replay_task_row(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(TableTenSeven, TaskRow, testing::ValuesIn(rows()), name_of);

}  // namespace
}  // namespace tailrace::golden
