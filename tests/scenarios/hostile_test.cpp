// Odd but valid scenarios: whatever the world does to a job, it says what the job promises.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/run_command.hpp"
#include "scenarios/scenario_file.hpp"

namespace tailrace::scenarios {
namespace {

const std::string kFolder = TAILRACE_HOSTILE;

std::vector<std::string> hostile_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Runs and judges; what did not hold, a line each.
std::string broken_promises(const Scenario& scenario) {
  RunOutcome outcome = run_scenario(scenario, {});
  static_cast<void>(judge(scenario, outcome));
  std::string broken;
  for (const analysis::ExpectationResult& row : outcome.result.expectations) {
    if (!row.held) broken += row.text + " (" + row.value + ")\n";
  }
  return broken;
}

class Hostile : public testing::TestWithParam<std::string> {};

TEST_P(Hostile, ScenarioHolds) {
  const Scenario scenario = load_scenario(kFolder + '/' + GetParam() + ".yaml", {});
  ASSERT_FALSE(scenario.expectations.empty());
  EXPECT_EQ(broken_promises(scenario), "");
}

TEST_P(Hostile, ScenarioRunsTheSameTwiceInOneProcess) {
  const Scenario scenario = load_scenario(kFolder + '/' + GetParam() + ".yaml", {});
  EXPECT_EQ(run_scenario(scenario, {}).result.trace_hash,
            run_scenario(scenario, {}).result.trace_hash);
}

INSTANTIATE_TEST_SUITE_P(All, Hostile, testing::ValuesIn(hostile_names()),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

struct Moment {
  CheckpointMoment moment;
  std::int32_t acknowledged;
};

// Every moment of a checkpoint at which somebody may die; six subtasks acknowledge.
std::vector<Moment> every_moment() {
  std::vector<Moment> moments = {{CheckpointMoment::kTriggered, 0},
                                 {CheckpointMoment::kCompleted, 0}};
  for (std::int32_t n = 1; n <= 6; ++n) moments.push_back({CheckpointMoment::kAcknowledged, n});
  return moments;
}

// The scenario with its only crash moved to that moment of that checkpoint and to that machine.
Scenario with_crash(const std::string& name, engine::CheckpointId checkpoint, const Moment& moment,
                    ActionKind action, std::int32_t task_manager) {
  Scenario scenario = load_scenario(kFolder + '/' + name + ".yaml", {});
  for (TimelineEntry& entry : scenario.timeline) {
    if (entry.action != ActionKind::kKill) continue;
    entry.action = action;
    entry.anchor.checkpoint = checkpoint;
    entry.anchor.moment = moment.moment;
    entry.anchor.acknowledged = moment.acknowledged;
    entry.task_manager->running.reset();
    entry.task_manager->index = task_manager;
    entry.optional = true;
  }
  // How often it restarts depends on what the dead machine did.
  std::erase_if(scenario.expectations, [](const ScenarioExpectation& line) {
    return line.expectation.text.starts_with("restarts");
  });
  return scenario;
}

// Checkpoint 3 is a periodic one, 4 the savepoint of the rescale, the last one that of the end.
class EveryMoment : public testing::TestWithParam<engine::CheckpointId> {};

TEST_P(EveryMoment, OfACheckpointIsOneAtWhichAnyMachineMayDie) {
  for (const Moment& moment : every_moment()) {
    for (const ActionKind action : {ActionKind::kKill, ActionKind::kVanish}) {
      for (std::int32_t machine = 0; machine < 3; ++machine) {
        SCOPED_TRACE("moment " + std::to_string(static_cast<int>(moment.moment)) + ", " +
                     std::to_string(moment.acknowledged) + " acknowledged, action " +
                     std::to_string(static_cast<int>(action)) + ", task manager " +
                     std::to_string(machine));
        EXPECT_EQ(broken_promises(with_crash("crash-after-rescale-savepoint", GetParam(), moment,
                                             action, machine)),
                  "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, EveryMoment, testing::Values(2, 3, 4, 5, 7, 8));

}  // namespace
}  // namespace tailrace::scenarios
