// Named streams of random numbers, and samplers that give the same bits everywhere.
//
// Philox4x64-10 (Random123): the key is the seed and a hash of the stream's name, the counter
// counts blocks. One stream per named consumer: adding a consumer shifts nobody else's draws. Draw
// once per statement: the order of two draws within one expression is the compiler's.
//
// Samplers use integers and IEEE-exact arithmetic only (exact_math.hpp and the square root).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/time.hpp"

namespace tailrace::sim {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  // 64 uniform bits.
  std::uint64_t next() {
    if (used_ == kBlock) refill();
    return block_[used_++];
  }

  // Uniform in [low, high], both included, without bias: Lemire, Fast Random Integer Generation in
  // an Interval (2019). Requires: low <= high.
  std::int64_t uniform(std::int64_t low, std::int64_t high);

  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform01() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Whether an event of that probability, in parts per million, happens.
  bool happens_ppm(std::int64_t ppm) { return uniform(0, 999'999) < ppm; }

  // Exponential with that mean, rounded to the nearest nanosecond. Requires: 0 <= mean.
  // Never above 45 means.
  base::Duration exponential(base::Duration mean);

  // Standard normal: Marsaglia's polar method; every second call uses what the first kept.
  double normal();

  // Normal in nanoseconds, cut off at 0.
  base::Duration normal(base::Duration mean, base::Duration deviation);

 private:
  static constexpr std::size_t kBlock = 4;

  void refill();

  std::array<std::uint64_t, 2> key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint64_t, kBlock> block_{};
  std::size_t used_ = kBlock;
  double kept_normal_ = 0;
  bool has_kept_normal_ = false;
};

// Ranks 1..n with probability proportional to rank^-exponent.
//
// Rejection-inversion: Hoermann & Derflinger, Rejection-inversion to generate variates from
// monotone discrete distributions (1996). No table; less than 1.1 draws a sample on average.
class ZipfSampler {
 public:
  // Requires: n >= 1; 0 < exponent <= 16.
  ZipfSampler(std::int64_t n, double exponent);

  // Returns: in [1, n].
  std::int64_t sample(RandomStream& stream) const;

 private:
  [[nodiscard]] double density(double x) const;           // x^-exponent
  [[nodiscard]] double integral(double x) const;          // of the density, from 1 to x
  [[nodiscard]] double inverse_integral(double y) const;  // its inverse

  std::int64_t n_;
  double exponent_;
  double integral_first_ = 0;  // integral(1.5) - 1
  double integral_last_ = 0;   // integral(n + 0.5)
  double squeeze_ = 0;         // what lies this near above its rank needs no test
};

}  // namespace tailrace::sim
