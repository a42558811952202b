#include "scenarios/run_scenario.hpp"

#include "scenarios/world/scenario_run.hpp"

namespace tailrace::scenarios {

RunOutcome run_scenario(const Scenario& scenario, const RunOptions& options) {
  ScenarioRun run(scenario, options);
  run.play();
  return run.collect();
}

}  // namespace tailrace::scenarios
