// Logarithm and exponential from + - * / alone.
//
// libm's differ between versions and machines in the last bit, which is enough to make two runs of
// one seed differ. IEEE fixes the four operations, so these give the same bits everywhere (built
// without fused multiply-add). Relative error below 1e-15, which a test bounds.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/base/assert.hpp"

namespace tailrace::sim {

// ln 2 in two parts; the first has 32 trailing zero bits, so that small multiples are exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

// The natural logarithm. Requires: x is positive, normal and finite.
constexpr double exact_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  TAILRACE_ASSERT(exponent > -1023 && exponent < 1024);  // also refuses the negative ones
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh z; |z| <= 0.172, so that the terms fall below 2^-53 after z^21.
  const double z = (m - 1.0) / (m + 1.0);
  const double w = z * z;
  double sum = 0.0;
  for (int n = 23; n >= 3; n -= 2) sum = sum * w + 1.0 / n;
  const auto k = static_cast<double>(exponent);
  return k * kLn2High + (2.0 * z + (2.0 * z * (w * sum) + k * kLn2Low));
}

// e to the x. Requires: -700 <= x <= 700.
constexpr double exact_exp(double x) {
  TAILRACE_ASSERT(x >= -700.0 && x <= 700.0);
  const double scaled = x * 1.44269504088896340736;
  const auto k = static_cast<std::int64_t>(scaled + (scaled >= 0 ? 0.5 : -0.5));
  const auto kd = static_cast<double>(k);
  const double r = (x - kd * kLn2High) - kd * kLn2Low;
  // |r| <= 0.347: the 15th term of Taylor's series is below 2^-60.
  double sum = 1.0;
  for (int n = 15; n >= 1; --n) sum = 1.0 + sum * (r / n);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

}  // namespace tailrace::sim
