// A running job allocates next to nothing: what is left belongs to checkpoints and heartbeats, of
// which there are few however many records flow.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/task/stream_task.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "tests/benchmarks/counting_new.hpp"

namespace tailrace {
namespace {

using scenarios::ScenarioRun;

// Records that the subtasks of `count` have taken so far.
std::int64_t words_counted(ScenarioRun& run, std::int32_t op) {
  std::int64_t records = 0;
  scenarios::SimulatedCluster& cluster = run.cluster();
  for (std::int32_t i = 0; i < cluster.task_manager_count(); ++i) {
    for (const auto& task : cluster.task_executor(i)->tasks()) {
      if (task->descriptor().job_vertex().chain.front().stream_node != op) continue;
      records += task->invokable()->records_in();
    }
  }
  return records;
}

struct Case {
  const char* name;
  std::vector<std::string> settings;
  base::Duration warm_up;
  base::Duration measured;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SteadyState : public ::testing::TestWithParam<Case> {};

TEST_P(SteadyState, ARunningJobAllocatesLessThanOnceInAHundredRecords) {
  std::vector<scenarios::Setting> settings;
  for (const std::string& setting : GetParam().settings) {
    settings.push_back(scenarios::parse_setting(setting));
  }
  const scenarios::Scenario scenario = scenarios::load_scenario(
      std::string(TAILRACE_SOURCE_DIR) + "/scenarios/library/wordcount.yaml", settings);
  ScenarioRun run(scenario, {});
  run.advance(base::Time{} + GetParam().warm_up);
  const std::int32_t count = scenario.find_operator("count");
  const std::int64_t records_before = words_counted(run, count);
  const std::uint64_t before = testing::allocation_count();
  run.advance(base::Time{} + GetParam().warm_up + GetParam().measured);
  const auto allocations = static_cast<double>(testing::allocation_count() - before);
  const auto records = static_cast<double>(words_counted(run, count) - records_before);
  ASSERT_GT(records, 50'000) << "too little was tested";
  EXPECT_LT(allocations / records, 0.01)
      << allocations << " allocations, " << records << " records";
  // The counter counts: some are left.
  EXPECT_GT(allocations, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Wordcount, SteadyState,
    ::testing::Values(
        // As priced in the library: one record or two fill a slice, so this is the cost of slices.
        Case{"slices",
             {"job.operators.lines.from.repeat=60", "job.operators.lines.rate=max",
              "duration=1000s"},
             base::Duration::seconds(60),
             base::Duration::seconds(100)},
        // Cheap records, so that buffers are what there is most of.
        Case{"buffers",
             {"job.operators.lines.from.repeat=400", "job.operators.lines.rate=max",
              "job.operators.words.cost=10us", "job.operators.count.cost=1us", "duration=1000s"},
             base::Duration::millis(300),
             base::Duration::millis(300)}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tailrace
