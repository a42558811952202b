// How many milliseconds of each second something has been going on, over the last minute.
//
// Flink 1.20 TimerGauge, as of 1.20.1 (FLINK-35764: what an update has counted is not counted again
// when the measurement ends). Pure: the owner passes the time, in milliseconds, which never goes
// back, and calls `update` each kUpdateInterval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/base/time.hpp"

namespace tailrace::engine {

class TimerGauge {
 public:
  static constexpr base::Duration kUpdateInterval = base::Duration::seconds(5);
  static constexpr std::int32_t kMaxTimeSpanSeconds = 60;

  // Averages over the updates of that span. Requires: 5 <= time_span_seconds <= 60; what is left over
  // of whole intervals is cut off.
  explicit TimerGauge(std::int32_t time_span_seconds = kMaxTimeSpanSeconds);

  // Without effect while it measures, or while it does not.
  void mark_start(std::int64_t now_ms);
  void mark_end(std::int64_t now_ms);

  void update(std::int64_t now_ms);
  // The same as `count` calls of update, kUpdateInterval apart. Cost: O(length of the window).
  // Requires: neither start nor end was marked in between.
  void update_repeatedly(std::int64_t first_ms, std::int64_t count);

  // All three are of the last update, but the accumulated time, which also has measurements that
  // have ended since then.
  // In [0, 1000]. An interval counts as five seconds, however long it was.
  [[nodiscard]] std::int64_t value() const { return value_; }
  // The longest measurement that was going on in the last interval, from its very start.
  [[nodiscard]] std::int64_t max_single_measurement() const { return previous_max_single_; }
  [[nodiscard]] std::int64_t accumulated_count() const { return accumulated_; }
  [[nodiscard]] bool is_measuring() const { return measuring_since_ms_.has_value(); }

 private:
  static constexpr std::size_t kMaxWindow = 12;

  void count_until(std::int64_t now_ms);
  void update_value();

  std::array<std::int64_t, kMaxWindow> values_{};
  std::size_t window_;
  std::size_t index_ = 0;
  bool full_window_ = false;

  std::int64_t value_ = 0;
  std::int64_t current_ = 0;  // since the last update
  std::int64_t accumulated_ = 0;
  std::int64_t previous_max_single_ = 0;
  std::int64_t current_max_single_ = 0;
  std::optional<std::int64_t> measuring_since_ms_;
  std::int64_t counted_until_ms_ = 0;  // of the measurement
};

}  // namespace tailrace::engine
