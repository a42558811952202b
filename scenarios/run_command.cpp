#include "scenarios/run_command.hpp"

#include <chrono>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "analysis/report.hpp"
#include "analysis/time_text.hpp"
#include "scenarios/dump.hpp"
#include "scenarios/scenario_file.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

void show(const Progress& progress, std::ostream& err) {
  err << kEraseLine << analysis::milliseconds(progress.now.ns / 1'000) << " s virtual, "
      << progress.events << " events, " << progress.checkpoints_completed << " checkpoints"
      << std::flush;
}

std::unique_ptr<DumpFile> open_dump(const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<DumpFile>(path);
}

// The one place that reads a real clock: how long the run took, which nothing depends on.
RunOutcome run_and_time(const Scenario& scenario, const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  RunOutcome outcome = run_scenario(scenario, options);
  const auto end = std::chrono::steady_clock::now();
  outcome.result.wall = base::Duration::nanos(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  return outcome;
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
  const std::unique_ptr<DumpFile> state = open_dump(command.dump_state);
  const std::unique_ptr<DumpFile> sink = open_dump(command.dump_sink);
  if (!command.quiet) {
    for (const std::string& note : scenario.notes) *console.err << "note: " << note << '\n';
  }

  RunOptions options;
  options.collect_state = state != nullptr;
  options.collect_sink = sink != nullptr;
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
  print(command, outcome.result, console);
  if (outcome.result.incomplete()) {
    if (state != nullptr || sink != nullptr) {
      *console.err << "tailrace: interrupted, no dump is written\n";
    }
    return kExitInterrupted;
  }
  if (state != nullptr) state->write(outcome.state);
  if (sink != nullptr) sink->write(outcome.sink);
  return all_held ? kExitDone : kExitNotHeld;
}

}  // namespace tailrace::scenarios
