// How many bytes a second one gate hands out, idle time left out.
//
// Flink 1.20 ThroughputCalculator (spec barriers.md section 7 point 1). The gate resumes it and
// reports the bytes at every poll that returns something (events count with their sizes), and pauses
// it at every poll that finds nothing. Time that the task spends otherwise, also waiting for output,
// is measured, because nothing is polled then. Counts in whole milliseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ports.hpp"

namespace tailrace::engine {

class ThroughputCalculator {
 public:
  // The clock outlives it.
  explicit ThroughputCalculator(const Clock& clock) : clock_(&clock) {}

  // Also starts to measure, unless it does so already.
  void incoming_data_size(std::int64_t bytes) {
    resume_measurement();
    accumulated_bytes_ += bytes;
  }
  void pause_measurement() {
    if (measuring_since_ms_) measured_ms_ += now_ms() - *measuring_since_ms_;
    measuring_since_ms_.reset();
  }
  void resume_measurement() {
    if (!measuring_since_ms_) measuring_since_ms_ = now_ms();
  }

  // Bytes a second since the last call; the value before if no time was measured since then, though
  // the bytes are forgotten in that case too. Starts anew.
  std::int64_t calculate_throughput();

  // Flink's quotient, in double precision: it can be one below the exact one.
  // Requires: bytes >= 0, ms > 0.
  [[nodiscard]] static std::int64_t instant_throughput(std::int64_t bytes, std::int64_t ms);

 private:
  [[nodiscard]] std::int64_t now_ms() const { return clock_->now().millis_truncated(); }

  const Clock* clock_;
  std::int64_t current_throughput_ = 0;
  std::int64_t accumulated_bytes_ = 0;
  std::int64_t measured_ms_ = 0;
  std::optional<std::int64_t> measuring_since_ms_;
};

}  // namespace tailrace::engine
