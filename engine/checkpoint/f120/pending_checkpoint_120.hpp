// A checkpoint that has started and not ended.
//
// Flink 1.20 PendingCheckpoint (spec coordinator.md 1.2, R-1.4 to ).
//
// Invariants
//   P1  acknowledged + missing = tasks to wait for, until it is disposed.
//   P2  Whoever asked for it hears its end once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_plan.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/checkpoint/scheduled_executor.hpp"
#include "engine/checkpoint/stats/checkpoint_stats.hpp"
#include "engine/checkpoint/tasks_to_acknowledge.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

class PendingCheckpoint120 {
 public:
  using Task = TaskToAcknowledge;
  // Vertex and subtask of each attempt, sorted by attempt.
  struct Place {
    ExecutionAttemptId attempt;
    std::int32_t vertex = 0;
    std::int32_t subtask = 0;
  };
  using Places = std::vector<Place>;
  // An operator coordinator that takes part.
  struct CoordinatorInfo {
    OperatorId id;
    std::int32_t parallelism = 0;
    std::int32_t max_parallelism = 0;
  };
  enum class AcknowledgeResult : std::uint8_t { SUCCESS, DUPLICATE, UNKNOWN, DISCARDED };

  // Requires: the plan waits for at least one task, all of which have an attempt.
  PendingCheckpoint120(CheckpointMetaData meta, CheckpointPlan plan,
                       std::vector<CoordinatorInfo> coordinators,
                       std::vector<std::string> master_hooks, CheckpointProperties properties,
                       CheckpointDone done);

  [[nodiscard]] CheckpointId id() const { return meta_.id; }
  [[nodiscard]] const CheckpointMetaData& meta() const { return meta_; }
  [[nodiscard]] const CheckpointProperties& properties() const { return properties_; }
  [[nodiscard]] const CheckpointPlan& plan() const { return plan_; }
  // -1 once it is disposed.
  [[nodiscard]] std::int32_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::int32_t missing() const { return missing_; }
  [[nodiscard]] bool is_disposed() const { return disposed_; }
  [[nodiscard]] bool is_fully_acknowledged() const {
    return !disposed_ && missing_ == 0 && coordinators_.empty() && master_hooks_.empty();
  }
  [[nodiscard]] bool are_master_states_fully_acknowledged() const { return master_hooks_.empty(); }
  [[nodiscard]] bool is_acknowledged_by(ExecutionAttemptId attempt) const;
  //
  [[nodiscard]] bool can_be_subsumed() const { return !properties_.is_savepoint(); }
  // Why it was aborted. Requires: it was.
  [[nodiscard]] CheckpointFailureReason failure() const { return *failure_; }
  // Null for an attempt that is not part of this checkpoint.
  [[nodiscard]] const Task* find_task(ExecutionAttemptId attempt) const {
    return tasks_.find(attempt);
  }

  // As the tasks were told; before that as they would be.
  [[nodiscard]] const CheckpointOptions& options() const { return options_; }
  void set_options(CheckpointOptions options) { options_ = std::move(options); }

  [[nodiscard]] Places places() const;
  // Null until it is set; the completed checkpoint gets it, too.
  [[nodiscard]] const CheckpointStatsPtr& statistics() const { return statistics_; }
  void set_statistics(CheckpointStatsPtr statistics) { statistics_ = std::move(statistics); }

  // None until the storage has been initialised.
  [[nodiscard]] const std::optional<CheckpointStorageLocation>& location() const {
    return location_;
  }
  void set_location(CheckpointStorageLocation location) { location_ = std::move(location); }

  // False: it is disposed, and the caller cancels the timer. A second one is a broken invariant
  //
  [[nodiscard]] bool set_canceller(ScheduledExecutor::TaskId canceller);
  [[nodiscard]] ScheduledExecutor::TaskId canceller() const { return canceller_; }

  // Takes the state on SUCCESS only.
  // Cost: that of TasksToAcknowledge::find, and no allocation.
  AcknowledgeResult acknowledge_task(ExecutionAttemptId attempt,
                                     std::shared_ptr<const TaskStateSnapshot>&& state);
  // `state`: none counts, too; but of the same operator once more it is UNKNOWN then, and DUPLICATE
  // only after a state.
  AcknowledgeResult acknowledge_coordinator_state(OperatorId id,
                                                  std::optional<std::vector<std::byte>> state);
  // Ignored when disposed. Requires: `hook` is awaited.
  void acknowledge_master_state(const std::string& hook, std::optional<MasterState> state);

  // What has been collected, with what has finished.
  // Errors: CHECKPOINT_DECLINED_TASK_CLOSING.
  [[nodiscard]] std::optional<CheckpointFailureReason> collect_states();
  [[nodiscard]] const OperatorStates& operator_states() const { return operator_states_; }
  [[nodiscard]] const std::vector<MasterState>& master_states() const { return master_states_; }
  // What is found out about the states when their metadata is put together.
  void set_inventory(std::unique_ptr<const StateInventory> inventory) {
    inventory_ = KnownInventory(std::move(inventory));
  }
  // Takes the collected states out.
  [[nodiscard]] CompletedCheckpointPtr to_completed(JobId job, std::int64_t now_ms);

  // P2: only the first of these two tells anybody.
  void succeed(CompletedCheckpointPtr completed);
  void fail(CheckpointFailureReason reason);
  void note_failure(CheckpointFailureReason reason) { failure_ = reason; }

  // No acknowledgement counts any more. What was collected stays.
  void dispose();
  // Names of the files of all states that were acknowledged.
  void append_private_files(FileNames& paths) const;

 private:
  CheckpointMetaData meta_;
  CheckpointPlan plan_;
  TasksToAcknowledge tasks_;
  std::vector<CoordinatorInfo> coordinators_;  // awaited
  std::vector<std::string> master_hooks_;      // awaited
  CheckpointProperties properties_;
  CheckpointDone done_;
  CheckpointOptions options_;
  std::optional<CheckpointStorageLocation> location_;
  OperatorStates operator_states_;  // of operator coordinators; all once collected
  KnownInventory inventory_;        // of these
  std::vector<MasterState> master_states_;
  std::optional<CheckpointFailureReason> failure_;
  CheckpointStatsPtr statistics_;
  ScheduledExecutor::TaskId canceller_ = 0;
  std::int32_t acknowledged_ = 0;
  std::int32_t missing_ = 0;
  bool disposed_ = false;
};

}  // namespace tailrace::engine
