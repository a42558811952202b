// What the default scheduler does differently in the two generations, where it is small; and what
// makes the rest.
//
// Made by engine/generation.hpp.
#pragma once

#include <memory>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/rescale/state_assignment_operation.hpp"
#include "engine/scheduling/restart_backoff_time_strategy.hpp"
#include "engine/scheduling/stop_with_savepoint_termination_handler.hpp"

namespace tailrace::engine {

struct SchedulingSemantics {
  RestartStrategySemantics restart;
  std::unique_ptr<StopWithSavepointTerminationHandler> (*make_stop_handler)(
      StopWithSavepointOperations& operations, StopDone done);
  // What a restart of all vertices after a global failure restores.
  RestoreScope global_failover_scope;
  StateAssignmentOperation::Semantics state_assignment;
  // Whether the job manager takes one more checkpoint when all tasks have reached the end of their
  // data.
  bool checkpoints_at_end_of_data;
};

[[nodiscard]] const SchedulingSemantics& scheduling_semantics_110();
[[nodiscard]] const SchedulingSemantics& scheduling_semantics_120();

}  // namespace tailrace::engine
