// Rows of the specification that real Flink 1.10 has played, from files of which we cannot play all
// yet; those that are read to the end are replayed in tests/golden.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/coordinator_replay_110.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

std::string name_of(const Json& line) {
  if (line.contains("row")) {
    return line.at("row").get<std::string>() + " " + line.value("variant", "");
  }
  return "case " + line.at("id").dump() + " " + line.value("name", "");
}

void replay_all(const std::string& name, bool (*wanted)(const Json&),
                std::string (*replay)(const Json&)) {
  const std::filesystem::path file = find_recording(name);
  if (file.empty()) GTEST_SKIP() << "no recording " << name;
  int cases = 0;
  int different = 0;
  for_each_case(file, [&](const Json& line) {
    if (!wanted(line)) return;
    ++cases;
    const std::string difference = replay(line);
    if (difference.empty()) return;
    ++different;
    if (different <= 5) ADD_FAILURE() << name_of(line) << ": " << difference;
  });
  testing::Test::RecordProperty("cases", cases);
  EXPECT_GT(cases, 0);
  EXPECT_EQ(different, 0) << "of " << cases;
}

class CoordinatorRows110 : public testing::TestWithParam<const char*> {};

TEST_P(CoordinatorRows110, TheRowsOfTheSpecificationGoAsInFlink) {
  replay_all(GetParam(), &is_coordinator_script, &replay_coordinator_script);
}

INSTANTIATE_TEST_SUITE_P(Tables, CoordinatorRows110,
                         testing::Values("golden/rows_coordinator/rows_10_3_f110.jsonl",
                                         "golden/rows_coordinator/rows_10_5_f110.jsonl"));

TEST(CoordinatorRecordings110, TheRowsOfTheStoreGoAsInFlink) {
  replay_all("golden/rows_coordinator/rows_10_5_f110.jsonl", &is_store_script, &replay_store);
}

}  // namespace
}  // namespace tailrace::engine::test
