// The names of a result: one table for the JSON document, the text summary and `expect`.
//
// A name is the path of a member of the JSON document without the unit at its end
// (`checkpoints.duration.p99` is `checkpoints` -> `duration_ms` -> `p99` there).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/run_result.hpp"
#include "analysis/statistics.hpp"

namespace tailrace::analysis {

enum class ResultUnit : std::uint8_t {
  kCount,         // a plain number
  kMilliseconds,  // nanoseconds inside, printed in ms
  kSeconds,       // nanoseconds inside, printed in s
  kWord,          // text
};

// A run with what the names need computed once.
class ResultView {
 public:
  explicit ResultView(const RunResult& result);

  [[nodiscard]] const RunResult& result() const { return result_; }
  [[nodiscard]] const SortedSamples& latency() const { return latency_; }
  // From trigger to completion, of completed checkpoints and savepoints.
  [[nodiscard]] const SortedSamples& checkpoint_duration() const { return checkpoint_duration_; }
  [[nodiscard]] std::int64_t checkpoints_triggered() const;
  [[nodiscard]] std::int64_t checkpoints_completed() const;
  [[nodiscard]] std::int64_t checkpoints_failed() const;

 private:
  const RunResult& result_;
  SortedSamples latency_;
  SortedSamples checkpoint_duration_;
};

struct ResultName {
  std::string_view name;
  ResultUnit unit;
  // Null for kWord. None where there was no sample or nothing to measure.
  std::optional<std::int64_t> (*number)(const ResultView&);
};

[[nodiscard]] std::span<const ResultName> result_names();
// Null if there is no such name.
[[nodiscard]] const ResultName* find_result_name(std::string_view name);

// As JSON text: `null`, `12`, `12.345` or `"duration"`.
[[nodiscard]] std::string json_value(const ResultName& name, const ResultView& view);

// The words that `finished` can be.
[[nodiscard]] std::span<const std::string_view> finish_words();

}  // namespace tailrace::analysis
