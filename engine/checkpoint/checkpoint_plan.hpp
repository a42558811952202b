// Which tasks a checkpoint triggers, waits for and commits to.
//
// Flink 1.20 CheckpointPlan, DefaultCheckpointPlan (spec coordinator.md ).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"

namespace tailrace::engine {

// Tasks are in topological order of their vertices, within a vertex by subtask.
class CheckpointPlan {
 public:
  std::vector<ExecutionVertexAccess*> tasks_to_trigger;
  std::vector<ExecutionVertexAccess*> tasks_to_wait_for;
  std::vector<ExecutionVertexAccess*> tasks_to_commit_to;
  std::vector<ExecutionVertexAccess*> finished_tasks;
  std::vector<std::int32_t> fully_finished_vertices;  // indices into the job graph
  bool may_have_finished_tasks = false;               // checkpoints after tasks finish are on

  // The task was restored as finished, and so are all of its vertex.
  void report_task_finished_on_restore(const ExecutionVertexAccess& task);
  // All operators of the task have finished, though it still runs.
  void report_task_has_finished_operators(const ExecutionVertexAccess& task);
  // Enters what has finished into the states, at finalisation.
  // Errors: CHECKPOINT_DECLINED_TASK_CLOSING if a partly finished vertex uses union list state; the
  // states are as before.
  [[nodiscard]] std::optional<CheckpointFailureReason> fulfill_finished_task_status(
      OperatorStates& states) const;

 private:
  // What the reports are about, by index of the vertex.
  std::map<std::int32_t, const ExecutionVertexAccess*> finished_on_restore_;
  struct FinishedOperators {
    const ExecutionVertexAccess* task = nullptr;
    std::int32_t reports = 0;
  };
  std::map<std::int32_t, FinishedOperators> finished_operators_;
};

}  // namespace tailrace::engine
