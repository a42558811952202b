#include "scenarios/run_command.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "analysis/report.hpp"
#include "analysis/time_text.hpp"
#include "scenarios/diagnostics.hpp"
#include "scenarios/dump.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/units.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// Shorter windows would fill the memory with zeros.
constexpr base::Duration kShortestWindow = base::Duration::millis(1);
constexpr const char* kEraseLine = "\r\x1b[K";

void show(const Progress& progress, std::ostream& err) {
  err << kEraseLine << analysis::milliseconds(progress.now.ns / 1'000) << " s virtual, "
      << progress.events << " events, " << progress.checkpoints_completed << " checkpoints"
      << std::flush;
}

std::unique_ptr<DumpFile> open_dump(const std::optional<std::string>& path) {
  return path.has_value() ? std::make_unique<DumpFile>(*path) : nullptr;
}

// The second dump would take the place of the first one.
void refuse_equal_dumps(const RunCommand& command) {
  if (!command.dump_state.has_value() || !command.dump_sink.has_value()) return;
  const auto whole = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(path, ignored);
  };
  if (whole(*command.dump_state) == whole(*command.dump_sink)) {
    throw ScenarioError(*command.dump_sink +
                        ": cannot be written: the state and the sink need a file each");
  }
}

void print(const RunCommand& command, const analysis::RunResult& result, const Console& console) {
  if (command.json) {
    *console.out << analysis::to_json(result);
  } else if (command.quiet) {
    *console.out << "trace " << analysis::hex64(result.trace_hash) << '\n';
  } else {
    *console.out << analysis::to_text(result);
  }
  for (const analysis::ExpectationResult& row : result.expectations) {
    if (row.held || result.incomplete()) continue;
    *console.err << "not held: " << row.text;
    if (row.value != "null") *console.err << " (" << row.value << ')';
    *console.err << '\n';
  }
}

}  // namespace

base::Duration parse_series(const std::string& name, const std::string& text) {
  const Parsed<base::Duration> every = parse_duration(text);
  if (!every.ok()) throw ScenarioError(name + ": " + in_quotes(text) + ' ' + every.error());
  if (every.value() < kShortestWindow) {
    throw ScenarioError(name + ": " + in_quotes(text) + " is too short; a window has at least 1ms");
  }
  return every.value();
}

RunOutcome run_and_time(const Scenario& scenario, const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  RunOutcome outcome = run_scenario(scenario, options);
  const auto end = std::chrono::steady_clock::now();
  outcome.result.wall = base::Duration::nanos(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  return outcome;
}

bool judge(const Scenario& scenario, RunOutcome& outcome) {
  analysis::RunResult& result = outcome.result;
  std::vector<analysis::Expectation> expectations;
  for (const ScenarioExpectation& line : scenario.expectations) {
    expectations.push_back(line.expectation);
  }
  result.expectations = analysis::evaluate(expectations, result);
  for (const std::int32_t miss : outcome.timeline_misses) {
    const TimelineEntry& entry = scenario.timeline.at(static_cast<std::size_t>(miss));
    result.expectations.push_back(
        {"timeline happens: " + entry.text + " (" + describe(scenario, entry.position) + ")", false,
         "null"});
  }
  if (result.finished == analysis::FinishReason::kJobFailed &&
      !analysis::expects_failed_job(expectations)) {
    result.expectations.push_back({"the job does not fail", false, "\"job_failed\""});
  }
  bool all_held = true;
  for (const analysis::ExpectationResult& row : result.expectations) {
    all_held = all_held && row.held;
  }
  return all_held;
}

int run_and_report(const RunCommand& command, const Console& console) {
  const Scenario scenario = load_scenario(command.path, command.settings);
  refuse_equal_dumps(command);
  std::unique_ptr<DumpFile> state = open_dump(command.dump_state);
  std::unique_ptr<DumpFile> sink = open_dump(command.dump_sink);
  if (!command.quiet) {
    for (const std::string& note : scenario.notes) *console.err << "note: " << note << '\n';
  }

  RunOptions options;
  options.collect_state = state != nullptr;
  options.collect_sink = sink != nullptr;
  options.series = command.series;
  options.interrupted = console.interrupted;
  const bool watched = console.err_is_terminal && !command.quiet;
  if (watched) {
    options.progress = [err = console.err](const Progress& progress) { show(progress, *err); };
  }

  RunOutcome outcome;
  try {
    outcome = run_and_time(scenario, options);
  } catch (const base::InvariantViolation& e) {
    if (watched) *console.err << kEraseLine;
    *console.err << "tailrace: internal error: " << e.what()
                 << "\n  replay with: " << command.replay << "\n  seed: " << scenario.seed << '\n';
    return kExitInternal;
  }
  if (watched) *console.err << kEraseLine;

  const bool all_held = judge(scenario, outcome);
  // Before anything is printed: whoever reads the results may hang up, which ends this process.
  if (!outcome.result.incomplete()) {
    if (state != nullptr) state->write(outcome.state);
    if (sink != nullptr) sink->write(outcome.sink);
  } else if (state != nullptr || sink != nullptr) {
    state.reset();
    sink.reset();
    *console.err << "tailrace: interrupted, no dump is written\n";
  }
  print(command, outcome.result, console);
  if (outcome.result.incomplete()) return kExitInterrupted;
  return all_held ? kExitDone : kExitNotHeld;
}

}  // namespace tailrace::scenarios
