// One attempt of one subtask.
//
// Flink 1.10 Execution (spec rescale.md S-1.1): plain data; ExecutionGraph moves it through its
// states.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/slot_pool.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

struct Execution {
  ExecutionAttemptId id;
  std::int32_t attempt_number = 0;
  ExecutionState state = ExecutionState::CREATED;
  std::optional<LogicalSlot> slot;  // assigned before DEPLOYING, given back in a terminal state
  // Where it runs or ran: known from the slot on, also when that has been given back.
  RpcAddress<TaskExecutorGateway> task_manager;
  std::shared_ptr<const JobManagerTaskRestore> restore;
  TimerId call_timeout;           // of the deployment or of a cancel call that is out; 0: none
  std::int32_t cancel_calls = 0;  // made so far
};

}  // namespace tailrace::engine
