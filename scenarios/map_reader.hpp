// Reads one mapping of a scenario by its section of the schema.
//
// Whatever is wrong is reported with its position and replaced by the default (or by the least
// valid value), so that reading goes on and all mistakes of a file come out together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/diagnostics.hpp"
#include "scenarios/position.hpp"
#include "scenarios/schema.hpp"
#include "scenarios/yaml/node.hpp"
#include "sim/base/rate.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

class MapReader {
 public:
  // `node` may be null or empty: everything has its default then, positions are `around`'s.
  // `path` is how messages call this mapping: "job.operators.count".
  // Errors: it is no mapping; unknown keys, keys that cannot be run yet, required keys missing.
  MapReader(const yaml::Node* node, const SectionSpec& section, std::string path, Position around,
            Diagnostics& diagnostics);

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // Null if it is not written.
  [[nodiscard]] const yaml::Node* find(std::string_view key) const;
  // Of the value, or of the mapping if it is not written.
  [[nodiscard]] Position position(std::string_view key) const;
  [[nodiscard]] Position position() const { return position_; }
  [[nodiscard]] std::string path(std::string_view key) const;

  // Values. Requires: the key is of that type in the schema.
  // Those that return an optional have none without a value and a default, or after a mistake.
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> number(
      std::string_view key);  // integer, milli, percent
  [[nodiscard]] std::optional<base::Duration> duration(std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> size(std::string_view key);
  [[nodiscard]] bool boolean(std::string_view key);
  [[nodiscard]] bool flag(std::string_view key);
  [[nodiscard]] base::BytesPerSecond bandwidth(std::string_view key);
  [[nodiscard]] std::optional<std::int32_t> choice(std::string_view key);  // index in `choices`

  // With a default in the schema there is always a value.
  [[nodiscard]] std::int32_t small(std::string_view key);
  [[nodiscard]] base::Duration time_span(std::string_view key);

  [[nodiscard]] MapReader section(std::string_view key, const SectionSpec& section);

  void error(std::string_view key, std::string message);
  void error_here(std::string message);

 private:
  const KeySpec& spec(std::string_view key) const;
  // The text of a scalar, or its default; none if it is neither.
  std::optional<std::string_view> scalar(const KeySpec& spec);
  bool in_range(const KeySpec& spec, std::int64_t value, std::string_view text);

  const yaml::Node* node_;
  const SectionSpec& section_;
  std::string path_;
  Position position_;
  Diagnostics& diagnostics_;
};

// " (did you mean X?)", or nothing if no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> candidates);

}  // namespace tailrace::scenarios
