// Virtual time: integer nanoseconds in two strong types, a point and a distance.
//
// No floating-point clock exists anywhere in the house. Division is written out with its direction
// (`ceil_div`), milliseconds for Flink's statistics truncate as Flink's do.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace tailrace::base {

struct Duration {
  std::int64_t ns = 0;

  static constexpr Duration nanos(std::int64_t n) { return {n}; }
  static constexpr Duration micros(std::int64_t n) { return {n * 1'000}; }
  static constexpr Duration millis(std::int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
  static constexpr Duration max() { return {std::numeric_limits<std::int64_t>::max()}; }

  [[nodiscard]] constexpr std::int64_t millis_truncated() const { return ns / 1'000'000; }

  friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return {a.ns * n}; }
  constexpr Duration& operator+=(Duration d) {
    ns += d.ns;
    return *this;
  }
  constexpr Duration& operator-=(Duration d) {
    ns -= d.ns;
    return *this;
  }
};

// A moment of virtual time, in nanoseconds since the start of the run.
struct Time {
  std::int64_t ns = 0;

  static constexpr Time max() { return {std::numeric_limits<std::int64_t>::max()}; }
  [[nodiscard]] constexpr std::int64_t millis_truncated() const { return ns / 1'000'000; }

  friend constexpr auto operator<=>(const Time&, const Time&) = default;
  friend constexpr Time operator+(Time t, Duration d) { return {t.ns + d.ns}; }
  friend constexpr Time operator-(Time t, Duration d) { return {t.ns - d.ns}; }
  friend constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }
};

// Rounds towards plus infinity. Requires: a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long n) {
  return {static_cast<std::int64_t>(n)};
}
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::micros(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration::millis(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_s(unsigned long long n) {
  return Duration::seconds(static_cast<std::int64_t>(n));
}
}  // namespace literals

}  // namespace tailrace::base
