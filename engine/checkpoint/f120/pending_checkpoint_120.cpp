#include "engine/checkpoint/f120/pending_checkpoint_120.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

PendingCheckpoint120::PendingCheckpoint120(CheckpointMetaData meta, CheckpointPlan plan,
                                           std::vector<CoordinatorInfo> coordinators,
                                           std::vector<std::string> master_hooks,
                                           CheckpointProperties properties, CheckpointDone done)
    : meta_(meta),
      plan_(std::move(plan)),
      coordinators_(coordinators),
      all_coordinators_(std::move(coordinators)),
      master_hooks_(std::move(master_hooks)),
      properties_(properties),
      done_(std::move(done)),
      missing_(static_cast<std::int32_t>(plan_.tasks_to_wait_for.size())) {
  TAILRACE_ASSERT(missing_ > 0);
  tasks_.reserve(plan_.tasks_to_wait_for.size());
  for (ExecutionVertexAccess* vertex : plan_.tasks_to_wait_for) {
    tasks_.push_back({*vertex->current_attempt(), vertex, vertex->attempt_number(), false, {}});
  }
  std::sort(tasks_.begin(), tasks_.end(),
            [](const Task& a, const Task& b) { return a.attempt < b.attempt; });
}

const PendingCheckpoint120::Task* PendingCheckpoint120::find_task(
    ExecutionAttemptId attempt) const {
  const auto found = std::lower_bound(
      tasks_.begin(), tasks_.end(), attempt,
      [](const Task& task, ExecutionAttemptId wanted) { return task.attempt < wanted; });
  return found != tasks_.end() && found->attempt == attempt ? &*found : nullptr;
}

bool PendingCheckpoint120::is_acknowledged_by(ExecutionAttemptId attempt) const {
  const Task* task = find_task(attempt);
  return task == nullptr || task->acknowledged;
}

PendingCheckpoint120::Places PendingCheckpoint120::places() const {
  Places places;
  places.reserve(tasks_.size());
  for (const Task& task : tasks_) {
    places.push_back({task.attempt, task.vertex->vertex_index(), task.vertex->subtask()});
  }
  return places;
}

bool PendingCheckpoint120::set_canceller(ScheduledExecutor::TaskId canceller) {
  TAILRACE_ASSERT(canceller_ == 0);
  if (disposed_) return false;
  canceller_ = canceller;
  return true;
}

PendingCheckpoint120::AcknowledgeResult PendingCheckpoint120::acknowledge_task(
    ExecutionAttemptId attempt, std::shared_ptr<const TaskStateSnapshot> state) {
  if (disposed_) return AcknowledgeResult::DISCARDED;
  const Task* found = find_task(attempt);
  if (found == nullptr) return AcknowledgeResult::UNKNOWN;
  Task& task = tasks_[static_cast<std::size_t>(found - tasks_.data())];
  if (task.acknowledged) return AcknowledgeResult::DUPLICATE;
  task.acknowledged = true;
  if (state != nullptr) {
    if (state->is_task_deployed_as_finished) {
      plan_.report_task_finished_on_restore(*task.vertex);
    } else if (state->is_task_finished) {
      plan_.report_task_has_finished_operators(*task.vertex);
    }
  }
  task.state = std::move(state);
  ++acknowledged_;
  --missing_;
  TAILRACE_ASSERT(acknowledged_ + missing_ == static_cast<std::int32_t>(tasks_.size()));  // P1
  return AcknowledgeResult::SUCCESS;
}

PendingCheckpoint120::AcknowledgeResult PendingCheckpoint120::acknowledge_coordinator_state(
    OperatorId id, std::optional<std::vector<std::byte>> state) {
  if (disposed_) return AcknowledgeResult::DISCARDED;
  const auto is_it = [id](const CoordinatorInfo& info) { return info.id == id; };
  const auto awaited = std::find_if(coordinators_.begin(), coordinators_.end(), is_it);
  if (awaited == coordinators_.end()) {
    const bool known = std::any_of(all_coordinators_.begin(), all_coordinators_.end(), is_it);
    return known ? AcknowledgeResult::DUPLICATE : AcknowledgeResult::UNKNOWN;
  }
  const CoordinatorInfo info = *awaited;
  coordinators_.erase(awaited);
  OperatorState& entry =
      operator_states_
          .try_emplace(id, OperatorState{id, info.parallelism, info.max_parallelism, {}})
          .first->second;
  if (entry.coordinator_state.has_value()) return AcknowledgeResult::DUPLICATE;
  entry.coordinator_state = std::move(state);
  return AcknowledgeResult::SUCCESS;
}

void PendingCheckpoint120::acknowledge_master_state(const std::string& hook,
                                                    std::optional<MasterState> state) {
  if (disposed_) return;
  const auto found = std::find(master_hooks_.begin(), master_hooks_.end(), hook);
  TAILRACE_ASSERT(found != master_hooks_.end());
  master_hooks_.erase(found);
  if (state.has_value()) master_states_.push_back(std::move(*state));
}

std::optional<CheckpointFailureReason> PendingCheckpoint120::collect_states() {
  TAILRACE_ASSERT(is_fully_acknowledged());
  for (const Task& task : tasks_) {
    // Without any state an operator has an entry all the same.
    if (task.state != nullptr && task.state->is_task_deployed_as_finished) continue;
    const ExecutionVertexAccess& vertex = *task.vertex;
    for (const OperatorId& id : vertex.operator_ids()) {
      OperatorState& entry =
          operator_states_
              .try_emplace(id,
                           OperatorState{id, vertex.parallelism(), vertex.max_parallelism(), {}})
              .first->second;
      if (task.state == nullptr) continue;
      const auto reported = task.state->operators.find(id);
      if (reported != task.state->operators.end()) {
        entry.subtasks.insert_or_assign(vertex.subtask(), reported->second);
      }
    }
  }
  return plan_.fulfill_finished_task_status(operator_states_);
}

CompletedCheckpointPtr PendingCheckpoint120::to_completed(JobId job, std::int64_t now_ms) {
  auto completed = std::make_shared<CompletedCheckpoint>();
  completed->job = job;
  completed->id = meta_.id;
  completed->timestamp_ms = meta_.timestamp_ms;
  completed->completion_ms = now_ms;
  completed->operator_states = std::move(operator_states_);
  completed->master_states = std::move(master_states_);
  completed->properties = properties_;
  completed->location = *location_;
  completed->statistics = statistics_;
  return completed;
}

void PendingCheckpoint120::succeed(CompletedCheckpointPtr completed) {
  if (!done_) return;
  CheckpointDone once = std::move(done_);
  done_.reset();
  once(std::move(completed));
}

void PendingCheckpoint120::fail(CheckpointFailureReason reason) {
  if (!done_) return;
  CheckpointDone once = std::move(done_);
  done_.reset();
  once(base::Failure{reason});
}

void PendingCheckpoint120::dispose() {
  TAILRACE_ASSERT(!disposed_);
  disposed_ = true;
  acknowledged_ = -1;
}

void PendingCheckpoint120::append_private_files(std::vector<std::string>& paths) const {
  for (const Task& task : tasks_) {
    if (task.state != nullptr) task.state->append_private_files(paths);
  }
}

}  // namespace tailrace::engine
