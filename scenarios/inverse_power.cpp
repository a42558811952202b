#include "scenarios/inverse_power.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

__extension__ using Wide = unsigned __int128;

// Numbers in [1, 2) have 63 binary places: the highest bit is the one before the point.
constexpr int kPlaces = 63;
constexpr std::uint64_t kOne = std::uint64_t{1} << kPlaces;
constexpr Wide kTwo = Wide{1} << (kPlaces + 1);
constexpr std::int64_t kMilli = 1000;

// To the nearest. Requires: the root is below 2^64.
constexpr std::uint64_t square_root(Wide x) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = kOne; bit != 0; bit >>= 1) {
    const std::uint64_t larger = root | bit;
    if (static_cast<Wide>(larger) * larger <= x) root = larger;
  }
  return x - static_cast<Wide>(root) * root > root ? root + 1 : root;
}

// The square root of two, the root of that, and so on.
constexpr std::array<std::uint64_t, 64> roots_of_two() {
  std::array<std::uint64_t, 64> roots{};
  Wide before = kTwo;
  for (std::uint64_t& root : roots) {
    root = square_root(before << kPlaces);
    before = root;
  }
  return roots;
}
constexpr std::array<std::uint64_t, 64> kRootsOfTwo = roots_of_two();

// Product of two numbers of kPlaces places, to the nearest.
constexpr Wide times(std::uint64_t a, std::uint64_t b) {
  return (static_cast<Wide>(a) * b + (Wide{1} << (kPlaces - 1))) >> kPlaces;
}

// log2(n) with 64 binary places. A square doubles the logarithm: whether it passes two is the next
// place. What rounding a square does to the logarithm is halved with every place before it.
Wide binary_logarithm(std::uint64_t n) {
  const int whole = static_cast<int>(std::bit_width(n)) - 1;
  std::uint64_t x = n << (kPlaces - whole);
  std::uint64_t fraction = 0;
  for (int place = 0; place < 64; ++place) {
    const Wide square = times(x, x);
    fraction = fraction << 1 | (square >= kTwo ? 1 : 0);
    x = static_cast<std::uint64_t>(square >= kTwo ? square >> 1 : square);
  }
  return static_cast<Wide>(whole) << 64 | fraction;
}

// 2^fraction, of 64 binary places, as a number of kPlaces.
std::uint64_t two_to(std::uint64_t fraction) {
  std::uint64_t product = kOne;
  for (std::size_t i = 0; i < kRootsOfTwo.size(); ++i) {
    if ((fraction >> (63 - i) & 1) == 0) continue;
    // Rounding may take the very last steps to two itself.
    product = static_cast<std::uint64_t>(std::min(times(product, kRootsOfTwo[i]), kTwo - 1));
  }
  return product;
}

// A logarithm of 64 binary places times the double that is nearest to the exponent, to the nearest.
// Thousandths are at least 2^-10, so that no such double has more than 62 binary places.
Wide times_exponent(Wide logarithm, std::int64_t exponent_milli) {
  const std::int64_t whole = exponent_milli / kMilli;
  const double rest = static_cast<double>(exponent_milli) / static_cast<double>(kMilli) -
                      static_cast<double>(whole);
  const auto places = static_cast<std::uint64_t>(rest * 0x1p62);  // exact, as is the difference
  const Wide of_fraction = static_cast<Wide>(static_cast<std::uint64_t>(logarithm)) * places;
  return logarithm * static_cast<std::uint64_t>(whole) + ((logarithm >> 64) * places << 2) +
         ((of_fraction + (Wide{1} << 61)) >> 62);
}

// 2^-shift, exactly. Requires: 0 <= shift < 1022.
double two_to_minus(int shift) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - shift) << 52);
}

}  // namespace

double inverse_power(std::int64_t n, std::int64_t exponent_milli) {
  TAILRACE_ASSERT(n >= 1 && n <= std::int64_t{1} << 40);
  TAILRACE_ASSERT(exponent_milli >= 0 && exponent_milli <= 10 * kMilli);
  if (n == 1 || exponent_milli == 0) return 1;
  if (exponent_milli % kMilli == 0) {
    Wide power = 1;
    for (std::int64_t i = 0; i < exponent_milli / kMilli && power >> 53 == 0; ++i) {
      power *= static_cast<std::uint64_t>(n);
    }
    if (power >> 53 == 0) return 1.0 / static_cast<double>(static_cast<std::uint64_t>(power));
  }
  const Wide exponent =
      times_exponent(binary_logarithm(static_cast<std::uint64_t>(n)), exponent_milli);
  const auto whole = static_cast<int>(exponent >> 64);
  const auto fraction = static_cast<std::uint64_t>(exponent);
  if (fraction == 0) return two_to_minus(whole);
  // 2^-(whole + fraction) = 2^(1 - fraction) / 2^(whole + 1). The conversion is what rounds.
  return static_cast<double>(two_to(~fraction + 1)) * two_to_minus(kPlaces + whole + 1);
}

}  // namespace tailrace::scenarios
