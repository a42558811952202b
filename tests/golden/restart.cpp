// Replays golden/restart/restart_backoff.jsonl: whether and when a job restarts, with the strategies
// of 1.20.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/scheduling/f120/exponential_delay_restart_backoff_time_strategy.hpp"
#include "engine/scheduling/restart_backoff_time_strategy.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using engine::Duration;
using engine::Time;
using Exponential = engine::f120::ExponentialDelayRestartBackoffTimeStrategy;

struct SetClock final : engine::Clock {
  [[nodiscard]] Time now() const override { return time; }
  Time time{};
};

Duration millis(const Json& number) {
  const auto ms = number.get<std::int64_t>();
  if (ms < 0 || ms > std::int64_t{1} << 42) throw MalformedCase("ms: " + std::to_string(ms));
  return Duration::millis(ms);
}

class RestartReplay {
 public:
  explicit RestartReplay(const Json& line) {
    clock_.time = Time{} + millis(line.at("start"));
    const Json& config = line.at("config");
    const auto& strategy = config.at("strategy").get_ref<const std::string&>();
    if (strategy == "fixed-delay") {
      strategy_ = std::make_unique<engine::FixedDelayRestartBackoffTimeStrategy>(
          config.at("attempts").get<std::int32_t>(), millis(config.at("delay")));
    } else if (strategy == "failure-rate") {
      const auto most = config.at("maxFailuresPerInterval").get<std::int32_t>();
      if (most < 1) throw MalformedCase("maxFailuresPerInterval: " + std::to_string(most));
      strategy_ = std::make_unique<engine::FailureRateRestartBackoffTimeStrategy>(
          clock_, most, millis(config.at("interval")), millis(config.at("delay")),
          engine::FailureRateRestartBackoffTimeStrategy::Semantics{.tolerates_the_maximum = true});
    } else if (strategy == "exponential-delay") {
      auto made = std::make_unique<Exponential>(
          clock_,
          Exponential::Config{.initial_backoff = millis(config.at("initial")),
                              .max_backoff = millis(config.at("max")),
                              .multiplier = config.at("multiplier").get<double>(),
                              .reset_threshold = millis(config.at("reset")),
                              .jitter = config.at("jitter").get<double>(),
                              .attempts = config.at("attempts").get<std::int32_t>()},
          // The draw is input: what was recorded, if it can have been drawn.
          [this](std::int64_t low, std::int64_t high) {
            return std::clamp(recorded_backoff_, low, high);
          });
      exponential_ = made.get();
      strategy_ = std::move(made);
    } else {
      throw MalformedCase("unknown strategy: " + strategy);
    }
  }

  void run(const Json& step, const std::string& where) {
    clock_.time = clock_.time + millis(step.at("advance"));
    expect_equal(where + "now", step.at("now"), (clock_.time - Time{}).millis_truncated());
    const Json backoff = step.value("backoff", Json());
    recorded_backoff_ = backoff.is_number() ? backoff.get<std::int64_t>() : 0;
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "failure") {
      strategy_->notify_failure();
      notified_ = true;
      expect_equal(where + "newAttempt", step.at("newAttempt"),
                   exponential_ == nullptr || exponential_->is_new_attempt());
    } else if (op != "look") {
      throw MalformedCase("unknown step: " + op);
    }
    expect_equal(where + "canRestart", step.at("canRestart"), strategy_->can_restart());
    // Flink refuses to name a back-off before there is something to back off from.
    const bool has_backoff = notified_ || exponential_ == nullptr;
    expect_equal(where + "has a back-off", backoff.is_number(), has_backoff);
    if (has_backoff) {
      expect_equal(where + "backoff", backoff, strategy_->backoff_time().millis_truncated());
    }
  }

 private:
  SetClock clock_;
  std::unique_ptr<engine::RestartBackoffTimeStrategy> strategy_;
  const Exponential* exponential_ = nullptr;  // if it is one
  bool notified_ = false;
  std::int64_t recorded_backoff_ = 0;
};

void replay_restart(const Json& line) {
  RestartReplay replay(line);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    replay.run(step, "step " + std::to_string(number++) + ": ");
  }
}

const Registration kRestart("restart/restart_backoff.jsonl", &replay_restart);

}  // namespace
}  // namespace tailrace::golden
