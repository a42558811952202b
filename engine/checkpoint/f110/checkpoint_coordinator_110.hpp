// The checkpoint coordinator of Flink 1.10.
//
// Flink 1.10 CheckpointCoordinator (spec coordinator.md 2 to 4 and 6, the parts marked [1.10]).
// A state machine: each of Flink's sections under its lock is one event here. Only finalisation
// takes time (`begin_finalisation` to `end_finalisation`), and with a remote store a restore does;
// see checkpoint_coordinator.hpp. The id counter is asked without the lock: with a remote one the
// timer waits for its answer meanwhile, and the pre-checks are made once more.
//
// Invariants
//   C1  A checkpoint that is not forced is registered only while fewer than `max_concurrent` are.
//   C2  Ids grow strictly, except across `restore_savepoint`.
//   C3  No file that a stored checkpoint names is deleted (with the store's S1).
//   C4  Outside of a call no pending checkpoint in the map is discarded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_id_counter.hpp"
#include "engine/checkpoint/completed_checkpoint_store.hpp"
#include "engine/checkpoint/coordinator_lock.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/checkpoint/f110/checkpoint_failure_manager_110.hpp"
#include "engine/checkpoint/f110/pending_checkpoint_110.hpp"
#include "engine/checkpoint/fail_job_callback.hpp"
#include "engine/checkpoint/master_hook.hpp"
#include "engine/checkpoint/scheduled_executor.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// Flink 1.10 CheckpointCoordinatorConfiguration; keys under `execution.checkpointing.`.
struct CheckpointCoordinatorConfiguration110 {
  JobId job;
  std::optional<Duration> interval;  // none, or below 10 ms: no periodic checkpoints
  Duration timeout = Duration::seconds(600);
  Duration min_pause{};
  std::int32_t max_concurrent = 1;
  CheckpointRetentionPolicy retention = CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
  bool prefer_checkpoint_for_recovery = false;
  // Name of the random stream of the first delay (M-4), drawn in whole milliseconds.
  std::string random_stream = "checkpoint.initial-delay";
};

// In the order of the vertex array; all outlive the coordinator.
struct CheckpointVertices {
  std::vector<ExecutionVertexAccess*> to_trigger;      // all subtasks of sources
  std::vector<ExecutionVertexAccess*> to_acknowledge;  // all subtasks
  std::vector<ExecutionVertexAccess*> to_confirm;      // all subtasks
};

// All outlive the coordinator.
struct CheckpointCoordinatorServices110 {
  const Clock* clock = nullptr;
  Timers* timers = nullptr;
  Compute* compute = nullptr;
  RandomDraws* random = nullptr;
  Observer* observer = nullptr;
  CheckpointStorage* storage = nullptr;
  CompletedCheckpointStore* store = nullptr;
  SharedStateRegistry110* registry = nullptr;  // of the store, too
  CheckpointIDCounter* id_counter = nullptr;
  CheckpointFailureManager110* failure_manager = nullptr;
  CheckpointStatsTracker* stats_tracker = nullptr;
  FailJobCallback* fail_job = nullptr;            // hears of a remote store that cannot be read
  ScheduleListener* schedule_listener = nullptr;  // may be null
};

class CheckpointCoordinator110 final : public CheckpointCoordinator {
 public:
  // Requires: timeout >= 10 ms, min_pause >= 0, max_concurrent >= 1.
  CheckpointCoordinator110(CheckpointCoordinatorConfiguration110 configuration,
                           CheckpointVertices vertices, CheckpointCoordinatorServices110 services);

