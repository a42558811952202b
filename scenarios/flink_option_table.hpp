// The options of Flink that have an effect here: names, types, versions, and what each sets.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/ids.hpp"
#include "scenarios/flink_options.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

// What the option is in its version; decides which texts are values.
enum class FlinkType : std::uint8_t {
  kInt,
  kMillisAsLong,  // 1.10: a whole number of milliseconds, `10 s` is an error; 1.20: a duration
  kBytesAsLong,   // 1.10: a whole number of bytes; 1.20: a memory size
  kDuration,
  kTextDuration,  // 1.10: a string that its reader parses as a duration, with its unit; 1.20: a duration
  kMemory,
  kBoolean,
  kDouble,
  kWord,
};

enum class FlinkVersions : std::uint8_t { kBoth, kOnly110, kOnly120 };

[[nodiscard]] constexpr bool exists_in(FlinkVersions versions, engine::Generation generation) {
  if (versions == FlinkVersions::kBoth) return true;
  return (versions == FlinkVersions::kOnly110) == (generation == engine::Generation::kFlink110);
}

// Filled by type: `number` holds integers, bytes and booleans.
struct FlinkValue {
  std::int64_t number = 0;
  double decimal = 0;
  base::Duration duration;
  std::string word;  // lower case
};

// Sets the option, or says what is wrong with the value.
using Apply = std::optional<std::string> (*)(FlinkOptions&, const FlinkValue&);

struct OptionSpec {
  // The name in the version that has it first (1.10 if both have), then all others of either version.
  std::array<std::string_view, 4> names;
  FlinkType type;
  std::int64_t min;
  std::int64_t max;
  Apply apply;
  FlinkVersions versions = FlinkVersions::kBoth;
};

inline constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

[[nodiscard]] std::span<const OptionSpec> flink_option_table();
// Null: none of that name, in either version.
[[nodiscard]] const OptionSpec* find_flink_option(std::string_view key);

}  // namespace tailrace::scenarios
