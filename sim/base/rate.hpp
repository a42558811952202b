// Bytes per second, and the time that bytes take at that rate.
#pragma once

#include <cstdint>

#include "sim/base/assert.hpp"
#include "sim/base/time.hpp"

namespace tailrace::base {

struct BytesPerSecond {
  std::int64_t value = 0;

  // Rounded up to whole nanoseconds, so that no link is ever faster than it says.
  // Requires: value > 0, bytes >= 0.
  [[nodiscard]] constexpr Duration time_for(std::int64_t bytes) const {
    TAILRACE_ASSERT(value > 0 && bytes >= 0);
    __extension__ using Wide = __int128;
    const Wide numerator = static_cast<Wide>(bytes) * 1'000'000'000;
    return {static_cast<std::int64_t>((numerator + value - 1) / value)};
  }

  friend constexpr auto operator<=>(const BytesPerSecond&, const BytesPerSecond&) = default;
};

}  // namespace tailrace::base
