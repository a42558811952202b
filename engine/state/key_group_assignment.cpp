#include "engine/state/key_group_assignment.hpp"

#include <algorithm>

namespace tailrace::engine {

base::Result<std::int32_t, KeyGroupError> compute_default_max_parallelism(
    std::int32_t parallelism) {
  if (parallelism < 1 || parallelism > kUpperBoundMaxParallelism) {
    return base::Failure{KeyGroupError::kParallelismOutOfRange};
  }
  // Half as much again leaves room to scale out before key groups run short.
  const auto wanted = static_cast<std::uint32_t>(parallelism + parallelism / 2);
  return std::clamp(static_cast<std::int32_t>(std::bit_ceil(wanted)),
                    kDefaultLowerBoundMaxParallelism, kUpperBoundMaxParallelism);
}

}  // namespace tailrace::engine
