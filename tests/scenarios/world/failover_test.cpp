// The job manager dies, and the job goes on from the newest checkpoint in the store; K4 of
// checkpoint_invariants.hpp watches every one of these runs.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/diagnostics.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr const char* kScenario = "job-manager-failover-during-finalisation";

Scenario failing_over(const std::string& timeline, std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(),
              {"timeline=" + timeline, "expect=[exactly once, progress]", "duration=30s"});
  return library_scenario(kScenario, sets);
}

std::string broken_promises(const Scenario& scenario) {
  RunOutcome outcome = run(scenario);
  return not_held(scenario, outcome);
}

// "checkpoint: 5, triggered" and so on, in the order in which they come.
std::vector<std::string> moments_of(int checkpoint) {
  std::vector<std::string> moments;
  for (const char* moment : {"triggered", "acknowledged: 1", "acknowledged: 2", "acknowledged: 3",
                             "acknowledged: 4", "completed", "storing", "stored"}) {
    moments.push_back("checkpoint: " + std::to_string(checkpoint) + ", " + moment);
  }
  return moments;
}

TEST(Failover, AtEveryMomentOfACheckpointNothingIsLostAndNothingIsTwice) {
  for (const std::string& moment : moments_of(5)) {
    for (const char* how : {"kill", "vanish"}) {
      SCOPED_TRACE(moment + ", " + how);
      EXPECT_EQ(broken_promises(failing_over("[{when: {" + moment + "}, " + how +
                                             ": {job_manager}, back_after: 1s}]")),
                "");
    }
  }
}

TEST(Failover, RestoresTheCheckpointWhoseEntryIsThere) {
  std::vector<std::int64_t> restored;
  for (const std::string& moment : moments_of(5)) {
    const RunOutcome outcome =
        run(failing_over("[{when: {" + moment + "}, kill: {job_manager}, back_after: 1s}]"));
    ASSERT_EQ(outcome.result.restarts.size(), 1U);
    restored.push_back(outcome.result.restarts[0].restored_checkpoint);
  }
  // What was sent arrives, although its sender is dead.
  EXPECT_EQ(restored, (std::vector<std::int64_t>{4, 4, 4, 4, 4, 4, 5, 5}));
}

TEST(Failover, AtEveryMomentOfARestartTheNextLeaderTakesOver) {
  for (int after_ms = 0; after_ms <= 1'300; after_ms += 100) {
    SCOPED_TRACE(after_ms);
    EXPECT_EQ(broken_promises(failing_over("[{at: 8s, fail: {subtask: 'count[0]'}}, {at: " +
                                           std::to_string(8'000 + after_ms) +
                                           "ms, kill: {job_manager}, back_after: 1s}]")),
              "");
  }
}

TEST(Failover, AtEveryMomentOfARescaleTheNextLeaderTakesOver) {
  for (int after_ms = 0; after_ms <= 240; after_ms += 20) {
    SCOPED_TRACE(after_ms);
    const Scenario scenario =
        failing_over("[{at: 8s, rescale: {count: 1}}, {at: " + std::to_string(8'000 + after_ms) +
                     "ms, kill: {job_manager}, back_after: 1s}]");
    EXPECT_EQ(broken_promises(scenario), "");
    EXPECT_EQ(run(scenario).result.rescales.size(), 1U);
  }
}

TEST(Failover, TheStoreComesBeforeTheSavepointThatTheJobWasSubmittedWith) {
  const RunOutcome outcome = run(failing_over(
      "[{at: 8s, rescale: {count: 1}}, {at: 14s, kill: {job_manager}, back_after: 1s}]"));
  ASSERT_EQ(outcome.result.rescales.size(), 1U);
  ASSERT_EQ(outcome.result.restarts.size(), 1U);
  EXPECT_GT(outcome.result.restarts[0].restored_checkpoint, outcome.result.rescales[0].savepoint);
}

TEST(Failover, ManyLeadersInARowNeverUseAnIdTwice) {
  const Scenario scenario =
      failing_over("[{every: 9s, kill: {job_manager}, back_after: 500ms}]", {"duration=60s"});
  ScenarioRun run(scenario, {});
  run.play();
  const RunOutcome outcome = run.collect();
  std::set<std::int64_t> ids;
  for (const analysis::CheckpointRow& row : outcome.result.checkpoints) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
  }
  EXPECT_GE(outcome.result.restarts.size(), 5U);
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost + outcome.result.audit->duplicated, 0);
}

