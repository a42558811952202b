// The number of key groups of a vertex for which nobody configured one (spec S-2.6, S-2.7).
#pragma once

#include <cstdint>

#include "engine/state/key_group_assignment.hpp"

namespace tailrace::engine {

// For a parallelism that has been checked. Requires: 1 <= parallelism <= kUpperBoundMaxParallelism.
[[nodiscard]] inline std::int32_t default_max_parallelism(std::int32_t parallelism) {
  return compute_default_max_parallelism(parallelism).value();
}

}  // namespace tailrace::engine
