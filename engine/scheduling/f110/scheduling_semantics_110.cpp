#include <limits>

#include "engine/scheduling/scheduling_semantics.hpp"

namespace tailrace::engine {

const SchedulingSemantics& scheduling_semantics_110() {
  using Kind = RestartStrategyConfig::Kind;
  static constexpr SchedulingSemantics kSemantics{
      .restart = {.unset_with_checkpoints = {.kind = Kind::kFixedDelay,
                                             .fixed_delay_attempts =
                                                 std::numeric_limits<std::int32_t>::max(),
                                             .fixed_delay = Duration::seconds(1)},
                  .failure_rate = {.tolerates_the_maximum = false}},
      .make_stop_handler = &make_stop_handler_110,
      .global_failover_scope = RestoreScope::SUBTASKS,
      .state_assignment = {},
      .checkpoints_at_end_of_data = false,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
