// Flow control, channels and gates as real Flink did them: the rows of tables 10.11 and 10.13 by their
// names, and the recordings of connections and gates.
#include "tests/golden/flow_rows.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/recording.hpp"

namespace tailrace::golden {
namespace {

std::filesystem::path recordings() {
  const char* shared = std::getenv("TAILRACE_SHARED");
  return shared != nullptr ? std::filesystem::path(shared) / "golden"
                           : TAILRACE_SOURCE_DIR "/tests/data/golden";
}

struct FlowRow {
  Json line;
  std::string name;
  const engine::NetworkSemantics* semantics;
};

std::vector<FlowRow> rows() {
  std::vector<FlowRow> rows;
  for (const std::string table : {"J_f110", "J_f120", "L"}) {
    std::ifstream in(recordings() / "rows_barriers" / ("barriers_rows_" + table + ".jsonl"));
    for (std::string text; std::getline(in, text);) {
      Json line = Json::parse(text);
      if (!is_flow_row(line) && !is_channel_row(line)) continue;
      const bool is_110 = table == "J_f110";
      std::string name = line.at("id").get<std::string>() + (is_110 ? "_f110" : "_f120");
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      rows.push_back(
          {std::move(line), std::move(name),
           is_110 ? &engine::network_semantics_110() : &engine::network_semantics_120()});
    }
  }
  return rows;
}

class FlowRowTest : public testing::TestWithParam<FlowRow> {};

TEST_P(FlowRowTest, DoesWhatFlinkDid) {
  const FlowRow& row = GetParam();
  if (is_flow_row(row.line)) {
    EXPECT_NO_THROW(replay_flow_row(row.line, *row.semantics));
  } else {
    EXPECT_NO_THROW(replay_channel_row(row.line));
  }
}

INSTANTIATE_TEST_SUITE_P(FlowAndChannels, FlowRowTest, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

TEST(FlowRows, NoneOfTheTablesIsMissing) {
  std::set<std::string> names;
  for (const FlowRow& row : rows()) names.insert(row.name);
  for (int i = 1; i <= 25; ++i) {
    EXPECT_TRUE(names.contains("J" + std::to_string(i) + "_f120")) << i;
  }
  EXPECT_TRUE(names.contains("J_noBuffer_f110"));
  EXPECT_TRUE(names.contains("J14_pileUp_f120"));
  EXPECT_TRUE(names.contains("J_roundRobin_f120"));
  EXPECT_TRUE(names.contains("J33_f120"));
  for (const int i : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20, 21}) {
    EXPECT_TRUE(names.contains("J" + std::to_string(i) + "_f110")) << i;
  }
  for (int i = 1; i <= 16; ++i) {
    EXPECT_TRUE(names.contains("L" + std::to_string(i) + "_f120")) << i;
  }
}

class FlowRecordingTest : public testing::TestWithParam<const char*> {};

TEST_P(FlowRecordingTest, ReplaysWithoutDifference) {
  const FileResult result = replay_file(recordings(), GetParam(), std::cerr);
  EXPECT_TRUE(result.read);
  EXPECT_GT(result.cases, 0U);
  EXPECT_EQ(result.differences, 0U);
  EXPECT_EQ(result.unparsed_lines, 0U);
}

INSTANTIATE_TEST_SUITE_P(Network, FlowRecordingTest,
                         testing::Values("barriers/barriers_f120_aligned.jsonl",
                                         "barriers/barriers_f120_alternating.jsonl",
                                         "barriers/barriers_f120_tracker.jsonl",
                                         "barriers/barriers_f120_unaligned.jsonl",
                                         "network/credits.jsonl", "network/credits_f110.jsonl",
                                         "network/gate.jsonl"));

}  // namespace
}  // namespace tailrace::golden
