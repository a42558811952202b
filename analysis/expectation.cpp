#include "analysis/expectation.hpp"

#include "analysis/result_names.hpp"
#include "analysis/run_result.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::analysis {
namespace {

bool holds(std::int64_t value, Comparison comparison, std::int64_t bound) {
  switch (comparison) {
    case Comparison::kLess:
      return value < bound;
    case Comparison::kLessEqual:
      return value <= bound;
    case Comparison::kEqual:
      return value == bound;
    case Comparison::kNotEqual:
      return value != bound;
    case Comparison::kGreaterEqual:
      return value >= bound;
    case Comparison::kGreater:
      return value > bound;
  }
  return false;
}

ExpectationResult compare(const Expectation& expectation, const ResultView& view) {
  const ResultName* name = find_result_name(expectation.name);
  TAILRACE_ASSERT_MSG(name != nullptr, expectation.name);
  ExpectationResult outcome{expectation.text, false, json_value(*name, view)};
  if (name->unit == ResultUnit::kWord) {
    const bool equal = expectation.bound_word == to_string(view.result().finished);
    outcome.held = equal == (expectation.comparison == Comparison::kEqual);
    return outcome;
  }
  // What was never measured holds nothing: a bound on it would be met by measuring nothing.
  const std::optional<std::int64_t> number = name->number(view);
  outcome.held = number.has_value() && holds(*number, expectation.comparison, expectation.bound);
  return outcome;
}

std::string audit_value(const RunResult& result) {
  if (!result.audit.has_value()) return "null";
  return "{\"lost\": " + std::to_string(result.audit->lost) +
         ", \"duplicated\": " + std::to_string(result.audit->duplicated) + "}";
}

ExpectationResult evaluate_with(const Expectation& expectation, const ResultView& view) {
  const RunResult& result = view.result();
  const std::optional<Audit>& audit = result.audit;
  switch (expectation.kind) {
    case ExpectationKind::kComparison:
      return compare(expectation, view);
    case ExpectationKind::kExactlyOnce:
      return {expectation.text, audit.has_value() && audit->lost == 0 && audit->duplicated == 0,
              audit_value(result)};
    case ExpectationKind::kAtLeastOnce:
      return {expectation.text, audit.has_value() && audit->lost == 0, audit_value(result)};
    case ExpectationKind::kNoOrphanedState:
      return {expectation.text, result.orphaned_blobs == std::int64_t{0},
              result.orphaned_blobs.has_value() ? std::to_string(*result.orphaned_blobs) : "null"};
    case ExpectationKind::kProgress:
      return {expectation.text,
              result.last_progress.has_value() &&
                  (!result.last_fault.has_value() || *result.last_progress > *result.last_fault),
              result.records_out > 0 ? std::to_string(result.records_out) : "null"};
  }
  return {expectation.text, false, "null"};
}

}  // namespace

ExpectationResult evaluate(const Expectation& expectation, const RunResult& result) {
  return evaluate_with(expectation, ResultView(result));
}

std::vector<ExpectationResult> evaluate(const std::vector<Expectation>& expectations,
                                        const RunResult& result) {
  const ResultView view(result);
  std::vector<ExpectationResult> outcomes;
  outcomes.reserve(expectations.size());
  for (const Expectation& expectation : expectations) {
    outcomes.push_back(evaluate_with(expectation, view));
  }
  return outcomes;
}

bool expects_failed_job(const std::vector<Expectation>& expectations) {
  for (const Expectation& expectation : expectations) {
    if (expectation.kind == ExpectationKind::kComparison && expectation.name == "finished" &&
        expectation.comparison == Comparison::kEqual &&
        expectation.bound_word == to_string(FinishReason::kJobFailed)) {
      return true;
    }
  }
  return false;
}

}  // namespace tailrace::analysis
