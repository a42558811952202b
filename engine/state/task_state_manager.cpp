#include "engine/state/task_state_manager.hpp"

#include <utility>

namespace tailrace::engine {

TaskStateManagerImpl::TaskStateManagerImpl(JobId job, ExecutionAttemptId attempt,
                                           std::shared_ptr<const JobManagerTaskRestore> restore,
                                           CheckpointResponder& responder)
    : job_(job), attempt_(attempt), restore_(std::move(restore)), responder_(responder) {}

PrioritizedOperatorSubtaskState TaskStateManagerImpl::prioritized_operator_state(
    OperatorId id) const {
  PrioritizedOperatorSubtaskState result{false, {{}}, {{}}};
  if (restore_ == nullptr) return result;
  const auto found = restore_->snapshot.operators.find(id);
  if (found == restore_->snapshot.operators.end()) return result;
  return {true, {found->second.managed_keyed}, {found->second.managed_operator}};
}

void TaskStateManagerImpl::report_task_state_snapshots(
    CheckpointId checkpoint, const CheckpointMetrics& metrics,
    std::shared_ptr<const TaskStateSnapshot> state) {
  if (state != nullptr && !state->has_state()) state = nullptr;
  responder_.acknowledge({job_, attempt_, checkpoint, metrics, std::move(state)});
}

}  // namespace tailrace::engine
