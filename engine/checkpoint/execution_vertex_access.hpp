// What the checkpoint coordinator sees of the execution graph.
//
// Flink 1.10 ExecutionVertex and Execution, as far as the coordinator uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

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
  virtual void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                                  bool advance_to_end_of_event_time) = 0;
  virtual void notify_checkpoint_complete(const CheckpointMetaData& meta) = 0;

 protected:
  ~ExecutionVertexAccess() = default;
};

}  // namespace tailrace::engine
