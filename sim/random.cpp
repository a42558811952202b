#include "sim/random.hpp"

#include <cmath>

#include <Random123/philox.h>

#include "sim/base/assert.hpp"
#include "sim/base/hash.hpp"
#include "sim/exact_math.hpp"

namespace tailrace::sim {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : key_{seed, base::hash_bytes(name)} {}

void RandomStream::refill() {
  const r123::Philox4x64::ctr_type counter = {{counter_, 0, 0, 0}};
  const r123::Philox4x64::key_type key = {{key_[0], key_[1]}};
  r123::Philox4x64 philox;
  const r123::Philox4x64::ctr_type block = philox(counter, key);
  for (std::size_t i = 0; i < kBlock; ++i) block_[i] = block.v[i];
  ++counter_;
  used_ = 0;
}

std::int64_t RandomStream::uniform(std::int64_t low, std::int64_t high) {
  TAILRACE_ASSERT(low <= high);
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (range == ~std::uint64_t{0}) return static_cast<std::int64_t>(next());
  const std::uint64_t count = range + 1;
  Wide product = static_cast<Wide>(next()) * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t too_low = (0 - count) % count;
    while (static_cast<std::uint64_t>(product) < too_low) {
      product = static_cast<Wide>(next()) * count;
    }
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                   static_cast<std::uint64_t>(product >> 64));
}

base::Duration RandomStream::exponential(base::Duration mean) {
  TAILRACE_ASSERT(mean.ns >= 0 && mean.ns <= base::Duration::max().ns / 64);
  // In (0, 1]: the logarithm of 0 never comes up.
  const double u = static_cast<double>((next() >> 11) + 1) * 0x1p-53;
  return {static_cast<std::int64_t>(-exact_log(u) * static_cast<double>(mean.ns) + 0.5)};
}

double RandomStream::normal() {
  if (has_kept_normal_) {
    has_kept_normal_ = false;
    return kept_normal_;
  }
  for (;;) {
    const double a = 2.0 * uniform01() - 1.0;
    const double b = 2.0 * uniform01() - 1.0;
    const double s = a * a + b * b;
    if (s >= 1.0 || s == 0.0) continue;
    const double factor = std::sqrt(-2.0 * exact_log(s) / s);  // IEEE rounds sqrt correctly
    kept_normal_ = b * factor;
    has_kept_normal_ = true;
    return a * factor;
  }
}

base::Duration RandomStream::normal(base::Duration mean, base::Duration deviation) {
  TAILRACE_ASSERT(mean.ns <= base::Duration::max().ns / 2 &&
                  deviation.ns <= base::Duration::max().ns / 64 && deviation.ns >= 0);
  const double z = normal();
  const double value = static_cast<double>(mean.ns) + z * static_cast<double>(deviation.ns);
  return {value <= 0 ? 0 : static_cast<std::int64_t>(value + 0.5)};
}

ZipfSampler::ZipfSampler(std::int64_t n, double exponent) : n_(n), exponent_(exponent) {
  TAILRACE_ASSERT(n >= 1 && n < std::int64_t{1} << 40);
  TAILRACE_ASSERT(exponent > 0 && exponent <= 16);
  integral_first_ = integral(1.5) - 1.0;
  integral_last_ = integral(static_cast<double>(n) + 0.5);
  squeeze_ = 2.0 - inverse_integral(integral(2.5) - density(2.0));
}

double ZipfSampler::density(double x) const {
  return exact_exp(-exponent_ * exact_log(x));
}

// (x^(1-s) - 1) / (1-s), whose limit at s = 1 is the logarithm. Near 1 the difference loses digits,
// at most ten of the sixteen: that moves probabilities by less than 1e-6.
double ZipfSampler::integral(double x) const {
  const double log = exact_log(x);
  const double power = 1.0 - exponent_;
  if (power > -1e-10 && power < 1e-10) return log;
  return (exact_exp(power * log) - 1.0) / power;
}

double ZipfSampler::inverse_integral(double y) const {
  const double power = 1.0 - exponent_;
  if (power > -1e-10 && power < 1e-10) return exact_exp(y);
  const double base = 1.0 + y * power;
  // Rounding may carry the far end of the range to or below 0.
  if (base < 1e-300) return static_cast<double>(n_) + 0.5;
  return exact_exp(exact_log(base) / power);
}

std::int64_t ZipfSampler::sample(RandomStream& stream) const {
  for (;;) {
    const double u = integral_last_ + stream.uniform01() * (integral_first_ - integral_last_);
    const double x = inverse_integral(u);
    auto rank = static_cast<std::int64_t>(x + 0.5);
    if (rank < 1) rank = 1;
    if (rank > n_) rank = n_;
    const auto r = static_cast<double>(rank);
    if (r - x <= squeeze_ || u >= integral(r + 0.5) - density(r)) return rank;
  }
}

}  // namespace tailrace::sim
