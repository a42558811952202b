// The checkpoint coordinator of Flink 1.20.
//
// Flink 1.20 CheckpointCoordinator (spec coordinator.md 2 to 4 and 6, the parts marked [1.20]). A
// state machine: each of Flink's sections under its lock is one event here; the chain of a trigger
// phase (3.5) hops over the timer as Flink's does, so that whatever comes between two hops falls
// between the same two steps. Finalisation takes time (`begin_finalisation`), under the lock; see
// checkpoint_coordinator.hpp.
//
// Invariants
//   C1  A checkpoint that is not forced starts only while fewer than `max_concurrent` are pending.
//   C2  Ids grow strictly, except across `restore_savepoint`.
//   C3  At most one trigger phase at a time.
//   C4  Outside of a call no pending checkpoint in the map is disposed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_id_counter.hpp"
#include "engine/checkpoint/coordinator_lock.hpp"
#include "engine/checkpoint/f120/asynchronous_master_hook.hpp"
#include "engine/checkpoint/f120/checkpoint_failure_manager_120.hpp"
#include "engine/checkpoint/f120/checkpoint_request_decider.hpp"
#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"
#include "engine/checkpoint/f120/completed_checkpoint_store_120.hpp"
#include "engine/checkpoint/f120/default_checkpoint_plan_calculator.hpp"
#include "engine/checkpoint/f120/io_executor.hpp"
#include "engine/checkpoint/f120/operator_coordinator_checkpoint_context.hpp"
#include "engine/checkpoint/f120/pending_checkpoint_120.hpp"
#include "engine/checkpoint/fail_job_callback.hpp"
#include "engine/checkpoint/scheduled_executor.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// Flink 1.20 CheckpointCoordinatorConfiguration; keys under `execution.checkpointing.`.
struct CheckpointCoordinatorConfiguration120 {
  JobId job;
  std::optional<Duration> interval;  // none: no periodic checkpoints
  std::optional<Duration>
      interval_during_backlog;  // none: as interval; below 10 ms: none meanwhile
  Duration timeout = Duration::seconds(600);
  Duration min_pause{};
  std::int32_t max_concurrent = 1;
  CheckpointRetentionPolicy retention = CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
  bool exactly_once = true;
  bool unaligned = false;
  Duration aligned_timeout{};  // 0: unaligned from the start
  // Name of the random stream of the first delay (M-4), drawn in whole milliseconds.
  std::string random_stream = "checkpoint.initial-delay";
  bool cleaner_parallel_mode = true;  // state.checkpoint.cleaner.parallel-mode

  // What Flink would not accept; none: it is fine. A job's interval below 10 ms is no error
  // there, but means none; whoever makes a configuration of it sees to that.
  [[nodiscard]] std::optional<std::string> problem() const;
};

// All outlive the coordinator.
struct CheckpointCoordinatorServices120 {
  const Clock* clock = nullptr;
  Timers* timers = nullptr;
  Compute* compute = nullptr;
  RandomDraws* random = nullptr;
  Observer* observer = nullptr;
  CheckpointStorage* storage = nullptr;
  CompletedCheckpointStore120* store = nullptr;
  CheckpointsCleaner* cleaner = nullptr;
  SharedStateRegistry120* registry = nullptr;
  CheckpointIDCounter* id_counter = nullptr;
  CheckpointFailureManager120* failure_manager = nullptr;
  CheckpointStatsTracker* stats_tracker = nullptr;
  const DefaultCheckpointPlanCalculator* plans = nullptr;
  FailJobCallback* fail_job = nullptr;            // hears of a remote store that fails
  ScheduleListener* schedule_listener = nullptr;  // may be null
  IoExecutor* io_executor = nullptr;              // null: what may block never waits for a thread
};

class CheckpointCoordinator120 final : public CheckpointCoordinator {
 public:
  // Requires: no problem() with the configuration.
  // `coordinators`: in the order of their operators; they outlive this.
  CheckpointCoordinator120(CheckpointCoordinatorConfiguration120 configuration,
                           std::vector<OperatorCoordinatorCheckpointContext*> coordinators,
                           CheckpointCoordinatorServices120 services);

