// Starts a job, restarts what fails, stops it.
//
// Flink 1.10 DefaultScheduler and SchedulerBase (spec rescale.md 6.3, 6.5, 7.1; coordinator.md 5.7,
// 6.1). One per job, in the job manager's process. Never runs two steps of a sequence inside a
// callback of the execution graph: what follows an attempt's end is a later event at the same time.
//
// Invariants
//   D1  A vertex whose version has changed since a sequence noted it is not touched by that sequence.
//   D2  The job is RESTARTING exactly while vertices wait for their restart.
//   D3  A terminal job has no slots, no timers and no coordinator at work.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/graph/execution_graph.hpp"
#include "engine/observer.hpp"
#include "engine/scheduling/checkpointing.hpp"
#include "engine/scheduling/failover_strategy.hpp"
#include "engine/scheduling/job_submission.hpp"
#include "engine/scheduling/scheduling_semantics.hpp"
#include "engine/scheduling/slot_sharing.hpp"
#include "engine/scheduling/vertex_end_of_data_listener.hpp"
#include "sim/base/lifeline.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Flink JobStatus.isGloballyTerminalState: no leader will take the job up again.
[[nodiscard]] constexpr bool is_globally_terminal(JobStatus status) {
  return status == JobStatus::FINISHED || status == JobStatus::CANCELED ||
         status == JobStatus::FAILED;
}

// Whoever owns the schedulers of a job manager.
class SchedulerOwner {
 public:
  // A slot has come back to the pool; waiting requests may be tried again, later.
  virtual void on_slots_freed() = 0;
  // A job needs other slots than before. Returns: how long it takes until the slot manager looks.
  [[nodiscard]] virtual Duration requirements_changed() { return {}; }
  // Once, when the status is FINISHED, CANCELED or FAILED.
  virtual void on_job_terminated(JobId job, JobStatus status, const std::string& cause) = 0;

 protected:
  ~SchedulerOwner() = default;
};

