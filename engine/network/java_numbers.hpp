// Java's arithmetic where C++ leaves the result undefined.
//
// Source: Java Language Specification 5.1.3 (narrowing) and 15.17.1 (overflow wraps around).
#pragma once

#include <cstdint>
#include <limits>

namespace tailrace::engine {

// Towards zero; what does not fit becomes the nearest number that does, NaN becomes 0.
template <typename Integer>
[[nodiscard]] constexpr Integer java_narrow(double value) {
  if (value != value) return 0;
  // The least number is a power of two, so it has no rounding; the largest rounds up to one.
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<Integer>::min());
  if (value <= kLeast) return std::numeric_limits<Integer>::min();
  if (value >= -kLeast) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(value);
}

[[nodiscard]] constexpr std::int64_t java_multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int32_t java_multiply(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

}  // namespace tailrace::engine