  // Requires besides: periodic checkpointing is configured.
  void start_checkpoint_scheduler() override;
  void stop_checkpoint_scheduler() override;
  [[nodiscard]] bool is_periodic_checkpointing_configured() const override {
    return base_interval_ != Duration::max();
  }
  void on_job_status_change(JobStatus status) override;
  void trigger_checkpoint(bool periodic, CheckpointDone done) override;
  void trigger_checkpoint_of_type(RequestedCheckpointType type, CheckpointDone done) override;
  void trigger_savepoint(std::string target_directory, SavepointFormatType format,
                         CheckpointDone done) override;
  void trigger_synchronous_savepoint(std::string target_directory, bool drain,
                                     SavepointFormatType format, CheckpointDone done) override;
  void receive_acknowledge_message(AcknowledgeCheckpoint message,
                                   AcknowledgeDone done = {}) override;
  void receive_decline_message(DeclineCheckpoint message) override;
  void report_checkpoint_metrics(const ReportCheckpointMetrics& message) override;
  void fail_unacknowledged_pending_checkpoints_for(ExecutionAttemptId attempt) override;
  void abort_pending_checkpoints(CheckpointFailureReason reason) override;
  void restore_latest_checkpointed_state(RestoreRequest request, RestoreDone done) override;
  void restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode mode, bool allow_non_restored,
                         RestoreDone done) override;
  void shutdown(JobStatus status, ShutdownDone done = {}) override;

  // The end of the object alone: its promise and its trigger phase fail, what it has collected is
  // deleted. It stays in the map (C4 is for the caller to restore), and neither the statistics nor
  // the failure manager hear of it. Requires: not disposed. A broken invariant, after all that:
  // SUBSUMED for what cannot be subsumed.
  // Source: Flink 1.20 PendingCheckpoint.abort.
  void abort_object(const std::shared_ptr<PendingCheckpoint120>& pending,
                    CheckpointFailureReason reason);

  // Requires: an identifier that is not blank. False: there is one of that name already.
  // The hook outlives the coordinator.
  bool add_master_hook(AsynchronousMasterHook& hook);
  // A source works off a backlog, or has caught up.
  void set_is_processing_backlog(OperatorId op, bool is_processing_backlog);

  // Smaller ids first.
  [[nodiscard]] const std::map<CheckpointId, std::shared_ptr<PendingCheckpoint120>>&
  pending_checkpoints() const {
    return pending_;
  }
  [[nodiscard]] bool is_triggering() const { return triggering_; }
  [[nodiscard]] bool is_periodic_scheduling() const { return periodic_scheduling_; }
  [[nodiscard]] bool has_current_periodic_trigger() const { return current_periodic_trigger_ != 0; }
  [[nodiscard]] std::size_t queued_requests() const { return decider_.queued(); }
  [[nodiscard]] bool is_finalising() const { return finalising_ != nullptr; }
  // Ids that only choose the answer to late messages, oldest first.
  [[nodiscard]] const std::deque<CheckpointId>& recent_expired_checkpoints() const {
    return recent_expired_;
  }
  [[nodiscard]] const ScheduledExecutor& timer() const { return timer_; }

 private:
  using Pending = std::shared_ptr<PendingCheckpoint120>;
  // A trigger phase: the request, and the pending checkpoint once there is one. It may outlive both
  // the checkpoint and the phase when an answer comes late.
  struct TriggerPhase;
  using Phase = std::shared_ptr<TriggerPhase>;
  // The end of a finalisation: none, or what a trigger phase makes of its failure.
  using Finalised = base::InplaceFunction<void(std::optional<CheckpointFailureReason>), 128>;

  // Under the lock: now, or when whoever has it is done.
  template <typename Body>
  void locked(Body body) {
    lock_.run(std::move(body));
  }
  // On the timer thread, under the lock.
  template <typename Body>
  void on_timer(Body body);

  // On a thread of the I/O executor, which it keeps until the callback is called.
  void on_io(IoExecutor::Work work);

  // Triggering, checkpoint_coordinator_120_trigger.cpp.
  void submit(CheckpointProperties properties, std::string target_directory, bool periodic,
              CheckpointDone done);
  void submit_on_timer(CheckpointProperties properties, std::string target_directory, bool periodic,
                       CheckpointDone done);
  [[nodiscard]] CheckpointRequestDecider::Situation situation() const;
  [[nodiscard]] std::optional<CheckpointFailureReason> pre_check(bool periodic) const;
  void start_triggering(CheckpointTriggerRequestPtr request);
  void on_checkpoint_id(const Phase& phase, std::optional<CheckpointId> id,
                        std::unique_ptr<CheckpointPlan> plan);
  void create_pending_checkpoint(const Phase& phase, CheckpointId id, CheckpointPlan plan);
  void initialize_location(const Phase& phase);
  void make_location(const Phase& phase, IoExecutor::Done thread_free);
  void snapshot_coordinators(const Phase& phase);
  void acknowledge_coordinators(const Phase& phase);
  void snapshot_master_state(const Phase& phase);
  void on_hook_answer(const Phase& phase, const std::string& hook,
                      AsynchronousMasterHook::Answer answer);
  // Ends the chain of the phase, unless it has ended: once more over the timer.
  void complete_trigger_promise(const Phase& phase, std::optional<CheckpointFailureReason> failure);
  void fail_trigger_phase_of(const PendingCheckpoint120& pending, CheckpointFailureReason reason);
  void trigger_checkpoint_request(const Phase& phase);
  void trigger_tasks(const Phase& phase);
  void on_trigger_success();
  void on_trigger_failure(TriggerPhase& phase, CheckpointFailureReason reason);
  [[nodiscard]] CheckpointOptions options_for(const CheckpointProperties& properties,
                                              const CheckpointStorageLocation* location) const;
  void execute_queued_request();
  void schedule_trigger_request();
  void schedule_trigger_with_delay(Duration delay);
  void reschedule_trigger(Duration delay);
  void cancel_periodic_trigger();
  void run_periodic_trigger();
  [[nodiscard]] Duration current_interval() const;

  // Ending, checkpoint_coordinator_120.cpp.
  void stop_scheduler_locked();
  void acknowledge_on_thread(AcknowledgeCheckpoint message, AcknowledgeDone done);
  void give_back_thread();
  // Returns: whether it finalises the checkpoint, and gives its thread back when that is over.
  [[nodiscard]] bool acknowledge_locked(AcknowledgeCheckpoint& message, AcknowledgeDone done);
  void decline_locked(const DeclineCheckpoint& message);
  void discard_subtask_state(const AcknowledgeCheckpoint& message);
  // Statistics, checkpoint_coordinator_120_stats.cpp.
  CheckpointStatsPtr report_pending(const CheckpointMetaData& meta, const CheckpointPlan& plan,
                                    const CheckpointProperties& properties);
  void report_acknowledged(const PendingCheckpoint120& pending,
                           const PendingCheckpoint120::Task& task,
                           const CheckpointMetrics& metrics);
  void report_incomplete(CheckpointId id, ExecutionAttemptId attempt,
                         const CheckpointMetrics& metrics);
  void report_restored(const CompletedCheckpoint& latest);
  // Also to the failure manager.
  void report_failed(const PendingCheckpoint120& pending, CheckpointFailureReason reason,
                     std::optional<ExecutionAttemptId> attempt);
  void remember_tasks_of_failed(const PendingCheckpoint120& pending);
  void abort_pending_checkpoint(const Pending& pending, CheckpointFailureReason reason,
                                std::optional<ExecutionAttemptId> attempt);
  template <typename Predicate>
  void abort_pending_checkpoints_if(Predicate predicate, CheckpointFailureReason reason);
  void send_aborted_messages(const PendingCheckpoint120& pending);
  void release_states(const Pending& pending);
  void delete_failed(const Pending& pending, const FileNames& paths,
                     base::InplaceFunction<void(), 128> done);
  void begin_finalisation(const Pending& pending, Finalised then);
  void on_metadata_written(PutStatus status);
  void on_stored(CompletedCheckpointStore120::Outcome outcome);
  void complete(CompletedCheckpointPtr completed, CheckpointId last_subsumed);
  void fail_finalisation(CheckpointFailureReason reason);
  // Step 6 of 4.3, then whoever waits, then whatever was deferred.
  void end_finalisation(std::optional<CheckpointFailureReason> failure);
  void shutdown_locked();
  void restore_latest_locked(RestoreRequest request, RestoreDone& done);
  struct SavepointRestore;
  void on_savepoint_stored(const std::shared_ptr<SavepointRestore>& restore, bool stored);
  void on_savepoint_count_set(SavepointRestore& restore, bool is_set);
  void restore_master_hooks(const CompletedCheckpoint& checkpoint, bool allow_non_restored);

  CheckpointCoordinatorConfiguration120 configuration_;
  std::vector<OperatorCoordinatorCheckpointContext*> coordinators_;
  CheckpointCoordinatorServices120 services_;
  CheckpointProperties checkpoint_properties_;
  Duration min_pause_;
  Duration base_interval_;            // Duration::max(): no periodic checkpoints
  Duration interval_during_backlog_;  // the same
  ScheduledExecutor timer_;
  CheckpointRequestDecider decider_;
  // Who took part in the failed checkpoints of the history, for reports that come late: what Flink
  // reads off the attempt's id.
  std::map<CheckpointId, PendingCheckpoint120::Places> places_of_failed_;

  std::map<CheckpointId, Pending> pending_;
  std::deque<CheckpointId> recent_expired_;
  std::vector<AsynchronousMasterHook*> master_hooks_;  // in the order of their addition (M-3)
  std::set<OperatorId> backlog_operators_;
  CheckpointId last_id_ = 0;
  std::size_t metadata_bytes_ = 0;  // of the last checkpoint: the next one will not be much larger
  bool triggering_ = false;
  bool periodic_scheduling_ = false;
  bool shutdown_ = false;
  bool force_full_snapshot_ = false;
  Phase phase_;  // the one under way
  ScheduledExecutor::TaskId current_periodic_trigger_ = 0;
  std::uint64_t periodic_trigger_generation_ = 0;  // a tick of an older one does nothing
  Time next_trigger_ = Time::max();
  std::optional<Time> last_completion_;  // none: "minus infinity" (M-5)

  CoordinatorLock lock_;  // kept while a finalisation, or the store, takes its time
  Pending finalising_;
  CompletedCheckpointPtr storing_;
  Finalised finalised_;
  base::Lifeline lifeline_;
};

template <typename Body>
void CheckpointCoordinator120::on_timer(Body body) {
  timer_.execute([this, body = std::move(body)]() mutable { locked(std::move(body)); });
}

template <typename Predicate>
void CheckpointCoordinator120::abort_pending_checkpoints_if(Predicate predicate,
                                                            CheckpointFailureReason reason) {
  std::vector<Pending> to_fail;
  for (const auto& [id, pending] : pending_) {
    if (predicate(*pending)) to_fail.push_back(pending);
  }
  for (const Pending& pending : to_fail) abort_pending_checkpoint(pending, reason, std::nullopt);
}

}  // namespace tailrace::engine
