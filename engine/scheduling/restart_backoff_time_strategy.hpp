// Whether and when to restart after a failure.
//
// Flink 1.10 RestartBackoffTimeStrategy and its implementations (spec rescale.md 6.2). For each
// failure: notify_failure, then can_restart, then backoff_time. Failures of tasks and of the whole
// job count alike.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>

#include "engine/ports.hpp"

namespace tailrace::engine {

class RestartBackoffTimeStrategy {
 public:
  virtual ~RestartBackoffTimeStrategy() = default;

  virtual void notify_failure() = 0;
  [[nodiscard]] virtual bool can_restart() const = 0;
  [[nodiscard]] virtual Duration backoff_time() const = 0;
};

class NoRestartBackoffTimeStrategy final : public RestartBackoffTimeStrategy {
 public:
  void notify_failure() override {}
  [[nodiscard]] bool can_restart() const override { return false; }
  [[nodiscard]] Duration backoff_time() const override { return Duration{0}; }
};

// Tolerates `attempts` failures in the life of the job.
class FixedDelayRestartBackoffTimeStrategy final : public RestartBackoffTimeStrategy {
 public:
  FixedDelayRestartBackoffTimeStrategy(std::int32_t attempts, Duration delay)
      : attempts_(attempts), delay_(delay) {}

  void notify_failure() override { ++failures_; }
  [[nodiscard]] bool can_restart() const override { return failures_ <= attempts_; }
  [[nodiscard]] Duration backoff_time() const override { return delay_; }

 private:
  std::int64_t attempts_;
  Duration delay_;
  std::int64_t failures_ = 0;
};

// Flink 1.10 tolerates one failure less per interval than its option says (S-6.11).
class FailureRateRestartBackoffTimeStrategy final : public RestartBackoffTimeStrategy {
 public:
  struct Semantics {
    // 1.20: as many failures as the option says.
    bool tolerates_the_maximum = false;
  };

  // Requires: max_failures >= 1.
  FailureRateRestartBackoffTimeStrategy(const Clock& clock, std::int32_t max_failures,
                                        Duration interval, Duration delay, Semantics semantics)
      : clock_(clock),
        capacity_(static_cast<std::size_t>(max_failures) +
                  (semantics.tolerates_the_maximum ? 1U : 0U)),
        interval_(interval),
        delay_(delay) {}

  void notify_failure() override {
    if (is_full()) failures_.pop_front();
    failures_.push_back(clock_.now());
  }
  [[nodiscard]] bool can_restart() const override {
    return !is_full() || clock_.now() - failures_.front() > interval_;
  }
  [[nodiscard]] Duration backoff_time() const override { return delay_; }

 private:
  [[nodiscard]] bool is_full() const { return failures_.size() >= capacity_; }

  const Clock& clock_;
  std::size_t capacity_;
  Duration interval_;
  Duration delay_;
  std::deque<Time> failures_;
};

// Keys `restart-strategy.exponential-delay.*` of 1.20.
struct ExponentialDelayConfig {
  Duration initial_backoff = Duration::seconds(1);
  Duration max_backoff = Duration::seconds(60);
  double multiplier = 1.5;
  Duration reset_threshold = Duration::seconds(3600);
  double jitter = 0.1;  // part of the backoff that is drawn, both ways
  std::int32_t attempts = std::numeric_limits<std::int32_t>::max();
};

// Keys `restart-strategy`, `restart-strategy.fixed-delay.*`, `restart-strategy.failure-rate.*`,
// `restart-strategy.exponential-delay.*` (1.20), with their defaults.
struct RestartStrategyConfig {
  enum class Kind : std::uint8_t {
    kUnset,  // with checkpointing what RestartStrategySemantics says; else none (S-6.7)
    kNone,
    kFixedDelay,
    kFailureRate,
    kExponentialDelay,
  };
  Kind kind = Kind::kUnset;
  std::int32_t fixed_delay_attempts = 1;
  Duration fixed_delay = Duration::seconds(1);
  std::int32_t failure_rate_max_failures = 1;
  Duration failure_rate_interval = Duration::seconds(60);
  Duration failure_rate_delay = Duration::seconds(1);
  ExponentialDelayConfig exponential_delay = {};
};

// Where the generations differ.
struct RestartStrategySemantics {
  RestartStrategyConfig unset_with_checkpoints;
  FailureRateRestartBackoffTimeStrategy::Semantics failure_rate;
};

// `random` draws the jitter of an exponential delay, from the stream `restart.backoff`.
[[nodiscard]] std::unique_ptr<RestartBackoffTimeStrategy> make_restart_strategy(
    const RestartStrategyConfig& config, bool checkpointing_enabled,
    const RestartStrategySemantics& semantics, const Clock& clock, RandomDraws& random);

}  // namespace tailrace::engine