class DefaultScheduler final : private ExecutionGraphListener,
                               private FailJobCallback,
                               private StopWithSavepointOperations {
 public:
  // Requires: everything passed by reference outlives the scheduler.
  DefaultScheduler(JobId job, std::shared_ptr<const JobGraph> graph, JobSubmission submission,
                   const Ports& ports, const ClusterConfig& cluster, SlotPool& pool,
                   ExecutionAttemptIds& attempt_ids, CheckpointingFactory& checkpointing,
                   SchedulerOwner& owner, StoredJob stored = {});
  DefaultScheduler(const DefaultScheduler&) = delete;
  DefaultScheduler& operator=(const DefaultScheduler&) = delete;
  ~DefaultScheduler();

  // Restores the newest checkpoint of the highly available store, or else the savepoint, if one was
  // given; then allocates slots and deploys. What cannot be restored fails the job (S-6.23).
  void start_scheduling();

  [[nodiscard]] JobStatus status() const { return graph_.status(); }
  [[nodiscard]] ExecutionGraph& execution_graph() { return graph_; }
  [[nodiscard]] const JobSubmission& submission() const { return submission_; }
  // Every streaming job has one: without periodic checkpoints it takes those that are asked for.
  [[nodiscard]] CheckpointCoordinator* coordinator() { return coordinator_; }

  // From task managers.
  void update_task_execution_state(const TaskExecutionState& update);
  void cancel_acknowledged(ExecutionAttemptId attempt) { graph_.cancel_acknowledged(attempt); }
  // Fails every attempt that runs there, one by one (S-6.28).
  void release_task_manager(ProcessId process, const std::string& cause);
  // Tries the slot requests that wait, oldest first.
  void on_slots_available();

  // 1.20: the task has processed all its data.
  void notify_end_of_data(ExecutionAttemptId attempt);

  // Restarts all vertices, if the restart strategy allows.
  void handle_global_failure(const std::string& cause);
  void cancel_job();
  // a savepoint, and if `cancel` is set the end of the job when it is complete. Meanwhile no
  // periodic checkpoints start; they go on if the savepoint fails.
  void trigger_savepoint(std::string target_directory, bool cancel, StopDone done);
  // S-7.1 to S-7.6: savepoint, then every task finishes, then `done` with the savepoint. A savepoint
  // that fails is told at once; periodic checkpoints start again and the job goes on. A failure
  // between the savepoint and the end of the tasks restarts a job of 1.10, which then goes on: the
  // request waits for its end, and only another request ends it. All requests are told when it comes.
  // Under 1.20 it fails the job for good.
  void stop_with_savepoint(std::string target_directory, bool drain, StopDone done);

 private:
  struct VersionedVertex {
    ExecutionVertexId vertex;
    std::uint64_t version;
    ExecutionAttemptId attempt;
  };
  using VersionedVertices = std::vector<VersionedVertex>;
  // A restart between the failure and the deployment.
  struct RestartSequence {
    VersionedVertices vertices;
    RestoreScope scope = RestoreScope::SUBTASKS;
    TimerId timer;  // 0: the delay is over
  };
  struct PendingSlotRequest {
    VersionedVertices vertices;
    TimerId timeout;
    bool is_known = true;  // to the slot manager
  };
  struct Stop {
    std::unique_ptr<StopWithSavepointTerminationHandler> handler;
    bool has_savepoint = false;
    std::set<ExecutionAttemptId> running;  // of those that there were when the stop began
    std::vector<ExecutionState> ended;     // the others
  };

  // ExecutionGraphListener.
  void on_execution_terminal(ExecutionVertexId vertex, const LogicalSlot* slot) override;
  void on_execution_failed(ExecutionVertexId vertex, const std::string& cause) override;
  void on_job_status(JobStatus status) override;
  // FailJobCallback. Both act in an event of their own: Flink hands them to the main thread's executor,
  // so that whoever aborts a checkpoint is done with it first.
  void fail_job(std::string_view cause) override;
  void fail_job_due_to_task_failure(std::string_view cause, ExecutionAttemptId attempt) override;
  // StopWithSavepointOperations.
  void restart_checkpoint_scheduler() override;
  void fail_unrecoverably(const std::string& cause) override;

  void restore_from_store();
  void start_from_savepoint_path();
  void restore_savepoint(CompletedCheckpointPtr savepoint);
  void begin_from(const CompletedCheckpoint& checkpoint, bool allow_non_restored_state);
  void begin();
  [[nodiscard]] VersionedVertices record_modifications(const std::vector<ExecutionVertexId>& ids);
  [[nodiscard]] std::uint64_t& version_of(ExecutionVertexId id);
  [[nodiscard]] std::vector<ExecutionVertexId> unmodified(const VersionedVertices& vertices);

  void maybe_restart(const std::vector<ExecutionVertexId>& vertices, RestoreScope scope,
                     SubtaskRef failed, const std::string& cause);
  void restart_tasks_with_delay(const std::vector<ExecutionVertexId>& vertices, RestoreScope scope);
  [[nodiscard]] bool can_continue(const RestartSequence& sequence);
  void continue_restart(std::uint64_t sequence);
  void continue_ready_restarts();
  void on_restored(const VersionedVertices& vertices, const CompletedCheckpointPtr& checkpoint);
  // Sets restore objects on attempts that are CREATED. Returns: what is wrong, or nothing.
  [[nodiscard]] std::optional<std::string> assign_states(
      const std::vector<ExecutionVertexId>& vertices, const CompletedCheckpoint& checkpoint,
      bool allow_non_restored_state);

  void allocate_slots_and_deploy(const std::vector<ExecutionVertexId>& vertices);
  [[nodiscard]] bool try_fulfil(PendingSlotRequest& request);
  void on_slot_request_timeout(std::uint64_t request);
  void forget_slot_request(ExecutionVertexId vertex);

  void terminate_job(JobStatus transient, const std::string& cause);
  void check_job_done();
  void report_end(JobStatus status);
  // Whether a request for a savepoint can be met; otherwise `done` is told why not.
  [[nodiscard]] bool can_take_savepoint(const std::string& target_directory, StopDone& done) const;
  void on_attempt_terminal(ExecutionAttemptId attempt, ExecutionState state);
  // Once its savepoint is complete and all its attempts have ended: as an event of its own.
  void end_stop_when_terminated(std::uint64_t stop);

  JobId job_;
  JobSubmission submission_;
  const SchedulingSemantics* semantics_;
  Ports ports_;
  ClusterConfig cluster_;
  SchedulerOwner& owner_;
  CheckpointingFactory& checkpointing_factory_;
  SlotSharingManager slots_;
  ExecutionGraph graph_;
  RestartPipelinedRegionFailoverStrategy failover_strategy_;
  std::unique_ptr<RestartBackoffTimeStrategy> restart_strategy_;
  std::unique_ptr<JobCheckpointing> checkpointing_;
  CheckpointCoordinator* coordinator_ = nullptr;
  bool is_stored_ = false;     // in a highly available store
  bool is_recovered_ = false;  // from there

  std::vector<std::vector<std::uint64_t>> versions_;  // by vertex and subtask
  std::set<ExecutionVertexId> waiting_for_restart_;
  std::uint64_t next_id_ = 1;  // of sequences, slot requests and stops
  std::map<std::uint64_t, RestartSequence> restarts_;
  std::map<std::uint64_t, PendingSlotRequest> slot_requests_;
  bool has_declared_slots_ = false;
  bool continuing_ = false;  // an event that continues ready restarts is on its way
  std::map<std::uint64_t, Stop> stops_;
  VertexEndOfDataListener end_of_data_;
  bool is_shut_down_ = false;  // the job has ended, and its coordinator is shut down
  std::string failure_cause_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
