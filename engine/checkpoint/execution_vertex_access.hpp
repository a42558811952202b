// What the checkpoint coordinator sees of the execution graph.
//
// ExecutionVertex and Execution of Flink 1.10 and 1.20, as far as the coordinator uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

// How the trigger message ended: none, the task manager has it; else what Flink 1.20 makes of the
// failed call (TASK_CHECKPOINT_FAILURE: the task is unknown there).
using TriggerAnswered = base::InplaceFunction<void(std::optional<CheckpointFailureReason>)>;

class ExecutionVertexAccess {
 public:
  [[nodiscard]] virtual JobVertexId job_vertex_id() const = 0;
  [[nodiscard]] virtual std::int32_t vertex_index() const = 0;
  [[nodiscard]] virtual std::int32_t subtask() const = 0;
  [[nodiscard]] virtual std::int32_t parallelism() const = 0;
  [[nodiscard]] virtual std::int32_t max_parallelism() const = 0;
  // Of the chain, tail first (S-1.7).
  [[nodiscard]] virtual const std::vector<OperatorId>& operator_ids() const = 0;

  // The current attempt, if there is one.
  [[nodiscard]] virtual std::optional<ExecutionAttemptId> current_attempt() const = 0;
  // How often the subtask was started before. Requires: current_attempt().
  [[nodiscard]] virtual std::int32_t attempt_number() const = 0;
  // Requires: current_attempt().
  [[nodiscard]] virtual ExecutionState state() const = 0;

  // Sends to the current attempt's task manager; silently nothing without an assigned slot.
  // `advance_to_end_of_event_time` is 1.10's, `answered` (may be empty) 1.20's.
  virtual void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                                  bool advance_to_end_of_event_time, TriggerAnswered answered) = 0;
  // `last_subsumed`: 1.20, R-4.14; kNoCheckpoint: none.
  virtual void notify_checkpoint_complete(const CheckpointMetaData& meta,
                                          CheckpointId last_subsumed) = 0;
  // 1.20, R-4.13. `latest_completed`: 0 if none.
  virtual void notify_checkpoint_aborted(const CheckpointMetaData& meta,
                                         CheckpointId latest_completed) = 0;

 protected:
  ~ExecutionVertexAccess() = default;
};

}  // namespace tailrace::engine
