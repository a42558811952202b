// `tailrace run`: loads, runs, judges and prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/cli.hpp"
#include "scenarios/run_scenario.hpp"
#include "scenarios/settings.hpp"

namespace tailrace::scenarios {

struct RunCommand {
  std::string path;
  std::vector<Setting> settings;
  bool json = false;
  bool quiet = false;
  std::optional<base::Duration> series;
  std::optional<std::string> dump_state;
  std::optional<std::string> dump_sink;
  std::string replay;  // the command that does all this again
};

// The length of the windows of a series. `name`: what the user calls it.
// Errors: throws ScenarioError if it is none, or shorter than a millisecond.
[[nodiscard]] base::Duration parse_series(const std::string& name, const std::string& text);

// Returns the exit status. Errors: throws ScenarioError, before anything is written.
[[nodiscard]] int run_and_report(const RunCommand& command, const Console& console);

// Runs and fills in how long that took: the one place that reads a real clock, on which nothing
// depends. Errors: as run_scenario.
[[nodiscard]] RunOutcome run_and_time(const Scenario& scenario, const RunOptions& options);

// Puts the verdicts into the result: the scenario's expectations, then a line for each entry of the
// timeline that did not happen and for a failed job that nobody expected. Returns whether all hold.
[[nodiscard]] bool judge(const Scenario& scenario, RunOutcome& outcome);

}  // namespace tailrace::scenarios
