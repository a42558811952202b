// The conformance cases of the coordinator's specification, each by its name and generation, as real
// Flink did them; and whether there is one for every case that the specification states.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/conformance_table.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

namespace fs = std::filesystem;

// Null: there is none.
const char* shared_folder() {
  const char* shared = std::getenv("TAILRACE_SHARED");
  return shared == nullptr || *shared == '\0' ? nullptr : shared;
}

fs::path rows_folder() {
  const char* shared = shared_folder();
  return (shared != nullptr ? fs::path(shared) : fs::path(TAILRACE_SOURCE_DIR "/tests/data")) /
         "golden" / "rows_coordinator";
}

struct Row {
  ConformanceCase named;
  std::string file;
  std::vector<Json> variants;
};

// All rows of all tables.
std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const char* generation : {"f110", "f120"}) {
    std::map<std::string, Row> by_id;
    for (int table = 1; table <= 8; ++table) {
      const std::string file =
          "rows_10_" + std::to_string(table) + "_" + generation + std::string(".jsonl");
      std::ifstream in(rows_folder() / file);
      for (std::string text; std::getline(in, text);) {
        Json line = Json::parse(text);
        if (line.contains("meta")) continue;
        const std::string id = line.at("row");
        Row& row = by_id[id];
        row.named = {id, generation};
        row.file = file;
        row.variants.push_back(std::move(line));
      }
    }
    for (auto& [id, row] : by_id) rows.push_back(std::move(row));
  }
  return rows;
}

std::unique_ptr<Replayer> replayer_of(const std::string& file) {
  return make_replayer("rows_coordinator/" + file);
}

std::string test_name(const ConformanceCase& named) {
  std::string name = named.id + "_" + named.generation;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::string list_of(const std::set<ConformanceCase>& cases) {
  std::ostringstream text;
  for (const ConformanceCase& one : cases) text << ' ' << one.id << '(' << one.generation << ')';
  return text.str();
}

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.named.id << " of " << row.file;
}

class CoordinatorRow : public testing::TestWithParam<Row> {};

TEST_P(CoordinatorRow, Replays) {
  const Row& row = GetParam();
  const std::unique_ptr<Replayer> replayer = replayer_of(row.file);
  ASSERT_NE(replayer, nullptr) << "nobody replays " << row.file;
  for (const Json& variant : row.variants) {
    SCOPED_TRACE("variant '" + variant.value("variant", "") + "'");
    EXPECT_NO_THROW(replayer->replay(variant));
  }
}

INSTANTIATE_TEST_SUITE_P(RowsCoordinator, CoordinatorRow, testing::ValuesIn(all_rows()),
                         [](const auto& row) { return test_name(row.param.named); });

TEST(CoordinatorRows, EveryCaseOfTheSpecificationHasATest) {
  const char* shared = shared_folder();
  if (shared == nullptr) GTEST_SKIP() << "the specification is not at hand";
  std::ifstream specification(fs::path(shared) / "spec" / "coordinator.md");
  ASSERT_TRUE(specification.good());
  const std::set<ConformanceCase> stated = read_conformance_tables(specification, 10);
  EXPECT_GE(stated.size(), 150U);

  std::set<ConformanceCase> missing = stated;
  for (const Row& row : all_rows()) missing.erase(row.named);
  EXPECT_TRUE(missing.empty()) << "cases without a row:" << list_of(missing);
  RecordProperty("cases", static_cast<int>(stated.size()));
}

TEST(ConformanceTables, AreReadSectionBySection) {
  std::istringstream text(
      "## 9. Other\n| C-98 | 10 | a |\n"
      "## 10. Cases\n| Id | V | Given |\n|---|---|---|\n"
      "| C-01 | 10 | a |\n| C-02 † | both | b |\n### 10.2 More\n| C-103b † | 20 | c |\n"
      "| C-04 | both | (U) d |\n"
      "## 11. Rest\n| C-99 | both | e |\n");
  const std::set<ConformanceCase> expected = {
      {"C-01", "f110"}, {"C-02", "f110"}, {"C-02", "f120"}, {"C-103b", "f120"}};
  EXPECT_EQ(read_conformance_tables(text, 10), expected);
}

TEST(ConformanceTables, RefuseARowThatTheyDoNotUnderstand) {
  std::istringstream text("## 10. Cases\n| C-01 | 15 | a |\n");
  EXPECT_THROW(read_conformance_tables(text, 10), std::runtime_error);
}

}  // namespace
}  // namespace tailrace::golden
