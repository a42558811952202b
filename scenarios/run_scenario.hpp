// The door between the front and the world: runs a checked scenario.
//
// Declared here, defined by the world (scenarios/world/): the language, the command line and their
// tests know nothing else of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_result.hpp"
#include "scenarios/model.hpp"

namespace tailrace::scenarios {

struct Progress {
  base::Time now;
  std::int64_t events = 0;
  std::int64_t checkpoints_completed = 0;
};

struct RunOptions {
  bool collect_state = false;  // fill RunOutcome::state
  bool collect_sink = false;   // fill RunOutcome::sink
  // Gather RunResult::series in windows of that length. Changes nothing else of the result.
  // Requires: > 0.
  std::optional<base::Duration> series;
  // Looked at between events; once true the run ends with FinishReason::kInterrupted.
  const std::atomic<bool>* interrupted = nullptr;
  // Called every so many events, never by a timer. Empty: nobody watches.
  std::function<void(const Progress&)> progress;
};

// One line of a dump: an entry of keyed state, or a committed effect.
struct DumpRow {
  std::string text;  // the key, or the text of the record
  std::int64_t number = 0;
  std::string origin;  // id of the operator
};

struct RunOutcome {
  analysis::RunResult result;  // `expectations` is left to the caller
  // Entries of the timeline (indices) that never fired or hit nothing and are not `optional`.
  std::vector<std::int32_t> timeline_misses;
  std::vector<DumpRow> state;  // in any order
  std::vector<DumpRow> sink;   // in any order
};

// Errors: throws ScenarioError for what can be seen only now (nothing has been written then);
// base::InvariantViolation for our own mistakes.
[[nodiscard]] RunOutcome run_scenario(const Scenario& scenario, const RunOptions& options);

}  // namespace tailrace::scenarios
