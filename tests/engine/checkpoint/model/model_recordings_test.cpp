// The models must state the rules: they replay what real Flink did before anything is held to them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/coordinator_replay_120.hpp"
#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

using Make = std::unique_ptr<NaiveCoordinator> (*)(const Json&, NaiveCoordinator::Draw);

// Whether the model is to know what a line asks for.
using Wanted = bool (*)(const Json& line);

void replay_all(const std::string& name, Make make, Wanted wanted) {
  const std::filesystem::path file = find_recording("golden/" + name);
  ASSERT_FALSE(file.empty()) << "no recording " << name;
  int cases = 0;
  int different = 0;
  for_each_case(file, [&](const Json& line) {
    if (!wanted(line)) return;
    ++cases;
    const std::string difference = replay_on_model(line, make);
    if (difference.empty()) return;
    if (++different <= 5) {
      ADD_FAILURE() << "case " << line.value("id", Json()) << line.value("row", Json())
                    << line.value("variant", Json()) << ": " << difference;
    }
  });
  testing::Test::RecordProperty("cases", cases);
  EXPECT_GT(cases, 0);
  EXPECT_EQ(different, 0) << "of " << cases;
}

bool every_line(const Json&) {
  return true;
}

TEST(NaiveCoordinatorRecordings, TheModelOf110DoesWhatFlinkDid) {
  replay_all("coordinator/coordinator_f110.jsonl", &make_naive_coordinator_110, &every_line);
}

TEST(NaiveCoordinatorRecordings, TheModelOf120DoesWhatFlinkDid) {
  replay_all("coordinator/coordinator.jsonl", &make_naive_coordinator_120, &every_line);
}

class NaiveCoordinatorRows : public testing::TestWithParam<int> {};

TEST_P(NaiveCoordinatorRows, TheModelOf120DoesWhatFlinkDid) {
  replay_all("rows_coordinator/rows_10_" + std::to_string(GetParam()) + "_f120.jsonl",
             &make_naive_coordinator_120, &is_coordinator_script_120);
}

// The tables with scripts of a coordinator.
INSTANTIATE_TEST_SUITE_P(Table, NaiveCoordinatorRows, testing::Values(1, 2, 3, 4, 5, 6, 8));

}  // namespace
}  // namespace tailrace::engine::test
