// What state a task starts from, and where its snapshots go.
//
// Flink 1.10 TaskStateManagerImpl, PrioritizedOperatorSubtaskState (spec state.md 7.1, 7.2). There is
// no local recovery yet, so an operator has one alternative of each kind: what the job manager sent.
#pragma once

#include <memory>
#include <vector>

#include "engine/checkpoint/messages.hpp"
#include "engine/ids.hpp"
#include "engine/state/checkpoint_responder.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

// For each kind of state its alternatives, the most wanted first; the job manager's is the last.
struct PrioritizedOperatorSubtaskState {
  bool restored = false;
  std::vector<std::vector<KeyedStateHandlePtr>> managed_keyed;
  std::vector<std::vector<OperatorStateHandle>> managed_operator;
};

class TaskStateManagerImpl {
 public:
  // `restore` is null if the task starts fresh. Requires: the responder outlives this.
  TaskStateManagerImpl(JobId job, ExecutionAttemptId attempt,
                       std::shared_ptr<const JobManagerTaskRestore> restore,
                       CheckpointResponder& responder);

  // 1.10: an operator of which the checkpoint knows nothing is not restored.
  [[nodiscard]] PrioritizedOperatorSubtaskState prioritized_operator_state(OperatorId id) const;

  // Acknowledges. A snapshot without any state is reported as null.
  // Source: Flink 1.10 TaskStateManagerImpl.reportTaskStateSnapshots.
  void report_task_state_snapshots(CheckpointId checkpoint, const CheckpointMetrics& metrics,
                                   std::shared_ptr<const TaskStateSnapshot> state);

 private:
  JobId job_;
  ExecutionAttemptId attempt_;
  std::shared_ptr<const JobManagerTaskRestore> restore_;
  CheckpointResponder& responder_;
};

}  // namespace tailrace::engine