TEST(Failover, WaitsForTheSessionOfTheDead) {
  const auto running_after = [](const std::string& timeout_ms) {
    const RunOutcome outcome = run(
        failing_over("[{at: 5500ms, kill: {job_manager}, back_after: 500ms}]",
                     {"flink.high-availability.zookeeper.client.session-timeout=" + timeout_ms}));
    return (*outcome.result.restarts.at(0).running - outcome.result.restarts.at(0).failed).ns;
  };
  const std::int64_t short_one = running_after("3000");
  const std::int64_t long_one = running_after("9000");
  // The last sign of life is up to a third of the timeout old.
  EXPECT_GE(short_one, Duration::seconds(2).ns);
  EXPECT_LE(short_one, Duration::seconds(4).ns);
  EXPECT_GE(long_one, Duration::seconds(6).ns);
  EXPECT_LE(long_one, Duration::seconds(10).ns);
}

TEST(Failover, TasksFailWhenTheLeadIsLostAndNotBefore) {
  const Scenario scenario = failing_over("[{at: 5500ms, kill: {job_manager}, back_after: 500ms}]");
  ScenarioRun run(scenario, {});
  const auto has_tasks = [&run] {
    const engine::TaskExecutor* executor = run.cluster().task_executor(0);
    return !executor->tasks().empty();
  };
  run.advance(Time{} + Duration::millis(9'000));
  EXPECT_TRUE(has_tasks());  // they run on without anybody in charge
  run.advance(Time{} + Duration::seconds(12));
  EXPECT_EQ(run.cluster().high_availability()->leader()->value, 5U);
}

TEST(Failover, WithoutHighAvailabilityTheJobIsLost) {
  const RunOutcome outcome =
      run(failing_over("[{at: 5s, kill: {job_manager}, back_after: 1s}]",
                       {"flink.high-availability=NONE", "cluster.high_availability=~"}));
  EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kJobFailed);
  EXPECT_TRUE(outcome.result.restarts.empty());
}

// Checkpoint 20 counts as completed, but it is not in the store: what it covers is not committed and
// will be read again.
TEST(Failover, ARunThatIsCutCountsWhatTheStoreHolds) {
  const Scenario scenario =
      failing_over("[{when: {checkpoint: 20, completed}, kill: {job_manager}}]",
                   {"end=cut", "expect=[exactly once]"});
  EXPECT_EQ(broken_promises(scenario), "");
}

TEST(Failover, AStoreThatCannotBeWrittenToKeepsTheNewestEntry) {
  // Neither files of checkpoints nor of entries can be written for a while.
  EXPECT_EQ(broken_promises(failing_over("[{at: 7s, storage: {full: true}, for: 3s}, "
                                         "{at: 8s, kill: {job_manager}, back_after: 1s}]",
                                         {"flink.execution.checkpointing.tolerable-failed-"
                                          "checkpoints=100"})),
            "");
}

std::string refused(const std::vector<std::string>& sets) {
  try {
    static_cast<void>(library_scenario(kScenario, sets));
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "";
}

TEST(FailoverLanguage, SaysWhatNeedsAStore) {
  const std::vector<std::string> none = {"flink.high-availability=NONE",
                                         "cluster.high_availability=~"};
  EXPECT_NE(refused(none).find("need a store that outlives the job manager"), std::string::npos);
  EXPECT_NE(refused({"flink.high-availability=NONE"}).find("flink.high-availability is NONE"),
            std::string::npos);
  EXPECT_NE(refused({"flink.high-availability=kubernetes"}).find("not known to this version"),
            std::string::npos);
  EXPECT_NE(refused({"flink.high-availability=quorum"}).find("none of NONE, zookeeper"),
            std::string::npos);
  EXPECT_NE(refused({"timeline=[{at: 1s, kill: {job_manager, task_manager: 0}}]"})
                .find("the target is a task manager already"),
            std::string::npos);
}

}  // namespace
}  // namespace tailrace::scenarios
