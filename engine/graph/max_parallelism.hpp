// Bounds and default of the number of key groups. Flink KeyGroupRangeAssignment (spec S-2.6).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tailrace::engine {

// Flink 1.10 KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM and DEFAULT_LOWER_BOUND_….
inline constexpr std::int32_t kUpperBoundMaxParallelism = 1 << 15;
inline constexpr std::int32_t kDefaultLowerBoundMaxParallelism = 1 << 7;

// Requires: 1 <= parallelism <= kUpperBoundMaxParallelism.
[[nodiscard]] constexpr std::int32_t default_max_parallelism(std::int32_t parallelism) {
  const auto wanted = static_cast<std::uint32_t>(parallelism + parallelism / 2);
  return std::clamp(static_cast<std::int32_t>(std::bit_ceil(wanted)),
                    kDefaultLowerBoundMaxParallelism, kUpperBoundMaxParallelism);
}

}  // namespace tailrace::engine
