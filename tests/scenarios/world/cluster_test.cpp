// What a scenario says of its cluster has effect: who replaces processes, which tasks a failure
// restarts, how many slots there are.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/task/task_executor.hpp"
#include "scenarios/diagnostics.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "sim/base/assert.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

std::vector<std::string> two_machines_one_killed(const std::string& resource_manager) {
  return {"cluster.task_managers.count=2", "cluster.resource_manager=" + resource_manager,
          "timeline=[{at: 5s, kill: {task_manager: 0}}]", "expect=[progress]",
          "flink.slot.request.timeout=20000"};
}

TEST(Cluster, AnActiveResourceManagerStartsAnotherProcess) {
  const RunOutcome outcome = run(library_scenario(
      "wordcount-crash", two_machines_one_killed("{kind: active, notices_after: 1s}")));
  ASSERT_FALSE(outcome.result.restarts.empty());
  EXPECT_TRUE(outcome.result.restarts.back().running.has_value());
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
}

TEST(Cluster, NobodyReplacesAProcessOfAStandaloneCluster) {
  const RunOutcome outcome =
      run(library_scenario("wordcount-crash", two_machines_one_killed("{kind: standalone}")));
  ASSERT_FALSE(outcome.result.restarts.empty());
  EXPECT_FALSE(outcome.result.restarts.back().running.has_value());
}

TEST(Cluster, TheFailoverStrategyDecidesWhichTasksRestart) {
  // Two slices that exchange nothing: two regions.
  const std::vector<std::string> slices = {"job.operators.words.by=forward",
                                           "job.operators.count.kind=map",
                                           "job.operators.count.do=identity",
                                           "job.operators.count.by=forward",
                                           "timeline=[{at: 5s, fail: {subtask: 'count[0]'}}]",
                                           "expect=[exactly once]"};
  const auto restored_tasks = [&slices](const std::string& strategy) {
    std::vector<std::string> settings = slices;
    settings.push_back("flink.jobmanager.execution.failover-strategy=" + strategy);
    const Scenario scenario = library_scenario("wordcount", settings);
    ScenarioRun run(scenario, {});
    std::int64_t restored = 0;
    run.simulation().trace().set_sink([&restored](const sim::TraceRecord& record) {
      if (record.kind == trace_kind::kTaskRestored) ++restored;
    });
    run.play();
    const RunOutcome outcome = run.collect();
    EXPECT_TRUE(outcome.result.audit.has_value());
    EXPECT_EQ(outcome.result.audit->lost + outcome.result.audit->duplicated, 0);
    return restored;
  };
  EXPECT_EQ(restored_tasks("region"), 1);
  EXPECT_EQ(restored_tasks("full"), 2);
}

// A task manager that has lost the job manager registers again: once.
TEST(Cluster, ATaskManagerThatRegistersAgainIsLeftAlone) {
  const RunOutcome outcome = run(library_scenario(
      "wordcount", {"cluster.job_manager.rpc_latency=10ms", "flink.heartbeat.interval=500",
                    "flink.heartbeat.timeout=505", "expect=[progress]"}));
  EXPECT_LE(outcome.result.restarts.size(), 2U);
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost + outcome.result.audit->duplicated, 0);
  EXPECT_GT(outcome.result.records_out, 3000);
}

// A machine without power answers nobody: not even that nobody listens there.
TEST(Cluster, AMachineWithoutPowerRefusesNoConnection) {
  const RunOutcome outcome = run(library_scenario(
      "wordcount", {"timeline=[{at: 5s, vanish: {task_manager: 0}}, "
                    "{at: 6s, fail: {subtask: 'count[1]'}}]",
                    "flink.heartbeat.interval=10000", "flink.heartbeat.timeout=50000",
                    "flink.akka.ask.timeout=1 s", "flink.restart-strategy=fixed-delay",
                    "flink.restart-strategy.fixed-delay.attempts=100", "expect=[progress]"}));
  ASSERT_FALSE(outcome.result.restarts.empty());
  for (const analysis::RestartRow& restart : outcome.result.restarts) {
    EXPECT_EQ(restart.cause.find("Connection unexpectedly closed"), std::string::npos)
        << restart.cause;
  }
}

// A segment that is lent to nobody stands for one that a task forgot.
TEST(Cluster, ABufferThatDoesNotComeHomeStopsTheRun) {
  for (const bool at_the_end : {false, true}) {
    const Scenario scenario = library_scenario("wordcount", {"duration=3s"});
    ScenarioRun run(scenario, {});
    run.advance(base::Time{} + base::Duration::seconds(1));
    engine::NetworkEnvironment& network = run.cluster().task_executor(0)->network();
    {
      const auto partition = network.create_partition({{99, 0, {99}}, 1});
      ASSERT_NE(partition, nullptr);
      ASSERT_NE(partition->buffer_pool().request_buffer(), nullptr);
    }
    if (at_the_end) {
      run.play();
      EXPECT_THROW(static_cast<void>(run.collect()), base::InvariantViolation);
    } else {
      EXPECT_THROW(run.cluster().kill_task_manager(0, false), base::InvariantViolation);
    }
  }
}

TEST(Cluster, AJobThatNeedsMoreSlotsThanThereAreIsRefused) {
  const Scenario scenario = library_scenario("wordcount", {"cluster.task_managers.count=1"});
  try {
    static_cast<void>(run_scenario(scenario, {}));
    FAIL() << "it ran";
  } catch (const ScenarioError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("with a parallelism of 2 needs as many slots; the cluster has 1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tailrace::scenarios
