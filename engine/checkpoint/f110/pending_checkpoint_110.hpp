// A checkpoint that has been triggered and is not yet complete.
//
// Flink 1.10 PendingCheckpoint (spec coordinator.md 1.2, 4.1).
//
// Invariants
//   P1  Between construction and `dispose`, acknowledged + missing = tasks.
//   P2  After `dispose` nothing is recorded any more, and the promise has been kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/checkpoint/scheduled_executor.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/checkpoint/tasks_to_acknowledge.hpp"
#include "engine/state/f110/shared_state_registry_110.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

class PendingCheckpoint110 {
 public:
  using Task = TaskToAcknowledge;
  enum class AcknowledgeResult : std::uint8_t { SUCCESS, DUPLICATE, UNKNOWN, DISCARDED };

  // Requires: tasks is not empty, no attempt occurs twice.
  PendingCheckpoint110(CheckpointMetaData meta, CheckpointProperties properties,
                       CheckpointStorageLocation location, std::vector<Task> tasks,
                       std::vector<std::string> master_hooks);

  [[nodiscard]] CheckpointId id() const { return meta_.id; }
  [[nodiscard]] const CheckpointMetaData& meta() const { return meta_; }
  [[nodiscard]] const CheckpointProperties& properties() const { return properties_; }
  [[nodiscard]] const CheckpointStorageLocation& location() const { return location_; }
  // As they travel with the triggers.
  [[nodiscard]] CheckpointOptions options() const;
  [[nodiscard]] std::int32_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::int32_t missing() const { return missing_; }
  [[nodiscard]] bool is_discarded() const { return discarded_; }
  [[nodiscard]] bool is_fully_acknowledged() const { return !discarded_ && missing_ == 0; }
  [[nodiscard]] bool are_master_states_fully_acknowledged() const { return master_hooks_.empty(); }
  [[nodiscard]] bool is_acknowledged_by(ExecutionAttemptId attempt) const;
  // As far as they have been collected.
  [[nodiscard]] const OperatorStates& operator_states() const { return operator_states_; }
  [[nodiscard]] const std::vector<MasterState>& master_states() const { return master_states_; }
  // Null for an attempt that is not part of this checkpoint.
  [[nodiscard]] const Task* find_task(ExecutionAttemptId attempt) const {
    return tasks_.find(attempt);
  }

  // The result of the checkpoint, for whoever asked for it.
  void set_done(CheckpointDone done) {
    done_ = std::move(done);
    has_listener_ = true;
  }
  // Whether somebody still waits for the result: not while the trigger phase lasts.
  [[nodiscard]] bool has_listener() const { return has_listener_; }
  // False: it is discarded, and the caller cancels the timer. A second one is a broken invariant
  //
  [[nodiscard]] bool set_canceller(ScheduledExecutor::TaskId canceller);
  [[nodiscard]] ScheduledExecutor::TaskId canceller() const { return canceller_; }

  // Records the state of a subtask: a null one only counts. Takes it on SUCCESS only.
  // Cost: that of TasksToAcknowledge::find, and no allocation.
  AcknowledgeResult acknowledge_task(ExecutionAttemptId attempt,
                                     std::shared_ptr<const TaskStateSnapshot>&& state);
  // Requires: `hook` is awaited.
  void acknowledge_master_state(const std::string& hook, std::optional<MasterState> state);

  // Enters what the tasks have reported so far into the states of their operators. Flink does so with
  // each acknowledgement; nobody looks at them before the end.
  void collect_states();
  // Registers what the collected states share (spec 4.3). Returns: the error, after which part of
  // it is registered.
  [[nodiscard]] std::optional<std::string> register_shared_states(
      SharedStateRegistry110& registry) {
    return shares_state_ ? registry.register_all(operator_states_) : std::nullopt;
  }
  // What is found out about the states when their metadata is put together.
  void set_inventory(std::unique_ptr<const StateInventory> inventory) {
    inventory_ = KnownInventory(std::move(inventory));
  }
  // Requires: fully acknowledged and collected; the metadata has been written. Keeps the promise,
  // reports to the statistics and disposes this without deleting any state.
  CompletedCheckpointPtr finalize_checkpoint(JobId job, std::int64_t now_ms,
                                             CheckpointStatsTracker& stats_tracker);
  // Breaks the promise, if it was not before. Requires: not discarded.
  void fail(CheckpointFailureReason reason);
  // Requires: not discarded. Deletes what was collected and gives the location up.
  void dispose(CheckpointStorage& storage, SharedStateRegistry110& registry);

 private:
  void release();

  CheckpointMetaData meta_;
  CheckpointProperties properties_;
  CheckpointStorageLocation location_;
  TasksToAcknowledge tasks_;
  std::vector<std::string> master_hooks_;  // awaited
  OperatorStates operator_states_;
  KnownInventory inventory_;  // of these
  std::vector<MasterState> master_states_;
  CheckpointDone done_;
  ScheduledExecutor::TaskId canceller_ = 0;
  std::int32_t acknowledged_ = 0;  // -1 when disposed; then none is missing, either
  std::int32_t missing_ = 0;
  bool shares_state_ = false;  // something that was acknowledged does
  bool discarded_ = false;
  bool has_listener_ = false;
};

}  // namespace tailrace::engine
