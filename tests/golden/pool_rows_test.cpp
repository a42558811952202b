// The rows of table 10.11 that are about buffer pools, each by its name, as real Flink did them.
#include "tests/golden/pool_rows.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::golden {
namespace {

struct PoolRow {
  Json line;
  std::string name;
  const engine::NetworkSemantics* semantics;
};

std::filesystem::path recordings() {
  const char* shared = std::getenv("TAILRACE_SHARED");
  const std::filesystem::path root = shared != nullptr ? std::filesystem::path(shared) / "golden"
                                                       : TAILRACE_SOURCE_DIR "/tests/data/golden";
  return root / "rows_barriers";
}

std::vector<PoolRow> rows() {
  std::vector<PoolRow> rows;
  for (const char* generation : {"f110", "f120"}) {
    const bool is_120 = std::string(generation) == "f120";
    std::ifstream in(recordings() / ("barriers_rows_J_" + std::string(generation) + ".jsonl"));
    for (std::string text; std::getline(in, text);) {
      Json line = Json::parse(text);
      if (!is_pool_row(line)) continue;
      std::string name = line.at("id").get<std::string>() + "_" + generation;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      rows.push_back(
          {std::move(line), std::move(name),
           is_120 ? &engine::network_semantics_120() : &engine::network_semantics_110()});
    }
  }
  return rows;
}

class PoolRowTest : public testing::TestWithParam<PoolRow> {};

TEST_P(PoolRowTest, DoesWhatFlinkDid) {
  EXPECT_NO_THROW(replay_pool_row(GetParam().line, *GetParam().semantics));
}

INSTANTIATE_TEST_SUITE_P(TableTenEleven, PoolRowTest, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

TEST(PoolRows, NoneOfTheTableIsMissing) {
  std::set<std::string> ids;
  for (const PoolRow& row : rows()) {
    if (row.name.ends_with("_f120")) ids.insert(row.line.at("id").get<std::string>());
  }
  for (const char* id : {"J26", "J27", "J28", "J29", "J30", "J31", "J32"}) {
    EXPECT_TRUE(ids.contains(id)) << id;
  }
}

}  // namespace
}  // namespace tailrace::golden
