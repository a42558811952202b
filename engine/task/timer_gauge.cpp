#include "engine/task/timer_gauge.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int64_t kIntervalMs = TimerGauge::kUpdateInterval.millis_truncated();
constexpr std::int64_t kIntervalSeconds = kIntervalMs / 1000;

}  // namespace

TimerGauge::TimerGauge(std::int32_t time_span_seconds)
    : window_(static_cast<std::size_t>(time_span_seconds / kIntervalSeconds)) {
  TAILRACE_ASSERT(time_span_seconds >= kIntervalSeconds &&
                  time_span_seconds <= kMaxTimeSpanSeconds);
}

void TimerGauge::mark_start(std::int64_t now_ms) {
  if (measuring_since_ms_) return;
  measuring_since_ms_ = counted_until_ms_ = now_ms;
}

void TimerGauge::mark_end(std::int64_t now_ms) {
  if (!measuring_since_ms_) return;
  count_until(now_ms);
  measuring_since_ms_.reset();
}

void TimerGauge::count_until(std::int64_t now_ms) {
  current_ += now_ms - counted_until_ms_;
  accumulated_ += now_ms - counted_until_ms_;
  counted_until_ms_ = now_ms;
  current_max_single_ = std::max(current_max_single_, now_ms - *measuring_since_ms_);
}

void TimerGauge::update(std::int64_t now_ms) {
  if (measuring_since_ms_) count_until(now_ms);
  update_value();
  previous_max_single_ = current_max_single_;
  current_ = 0;
  current_max_single_ = 0;
}

void TimerGauge::update_value() {
  if (index_ == window_ - 1) full_window_ = true;
  values_[index_] = current_;
  index_ = (index_ + 1) % window_;
  const std::size_t count = full_window_ ? window_ : index_;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += values_[i];
  value_ = std::clamp<std::int64_t>(total / (kIntervalSeconds * static_cast<std::int64_t>(count)),
                                    0, 1000);
}

void TimerGauge::update_repeatedly(std::int64_t first_ms, std::int64_t count) {
  // After the first one all count the same, so of the rest a whole window is enough: those before it
  // would be forgotten.
  const auto window = static_cast<std::int64_t>(window_);
  std::int64_t now_ms = first_ms;
  if (count > window + 1) {
    update(now_ms);
    const std::int64_t skipped_ms = (count - 1 - window) * kIntervalMs;
    if (measuring_since_ms_) {
      accumulated_ += skipped_ms;
      counted_until_ms_ += skipped_ms;
    }
    now_ms += kIntervalMs + skipped_ms;
    count = window;
  }
  for (; count > 0; --count, now_ms += kIntervalMs) update(now_ms);
}

}  // namespace tailrace::engine
