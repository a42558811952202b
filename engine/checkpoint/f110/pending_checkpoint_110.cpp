#include "engine/checkpoint/f110/pending_checkpoint_110.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

PendingCheckpoint110::PendingCheckpoint110(CheckpointMetaData meta, CheckpointProperties properties,
                                           CheckpointStorageLocation location,
                                           std::vector<Task> tasks,
                                           std::vector<std::string> master_hooks)
    : meta_(meta),
      properties_(properties),
      location_(std::move(location)),
      tasks_(std::move(tasks)),
      master_hooks_(std::move(master_hooks)),
      missing_(static_cast<std::int32_t>(tasks_.size())) {
  TAILRACE_ASSERT(!tasks_.empty());
  std::sort(tasks_.begin(), tasks_.end(),
            [](const Task& a, const Task& b) { return a.attempt < b.attempt; });
  TAILRACE_ASSERT(
      std::adjacent_find(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
        return a.attempt == b.attempt;
      }) == tasks_.end());
}

CheckpointOptions PendingCheckpoint110::options() const {
  // Checkpoints go to the default place, which every task knows; only a savepoint names its own.
  return {properties_.type, properties_.is_savepoint() ? location_.directory : std::string()};
}

const PendingCheckpoint110::Task* PendingCheckpoint110::find_task(
    ExecutionAttemptId attempt) const {
  const auto found = std::lower_bound(
      tasks_.begin(), tasks_.end(), attempt,
      [](const Task& task, ExecutionAttemptId wanted) { return task.attempt < wanted; });
  return found != tasks_.end() && found->attempt == attempt ? &*found : nullptr;
}

bool PendingCheckpoint110::is_acknowledged_by(ExecutionAttemptId attempt) const {
  const Task* task = find_task(attempt);
  return task == nullptr || task->acknowledged;
}

void PendingCheckpoint110::set_canceller(ScheduledExecutor::TaskId canceller) {
  TAILRACE_ASSERT(canceller_ == 0);
  canceller_ = canceller;
}

PendingCheckpoint110::AcknowledgeResult PendingCheckpoint110::acknowledge_task(
    ExecutionAttemptId attempt, const TaskStateSnapshot* state) {
  if (discarded_) return AcknowledgeResult::DISCARDED;
  const Task* found = find_task(attempt);
  if (found == nullptr) return AcknowledgeResult::UNKNOWN;
  if (found->acknowledged) return AcknowledgeResult::DUPLICATE;
  tasks_[static_cast<std::size_t>(found - tasks_.data())].acknowledged = true;
  ++acknowledged_;
  --missing_;
  TAILRACE_ASSERT(acknowledged_ + missing_ == static_cast<std::int32_t>(tasks_.size()));  // P1
  if (state == nullptr) return AcknowledgeResult::SUCCESS;

  const ExecutionVertexAccess& vertex = *found->vertex;
  for (const OperatorId& id : vertex.operator_ids()) {
    OperatorState& operator_state =
        operator_states_
            .try_emplace(id, OperatorState{id, vertex.parallelism(), vertex.max_parallelism(), {}})
            .first->second;
    const auto reported = state->operators.find(id);
    operator_state.subtasks[vertex.subtask()] =
        reported == state->operators.end() ? OperatorSubtaskState{} : reported->second;
  }
  return AcknowledgeResult::SUCCESS;
}

void PendingCheckpoint110::acknowledge_master_state(const std::string& hook,
                                                    std::optional<MasterState> state) {
  const auto found = std::find(master_hooks_.begin(), master_hooks_.end(), hook);
  TAILRACE_ASSERT(found != master_hooks_.end());
  master_hooks_.erase(found);
  if (state.has_value()) master_states_.push_back(std::move(*state));
}

CompletedCheckpointPtr PendingCheckpoint110::finalize_checkpoint(
    JobId job, std::int64_t now_ms, CheckpointStatsTracker& stats_tracker) {
  TAILRACE_ASSERT(is_fully_acknowledged() && are_master_states_fully_acknowledged());
  auto completed = std::make_shared<CompletedCheckpoint>();
  completed->job = job;
  completed->id = meta_.id;
  completed->timestamp_ms = meta_.timestamp_ms;
  completed->completion_ms = now_ms;
  completed->operator_states = std::move(operator_states_);
  completed->master_states = std::move(master_states_);
  completed->properties = properties_;
  completed->location = location_;
  has_listener_ = false;
  CheckpointDone done = std::exchange(done_, {});
  if (done) done(CompletedCheckpointPtr(completed));
  completed->statistics =
      stats_tracker.report_completed_checkpoint(meta_.id, completed->external_pointer());
  release();
  return completed;
}

void PendingCheckpoint110::fail(CheckpointFailureReason reason) {
  TAILRACE_ASSERT(!discarded_);
  has_listener_ = false;
  CheckpointDone done = std::exchange(done_, {});
  if (done) done(base::Failure{reason});
}

void PendingCheckpoint110::dispose(CheckpointStorage& storage) {
  TAILRACE_ASSERT(!discarded_);
  std::vector<std::string> paths;
  append_private_files(operator_states_, paths);
  for (const std::string& path : paths) storage.discard_file(path);
  storage.dispose_on_failure(meta_.id, location_);
  release();
}

void PendingCheckpoint110::release() {
  discarded_ = true;
  acknowledged_ = -1;
  operator_states_.clear();
  master_states_.clear();
}

}  // namespace tailrace::engine
