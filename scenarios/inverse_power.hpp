// Powers that are the same on every machine: the C library's `pow` is not.
#pragma once

#include <cstdint>

namespace tailrace::scenarios {

// n to the power of -e, where e is the double that is nearest to exponent_milli / 1000: what a power
// of doubles is given.
//
// Whole exponents with n^exponent below 2^53 take one division, which IEEE rounds correctly. All
// others are computed with integers: log2(n) to 64 binary places by repeated squaring, times the
// exponent, and two to that power as a product of the roots of two; the result is rounded once. Its
// error is below 0.55 units in the last place, so that a correctly rounded power and this one are
// equal in nearly all cases and neighbours in the rest.
// Requires: 1 <= n <= 2^40; 0 <= exponent_milli <= 10000.
// Cost: some 100 multiplications.
[[nodiscard]] double inverse_power(std::int64_t n, std::int64_t exponent_milli);

}  // namespace tailrace::scenarios
