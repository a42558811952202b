// The models must state the rules: they replay what real Flink did before anything is held to them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

void replay_all(const std::string& name,
                std::unique_ptr<NaiveCoordinator> (*make)(const Json&, NaiveCoordinator::Draw)) {
  const std::filesystem::path file = find_recording("golden/coordinator/" + name);
  ASSERT_FALSE(file.empty()) << "no recording " << name;
  int cases = 0;
  int different = 0;
  for_each_case(file, [&](const Json& line) {
    ++cases;
    const std::string difference = replay_on_model(line, make);
    if (difference.empty()) return;
    if (++different <= 5) ADD_FAILURE() << "case " << line.at("id") << ": " << difference;
  });
  testing::Test::RecordProperty("cases", cases);
  EXPECT_GT(cases, 0);
  EXPECT_EQ(different, 0) << "of " << cases;
}

TEST(NaiveCoordinatorRecordings, TheModelOf110DoesWhatFlinkDid) {
  replay_all("coordinator_f110.jsonl", &make_naive_coordinator_110);
}

}  // namespace
}  // namespace tailrace::engine::test
