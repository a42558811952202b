#include "analysis/time_text.hpp"

namespace tailrace::analysis {
namespace {

// `units` is a count of 10^-decimals.
std::string fixed_point(std::int64_t units, std::size_t decimals) {
  // Not -units: the smallest integer has no positive counterpart.
  const std::uint64_t magnitude =
      units < 0 ? 0U - static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
  std::string digits = std::to_string(magnitude);
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  digits.insert(digits.size() - decimals, 1, '.');
  return units < 0 ? '-' + digits : digits;
}

}  // namespace

std::string milliseconds(std::int64_t ns) {
  return fixed_point(ns / 1'000, 3);
}

std::string seconds(std::int64_t ns) {
  return fixed_point(ns, 9);
}

std::string null_or_seconds(const std::optional<base::Time>& time) {
  return time.has_value() ? seconds(time->ns) : "null";
}

std::string hex64(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4U) text[i] = kDigits[value & 15U];
  return text;
}

}  // namespace tailrace::analysis
