#include "engine/scheduling/scheduling_semantics.hpp"

namespace tailrace::engine {

const SchedulingSemantics& scheduling_semantics_120() {
  using Kind = RestartStrategyConfig::Kind;
  static constexpr SchedulingSemantics kSemantics{
      .restart = {.unset_with_checkpoints = {.kind = Kind::kExponentialDelay},
                  .failure_rate = {.tolerates_the_maximum = true}},
      .make_stop_handler = &make_stop_handler_120,
      .global_failover_scope = RestoreScope::ALL,
      .state_assignment = kStateAssignment120,
      .checkpoints_at_end_of_data = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
