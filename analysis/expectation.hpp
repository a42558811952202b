// One line of a scenario's `expect`, as data.
//
// The line is parsed at the front door, with units; here it is judged against a RunResult. What can
// be compared is the table in result_names.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::analysis {

enum class ExpectationKind : std::uint8_t {
  kComparison,       // NAME OPERATOR BOUND
  kExactlyOnce,      // nothing lost, nothing twice
  kAtLeastOnce,      // nothing lost
  kNoOrphanedState,  // nothing unreferenced is left in the checkpoint store
  kProgress,         // an effect was committed after the last fault
};

enum class Comparison : std::uint8_t {
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreaterEqual,
  kGreater
};

struct Expectation {
  ExpectationKind kind = ExpectationKind::kComparison;
  std::string text;  // as written
  // For kComparison only. `name` is an entry of result_names().
  std::string name;
  Comparison comparison = Comparison::kEqual;
  std::int64_t bound = 0;  // nanoseconds for durations, else a plain number
  std::string bound_word;  // for names whose value is a word (`finished`)
};

// How an expectation came out. `value` is what was found, as JSON text (`"duration"`, `3`,
// `12.345`, `null`): milliseconds or seconds as the result document prints them.
struct ExpectationResult {
  std::string text;
  bool held = false;
  std::string value = "null";
};

struct RunResult;

// Requires: for kComparison, that the name exists.
[[nodiscard]] ExpectationResult evaluate(const Expectation& expectation, const RunResult& result);
[[nodiscard]] std::vector<ExpectationResult> evaluate(const std::vector<Expectation>& expectations,
                                                      const RunResult& result);

// Whether one of them says that the job may fail (`finished == job_failed`).
[[nodiscard]] bool expects_failed_job(const std::vector<Expectation>& expectations);

}  // namespace tailrace::analysis
