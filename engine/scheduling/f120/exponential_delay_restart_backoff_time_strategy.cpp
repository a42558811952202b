#include "engine/scheduling/f120/exponential_delay_restart_backoff_time_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

// base^exponent, rounded once: a libm's pow would not be the same everywhere. Each product carries
// its own rounding error along; fma gives that error exactly.
double power(double base, std::int64_t exponent) {
  double high = 1.0;
  double low = 0.0;
  for (; exponent > 0 && std::isfinite(high); --exponent) {
    const double product = high * base;
    const double error = std::fma(high, base, -product) + low * base;
    high = product + error;
    low = error - (high - product);
  }
  return std::isfinite(high) ? high : std::numeric_limits<double>::infinity();
}

// Java's cast of a double that is not negative.
std::int64_t to_long(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (value >= kLimit) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value);
}

}  // namespace

ExponentialDelayRestartBackoffTimeStrategy::ExponentialDelayRestartBackoffTimeStrategy(
    const Clock& clock, const Config& config, Draw draw)
    : clock_(clock), config_(config), draw_(std::move(draw)) {
  TAILRACE_ASSERT(config.initial_backoff.ns >= 0 && config.multiplier >= 1.0);
  TAILRACE_ASSERT(config.jitter >= 0.0 && config.jitter <= 1.0);
}

void ExponentialDelayRestartBackoffTimeStrategy::notify_failure() {
  const Time now = clock_.now();
  is_new_attempt_ = !next_restart_ || now > *next_restart_;
  if (!is_new_attempt_) return;
  if (next_restart_ && now - *next_restart_ >= config_.reset_threshold) attempt_ = 0;
  next_restart_ = now + Duration::millis(next_backoff_ms());
  ++attempt_;
}

Duration ExponentialDelayRestartBackoffTimeStrategy::backoff_time() const {
  TAILRACE_ASSERT_MSG(next_restart_.has_value(), "a back-off before any failure");
  return std::max(Duration{0}, *next_restart_ - clock_.now());
}

std::int64_t ExponentialDelayRestartBackoffTimeStrategy::next_backoff_ms() const {
  const std::int64_t initial = config_.initial_backoff.millis_truncated();
  const std::int64_t longest = config_.max_backoff.millis_truncated();
  const std::int64_t current =
      to_long(static_cast<double>(initial) * power(config_.multiplier, attempt_));
  std::int64_t backoff = current;
  if (config_.jitter > 0.0) {
    // Beyond twice the longest back-off the draw does not matter any more.
    const std::int64_t centre = std::min(current, std::int64_t{1} << 52);
    const std::int64_t offset = to_long(static_cast<double>(centre) * config_.jitter);
    backoff = draw_(centre - offset, centre + offset);
  }
  return std::max(initial, std::min(backoff, longest));
}

}  // namespace tailrace::engine::f120
