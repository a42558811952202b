// Exact factors for times: slow-downs and speeds without floating point.
#pragma once

#include <cstdint>

#include "sim/base/assert.hpp"
#include "sim/base/time.hpp"

namespace tailrace::sim {

// numerator / denominator; both positive.
struct Ratio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  [[nodiscard]] constexpr bool valid() const { return numerator > 0 && denominator > 0; }
};

// Rounded up to whole nanoseconds: slowed work never finishes early.
// Requires: duration >= 0; both ratios valid, their parts below 2^31; the result fits.
constexpr base::Duration scale_up(base::Duration duration, Ratio by, Ratio and_by = {}) {
  TAILRACE_ASSERT(duration.ns >= 0 && by.valid() && and_by.valid());
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  TAILRACE_ASSERT(by.numerator < kLimit && by.denominator < kLimit && and_by.numerator < kLimit &&
                  and_by.denominator < kLimit);
  __extension__ using Wide = __int128;
  const Wide numerator = static_cast<Wide>(duration.ns) * by.numerator * and_by.numerator;
  const Wide denominator = static_cast<Wide>(by.denominator) * and_by.denominator;
  const Wide result = (numerator + denominator - 1) / denominator;
  TAILRACE_ASSERT(result <= base::Duration::max().ns);
  return {static_cast<std::int64_t>(result)};
}

}  // namespace tailrace::sim
