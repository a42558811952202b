// The conformance rows of the barriers' and the network's specification, each by its name and
// generation, as real Flink did them; and whether there is one for every row that it states.
//
// Whatever table has a replayer is run; a table whose rows all have one is listed in kWholeTables.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/conformance_table.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/recording.hpp"

namespace tailrace::golden {
namespace {

namespace fs = std::filesystem;

// By their letters.
constexpr std::string_view kWholeTables = "ABCDEFGHIJKL";

// Null: there is none.
const char* shared_folder() {
  const char* shared = std::getenv("TAILRACE_SHARED");
  return shared == nullptr || *shared == '\0' ? nullptr : shared;
}

fs::path golden_folder() {
  const char* shared = shared_folder();
  return (shared != nullptr ? fs::path(shared) : fs::path(TAILRACE_SOURCE_DIR "/tests/data")) /
         "golden";
}

struct Row {
  std::string table;  // as in the name of its file, e.g. "K" or "I_f110"
  Json line;

  [[nodiscard]] std::string id() const { return line.at("id").get<std::string>(); }
};

std::vector<Row> all_rows() {
  constexpr std::string_view kPrefix = "rows_barriers/barriers_rows_";
  constexpr std::string_view kSuffix = ".jsonl";
  std::vector<Row> rows;
  for (const std::string& path : list_recordings(golden_folder())) {
    if (!path.starts_with(kPrefix) || make_replayer(path) == nullptr) continue;
    const std::string table =
        path.substr(kPrefix.size(), path.size() - kPrefix.size() - kSuffix.size());
    std::ifstream in(golden_folder() / path);
    for (std::string text; std::getline(in, text);) {
      Json line = Json::parse(text);
      if (!line.contains("meta")) rows.push_back({table, std::move(line)});
    }
  }
  return rows;
}

// "K4.bytes" of K becomes "K4_bytes", "J1" of J_f110 becomes "J1_f110".
std::string test_name(const Row& row) {
  std::string name = row.id() + row.table.substr(1);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.id() << " of table " << row.table;
}

class BarriersRow : public testing::TestWithParam<Row> {};

TEST_P(BarriersRow, Replays) {
  const std::unique_ptr<Replayer> replayer =
      make_replayer("rows_barriers/barriers_rows_" + GetParam().table + ".jsonl");
  ASSERT_NE(replayer, nullptr);
  EXPECT_NO_THROW(replayer->replay(GetParam().line));
}

INSTANTIATE_TEST_SUITE_P(RowsBarriers, BarriersRow, testing::ValuesIn(all_rows()),
                         [](const auto& row) { return test_name(row.param); });

// The part before the dot names the row; what follows, a part of it or a further case.
TEST(BarriersRows, EveryRowOfAWholeTableHasATest) {
  const char* shared = shared_folder();
  if (shared == nullptr) GTEST_SKIP() << "the specification is not at hand";
  std::ifstream specification(fs::path(shared) / "spec" / "barriers.md");
  ASSERT_TRUE(specification.good());
  const std::set<std::string> stated = read_row_ids(specification, 10);
  EXPECT_GE(stated.size(), 240U);

  std::set<std::string> tested;
  for (const Row& row : all_rows()) {
    const std::string id = row.id();
    tested.insert(id.substr(0, id.find('.')));
  }
  std::ostringstream missing;
  for (const std::string& id : stated) {
    if (kWholeTables.find(id.front()) != std::string_view::npos && !tested.contains(id)) {
      missing << ' ' << id;
    }
  }
  EXPECT_EQ(missing.str(), "");
  RecordProperty("rows", static_cast<int>(stated.size()));
}

TEST(RowIds, AreReadSectionBySection) {
  std::istringstream text(
      "## 9. Other\n| A9 | 1 |\n"
      "## 10. Conformance cases\n| id | case |\n| --- | --- |\n| A1 | 1 |\n| D1, D2 | 1, 4 |\n"
      "### 10.3 More\n| J30a | x | A7 |\nA8 is not in a table\n| parameter | A6 |\n"
      "## 11. Rest\n| A5 | 1 |\n");
  EXPECT_EQ(read_row_ids(text, 10), (std::set<std::string>{"A1", "D1", "D2", "J30a"}));
}

}  // namespace
}  // namespace tailrace::golden