  void start_checkpoint_scheduler() override;
  void stop_checkpoint_scheduler() override;
  [[nodiscard]] bool is_periodic_checkpointing_configured() const override {
    return base_interval_ != Duration::max();
  }
  void on_job_status_change(JobStatus status) override;
  void trigger_checkpoint(bool periodic, CheckpointDone done) override;
  void trigger_checkpoint_of_type(RequestedCheckpointType, CheckpointDone done) override {
    trigger_checkpoint(false, std::move(done));
  }
  void trigger_savepoint(std::string target_directory, SavepointFormatType format,
                         CheckpointDone done) override;
  void trigger_synchronous_savepoint(std::string target_directory,
                                     bool advance_to_end_of_event_time, SavepointFormatType format,
                                     CheckpointDone done) override;
  void receive_acknowledge_message(AcknowledgeCheckpoint message,
                                   AcknowledgeDone done = {}) override;
  void receive_decline_message(DeclineCheckpoint message) override;
  void report_checkpoint_metrics(const ReportCheckpointMetrics&) override {}
  void fail_unacknowledged_pending_checkpoints_for(ExecutionAttemptId attempt) override;
  void abort_pending_checkpoints(CheckpointFailureReason reason) override;
  void restore_latest_checkpointed_state(RestoreRequest request, RestoreDone done) override;
  void restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode mode, bool allow_non_restored,
                         RestoreDone done) override;
  void shutdown(JobStatus status, ShutdownDone done = {}) override;

  // The end of the object alone: its promise breaks, the statistics hear of it, what it has collected
  // is deleted. It stays in the map (C4 is for the caller to restore), and the failure manager hears
  // nothing. Requires: not discarded. A broken invariant, after all that: SUBSUMED for a forced one.
  // Source: Flink 1.10 PendingCheckpoint.abort.
  void abort_object(PendingCheckpoint110& pending, CheckpointFailureReason reason);

  // Requires: an identifier that is not blank. False: there is one of that name already.
  // The hook outlives the coordinator.
  bool add_master_hook(MasterTriggerRestoreHook& hook);

  // Smaller ids first.
  [[nodiscard]] const std::map<CheckpointId, std::unique_ptr<PendingCheckpoint110>>&
  pending_checkpoints() const {
    return pending_;
  }
  [[nodiscard]] bool is_trigger_request_queued() const { return trigger_request_queued_; }
  [[nodiscard]] bool is_periodic_scheduling() const { return periodic_scheduling_; }
  [[nodiscard]] bool has_current_periodic_trigger() const { return current_periodic_trigger_ != 0; }
  [[nodiscard]] bool is_finalising() const { return finalising_ != kNoCheckpoint; }
  // Ids that only choose the answer to late messages, oldest first.
  [[nodiscard]] const std::deque<CheckpointId>& recent_pending_checkpoints() const {
    return recent_pending_;
  }
  [[nodiscard]] const ScheduledExecutor& timer() const { return timer_; }

 private:
  using TriggerResult = base::Result<CheckpointId, CheckpointFailureReason>;
  // A checkpoint that is being triggered and is not pending yet.
  struct Trigger;

  // Under the lock: now, or when whoever has it is done.
  template <typename Body>
  void locked(Body body) {
    lock_.run(std::move(body));
  }
  // Who has kept the lock is at work again, and done with it.
  template <typename Body>
  void resume(Body body) {
    lock_.resume();
    body();
    lock_.release();
  }

  // Triggering, f110/checkpoint_coordinator_110_trigger.cpp.
  void trigger_savepoint_internal(CheckpointProperties properties, std::string target_directory,
                                  bool advance_to_end_of_event_time, CheckpointDone done);
  void run_periodic_trigger();
  void trigger_checkpoint_and_report(std::int64_t timestamp_ms, bool periodic, CheckpointDone done);
  void start_checkpoint(std::unique_ptr<Trigger> trigger);
  void on_checkpoint_id(std::unique_ptr<Trigger> trigger, std::optional<CheckpointId> id);
  TriggerResult create_pending_checkpoint(Trigger& trigger, CheckpointId id);
  // Of one that is not in the map.
  TriggerResult fail_trigger(PendingCheckpoint110& pending, CheckpointFailureReason reason);
  [[nodiscard]] TriggerResult refuse(CheckpointFailureReason reason);
  std::optional<CheckpointFailureReason> pre_check(bool periodic, bool forced);
  [[nodiscard]] std::optional<std::vector<PendingCheckpoint110::Task>> tasks_to_acknowledge() const;
  bool trigger_master_hooks(PendingCheckpoint110& pending);
  void trigger_queued_requests();
  void check_and_reset_scheduler();
  void schedule_periodic_trigger(Duration delay);
  void cancel_periodic_trigger();
  [[nodiscard]] Duration random_initial_delay();

  // Ending.
  void stop_scheduler_locked();
  void acknowledge_locked(AcknowledgeCheckpoint& message, AcknowledgeDone done);
  void discard_checkpoint(std::unique_ptr<PendingCheckpoint110> pending,
                          CheckpointFailureReason reason, ExecutionAttemptId attempt);
  void abort_pending_checkpoint(PendingCheckpoint110& pending, CheckpointFailureReason reason,
                                std::optional<ExecutionAttemptId> attempt);
  void break_promise(PendingCheckpoint110& pending, CheckpointFailureReason reason);
  void abort_all_locked(CheckpointFailureReason reason);
  void expire(CheckpointId id);
  void begin_finalisation(PendingCheckpoint110& pending, AcknowledgeDone done);
  void on_metadata_written(PutStatus status);
  void on_stored(const CompletedCheckpointPtr& completed, bool stored);
  void end_finalisation(bool completed);
  void drop_subsumed_checkpoints(CheckpointId completed);
  void remember_recent_checkpoint(CheckpointId id);
  void discard_subtask_state(const AcknowledgeCheckpoint& message);
  void shutdown_locked(JobStatus status);
  void restore_latest_locked(RestoreRequest request, RestoreDone& done);
  void restore_recovered(RestoreRequest request, RestoreDone& done);
  void restore_savepoint_remotely(CompletedCheckpointPtr savepoint, bool allow_non_restored,
                                  RestoreDone done);
  void fail_job(const char* cause);
  void restore_master_hooks(const CompletedCheckpoint& checkpoint, bool allow_non_restored);

  CheckpointCoordinatorConfiguration110 configuration_;
  CheckpointVertices vertices_;
  CheckpointCoordinatorServices110 services_;
  std::vector<StatsVertex> stats_vertices_;  // by vertex index
  Duration min_pause_;
  Duration base_interval_;  // Duration::max(): no periodic checkpoints
  ScheduledExecutor timer_;

  std::map<CheckpointId, std::unique_ptr<PendingCheckpoint110>> pending_;
  std::deque<CheckpointId> recent_pending_;
  std::vector<MasterTriggerRestoreHook*> master_hooks_;  // in the order of their addition (M-3)
  CheckpointId last_id_ = 0;
  std::size_t metadata_bytes_ = 0;  // of the last checkpoint: the next one will not be much larger
  bool trigger_request_queued_ = false;
  bool periodic_scheduling_ = false;
  bool shutdown_ = false;
  ScheduledExecutor::TaskId current_periodic_trigger_ = 0;
  std::optional<Time> last_completion_;  // none: "minus infinity" (M-5)

  CoordinatorLock lock_;  // kept while a finalisation, or the store, takes its time
  CheckpointId finalising_ = kNoCheckpoint;
  AcknowledgeDone finalise_done_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
