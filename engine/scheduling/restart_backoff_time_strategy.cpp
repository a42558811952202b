#include "engine/scheduling/restart_backoff_time_strategy.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::unique_ptr<RestartBackoffTimeStrategy> make_restart_strategy(
    const RestartStrategyConfig& config, bool checkpointing_enabled, const Clock& clock) {
  using Kind = RestartStrategyConfig::Kind;
  switch (config.kind) {
    case Kind::kUnset:
      if (!checkpointing_enabled) return std::make_unique<NoRestartBackoffTimeStrategy>();
      return std::make_unique<FixedDelayRestartBackoffTimeStrategy>(
          std::numeric_limits<std::int32_t>::max(), Duration::seconds(1));
    case Kind::kNone:
      return std::make_unique<NoRestartBackoffTimeStrategy>();
    case Kind::kFixedDelay:
      return std::make_unique<FixedDelayRestartBackoffTimeStrategy>(config.fixed_delay_attempts,
                                                                    config.fixed_delay);
    case Kind::kFailureRate:
      return std::make_unique<FailureRateRestartBackoffTimeStrategy>(
          clock, config.failure_rate_max_failures, config.failure_rate_interval,
          config.failure_rate_delay, FailureRateRestartBackoffTimeStrategy::Semantics{});
  }
  TAILRACE_ASSERT(false);
  return nullptr;
}

}  // namespace tailrace::engine
