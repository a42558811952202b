// Waits longer after each failure, until the job has run for a while.
//
// Flink 1.20 ExponentialDelayRestartBackoffTimeStrategy (spec rescale.md S-6.12). Failures that come
// before the restart they wait for are one attempt.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "engine/scheduling/restart_backoff_time_strategy.hpp"

namespace tailrace::engine::f120 {

class ExponentialDelayRestartBackoffTimeStrategy final : public RestartBackoffTimeStrategy {
 public:
  using Config = ExponentialDelayConfig;
  // A back-off in ms, uniform in [low, high].
  using Draw = std::function<std::int64_t(std::int64_t low, std::int64_t high)>;

  // Times are whole milliseconds, as in Flink. The clock outlives this.
  ExponentialDelayRestartBackoffTimeStrategy(const Clock& clock, const Config& config, Draw draw);

  void notify_failure() override;
  [[nodiscard]] bool can_restart() const override { return attempt_ <= config_.attempts; }
  // Requires: a failure has been notified.
  [[nodiscard]] Duration backoff_time() const override;
  // Whether the last failure was not one of an attempt that was still to come.
  [[nodiscard]] bool is_new_attempt() const { return is_new_attempt_; }

 private:
  [[nodiscard]] std::int64_t next_backoff_ms() const;

  const Clock& clock_;
  Config config_;
  Draw draw_;
  std::optional<Time> next_restart_;
  std::int64_t attempt_ = 0;
  bool is_new_attempt_ = false;
};

}  // namespace tailrace::engine::f120
