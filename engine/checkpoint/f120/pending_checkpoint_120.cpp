#include "engine/checkpoint/f120/pending_checkpoint_120.hpp"

#include <algorithm>
#include <utility>

#include "engine/checkpoint/operator_state_collector.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

std::vector<TaskToAcknowledge> tasks_of(const CheckpointPlan& plan) {
  std::vector<TaskToAcknowledge> tasks;
  tasks.reserve(plan.tasks_to_wait_for.size());
  for (ExecutionVertexAccess* vertex : plan.tasks_to_wait_for) tasks.emplace_back(*vertex);
  return tasks;
}

}  // namespace

PendingCheckpoint120::PendingCheckpoint120(CheckpointMetaData meta, CheckpointPlan plan,
                                           std::vector<CoordinatorInfo> coordinators,
                                           std::vector<std::string> master_hooks,
                                           CheckpointProperties properties, CheckpointDone done)
    : meta_(meta),
      plan_(std::move(plan)),
      tasks_(tasks_of(plan_)),
      coordinators_(std::move(coordinators)),
      master_hooks_(std::move(master_hooks)),
      properties_(properties),
      done_(std::move(done)),
      missing_(static_cast<std::int32_t>(plan_.tasks_to_wait_for.size())) {
  TAILRACE_ASSERT(missing_ > 0);
}

bool PendingCheckpoint120::is_acknowledged_by(ExecutionAttemptId attempt) const {
  const Task* task = find_task(attempt);
  return task == nullptr || task->acknowledged;
}

PendingCheckpoint120::Places PendingCheckpoint120::places() const {
  Places places;
  places.reserve(tasks_.size());
  for (std::size_t rank = 0; rank < tasks_.size(); ++rank) {
    const Task& task = tasks_.by_attempt(rank);
    places.push_back({task.attempt, task.vertex_index, task.subtask});
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
    ExecutionAttemptId attempt, std::shared_ptr<const TaskStateSnapshot>&& state) {
  if (disposed_) return AcknowledgeResult::DISCARDED;
  Task* const found = tasks_.find(attempt);
  if (found == nullptr) return AcknowledgeResult::UNKNOWN;
  Task& task = *found;
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
    const auto known = operator_states_.find(id);
    const bool has_state =
        known != operator_states_.end() && known->second.coordinator_state.has_value();
    return has_state ? AcknowledgeResult::DUPLICATE : AcknowledgeResult::UNKNOWN;
  }
  const CoordinatorInfo info = *awaited;
  coordinators_.erase(awaited);
  OperatorState& entry =
      operator_states_
          .try_emplace(id, OperatorState{id, info.parallelism, info.max_parallelism, {}})
          .first->second;
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
  OperatorStateCollector collector(operator_states_);
  const std::span<const Task> tasks = std::as_const(tasks_).all();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    prefetch_ahead(tasks, i);
    const Task& task = tasks[i];
    // Without any state an operator has an entry all the same.
    if (task.state != nullptr && task.state->is_task_deployed_as_finished) continue;
    for (OperatorState* entry : collector.entries_of(task)) {
      if (task.state == nullptr) continue;
      ReportedState reported = state_of(task.state, entry->id);
      if (reported.state == nullptr) continue;
      entry->subtasks.share(task.subtask, std::move(reported.state), reported.sole_key_groups);
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
  completed->inventory = std::move(inventory_);
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
  missing_ = 0;
}

void PendingCheckpoint120::append_private_files(FileNames& paths) const {
  for (std::size_t rank = 0; rank < tasks_.size(); ++rank) {
    const Task& task = tasks_.by_attempt(rank);
    if (task.state != nullptr) task.state->append_private_files(paths);
  }
}

}  // namespace tailrace::engine
