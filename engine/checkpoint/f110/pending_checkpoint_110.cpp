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
  TAILRACE_ASSERT(missing_ > 0);
}

CheckpointOptions PendingCheckpoint110::options() const {
  // Checkpoints go to the default place, which every task knows; only a savepoint names its own.
  return {properties_.type, properties_.is_savepoint() ? location_.directory : std::string()};
}

bool PendingCheckpoint110::is_acknowledged_by(ExecutionAttemptId attempt) const {
  const Task* task = find_task(attempt);
  return task == nullptr || task->acknowledged;
}

bool PendingCheckpoint110::set_canceller(ScheduledExecutor::TaskId canceller) {
  TAILRACE_ASSERT(canceller_ == 0);
  if (discarded_) return false;
  canceller_ = canceller;
  return true;
}

PendingCheckpoint110::AcknowledgeResult PendingCheckpoint110::acknowledge_task(
    ExecutionAttemptId attempt, std::shared_ptr<const TaskStateSnapshot> state) {
  if (discarded_) return AcknowledgeResult::DISCARDED;
  Task* task = tasks_.find(attempt);
  if (task == nullptr) return AcknowledgeResult::UNKNOWN;
  if (task->acknowledged) return AcknowledgeResult::DUPLICATE;
  task->acknowledged = true;
  task->state = std::move(state);
  ++acknowledged_;
  --missing_;
  TAILRACE_ASSERT(acknowledged_ + missing_ == static_cast<std::int32_t>(tasks_.size()));  // P1
  return AcknowledgeResult::SUCCESS;
}

void PendingCheckpoint110::collect_states() {
  for (Task& task : tasks_.all()) {
    const std::shared_ptr<const TaskStateSnapshot> state = std::exchange(task.state, nullptr);
    if (state == nullptr) continue;
    const ExecutionVertexAccess& vertex = *task.vertex;
    for (const OperatorId& id : vertex.operator_ids()) {
      auto entry = operator_states_.lower_bound(id);
      if (entry == operator_states_.end() || entry->first != id) {
        entry = operator_states_.emplace_hint(
            entry, id, OperatorState{id, vertex.parallelism(), vertex.max_parallelism(), {}});
      }
      const auto reported = state->operators.find(id);
      // The tasks come in the order of their subtasks, so that most belong to the end.
      auto& subtasks = entry->second.subtasks;
      subtasks.insert_or_assign(
          subtasks.end(), task.subtask,
          reported == state->operators.end() ? OperatorSubtaskState{} : reported->second);
    }
  }
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

void PendingCheckpoint110::dispose(CheckpointStorage& storage, SharedStateRegistry110& registry) {
  TAILRACE_ASSERT(!discarded_);
  collect_states();
  std::vector<std::string> paths;
  append_private_files(operator_states_, paths);
  for (const std::string& path : paths) storage.discard_file(path);
  registry.unregister_all(operator_states_);  // if it was registered, but could not be completed
  storage.dispose_on_failure(meta_.id, location_);
  release();
}

void PendingCheckpoint110::release() {
  discarded_ = true;
  acknowledged_ = -1;
  missing_ = 0;
  operator_states_.clear();
  master_states_.clear();
}

}  // namespace tailrace::engine
