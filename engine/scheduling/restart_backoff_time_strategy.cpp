#include "engine/scheduling/restart_backoff_time_strategy.hpp"

#include "engine/scheduling/f120/exponential_delay_restart_backoff_time_strategy.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::unique_ptr<RestartBackoffTimeStrategy> make_restart_strategy(
    const RestartStrategyConfig& config, bool checkpointing_enabled,
    const RestartStrategySemantics& semantics, const Clock& clock, RandomDraws& random) {
  using Kind = RestartStrategyConfig::Kind;
  switch (config.kind) {
    case Kind::kUnset:
      if (!checkpointing_enabled) return std::make_unique<NoRestartBackoffTimeStrategy>();
      TAILRACE_ASSERT(semantics.unset_with_checkpoints.kind != Kind::kUnset);
      return make_restart_strategy(semantics.unset_with_checkpoints, true, semantics, clock,
                                   random);
    case Kind::kNone:
      return std::make_unique<NoRestartBackoffTimeStrategy>();
    case Kind::kFixedDelay:
      return std::make_unique<FixedDelayRestartBackoffTimeStrategy>(config.fixed_delay_attempts,
                                                                    config.fixed_delay);
    case Kind::kFailureRate:
      return std::make_unique<FailureRateRestartBackoffTimeStrategy>(
          clock, config.failure_rate_max_failures, config.failure_rate_interval,
          config.failure_rate_delay, semantics.failure_rate);
    case Kind::kExponentialDelay:
      return std::make_unique<f120::ExponentialDelayRestartBackoffTimeStrategy>(
          clock, config.exponential_delay, [&random](std::int64_t low, std::int64_t high) {
            return random.uniform("restart.backoff", low, high);
          });
  }
  TAILRACE_ASSERT(false);
  return nullptr;
}

}  // namespace tailrace::engine
