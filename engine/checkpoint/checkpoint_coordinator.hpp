// Decides when checkpoints start, collects their acknowledgements, completes or aborts them.
//
// The seam between the generations' CheckpointCoordinator. Lives in the job manager's process; every
// function returns at once. Flink's coordinator holds a lock while it finalises a checkpoint or reads
// a store that is elsewhere; here that takes virtual time, and calls that come in meanwhile (or from
// inside a callback of the coordinator) wait for its end, in the order in which they came.
#pragma once

#include <cstdint>
#include <string>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/messages.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Flink's raw I/O error of a failed finalisation reads FINALIZE_CHECKPOINT_FAILURE here, which no
// promise fails with otherwise.
using CheckpointResult = base::Result<CompletedCheckpointPtr, CheckpointFailureReason>;
using CheckpointDone = base::InplaceFunction<void(CheckpointResult)>;

// What Flink answers to an acknowledgement: whether the checkpoint is or was known, or that the
// checkpoint could not be completed, or that its shared state could not be registered. In that last
// case nothing else happens: 1.20 has not counted the acknowledgement, 1.10 will never complete the
// checkpoint, and either waits for its timeout.
struct AcknowledgeOutcome {
  bool known = false;
  bool finalize_failed = false;
  bool registration_failed = false;
};
using AcknowledgeDone = base::InplaceFunction<void(AcknowledgeOutcome)>;

// Flink 1.20: what a user asks a checkpoint to be (core.execution.CheckpointType).
enum class RequestedCheckpointType : std::uint8_t { CONFIGURED, FULL, INCREMENTAL };

// Flink 1.20 RestoreMode (execution.state-recovery.claim-mode).
enum class ClaimMode : std::uint8_t { NO_CLAIM, CLAIM, LEGACY };

// Which of Flink 1.20's entry points; 1.10 makes no difference.
enum class RestoreScope : std::uint8_t {
  SUBTASKS,  // regional: operator coordinators are left alone
  ALL,       // global failover
  INITIAL,   // at job start, also of another leader
};

struct RestoreRequest {
  RestoreScope scope = RestoreScope::SUBTASKS;
  bool error_if_none = false;       // then it is a broken invariant that nothing can be restored
  bool allow_non_restored = false;  // states of master hooks that are not there are ignored
};
// Null: nothing to restore from. The states are for the caller to assign.
using RestoreDone = base::InplaceFunction<void(CompletedCheckpointPtr)>;

using ShutdownDone = base::InplaceFunction<void()>;

class CheckpointCoordinator {
 public:
  virtual ~CheckpointCoordinator() = default;

  // Requires: not shut down. Aborts everything pending first, savepoints too.
  virtual void start_checkpoint_scheduler() = 0;
  virtual void stop_checkpoint_scheduler() = 0;
  [[nodiscard]] virtual bool is_periodic_checkpointing_configured() const = 0;
  // The job-status listener: starts the scheduler on RUNNING, stops it on every other
  // status. Does nothing if periodic checkpointing is not configured.
  virtual void on_job_status_change(JobStatus status) = 0;

  // A checkpoint that a user (or, if `periodic`, the timer) asks for. `done` may be empty.
  virtual void trigger_checkpoint(bool periodic, CheckpointDone done) = 0;
  // 1.10 has one type.
  virtual void trigger_checkpoint_of_type(RequestedCheckpointType type, CheckpointDone done) = 0;
  // `target_directory`: empty for the configured default. `format`: 1.10 has one.
  virtual void trigger_savepoint(std::string target_directory, SavepointFormatType format,
                                 CheckpointDone done) = 0;
  // Of a stop. `drain`: 1.10's advance-to-end-of-event-time, 1.20's `terminate`. Failing, it fails
  // the job (1.10, before `done` hears of it; 1.20: ).
  virtual void trigger_synchronous_savepoint(std::string target_directory, bool drain,
                                             SavepointFormatType format, CheckpointDone done) = 0;

  // `done` may be empty. A message of another job is refused without touching its state.
  virtual void receive_acknowledge_message(AcknowledgeCheckpoint message,
                                           AcknowledgeDone done = {}) = 0;
  // Requires: a message of this job, if not shut down.
  virtual void receive_decline_message(DeclineCheckpoint message) = 0;
  // 1.20: the metrics of an aborted snapshot. 1.10 has no such message.
  virtual void report_checkpoint_metrics(const ReportCheckpointMetrics& message) = 0;
  virtual void fail_unacknowledged_pending_checkpoints_for(ExecutionAttemptId attempt) = 0;
  virtual void abort_pending_checkpoints(CheckpointFailureReason reason) = 0;

  // Requires: not shut down. Pending checkpoints stay: the caller aborts them.
  // `done` runs inside the call, unless the call has to wait.
  virtual void restore_latest_checkpointed_state(RestoreRequest request, RestoreDone done) = 0;
  // Stores the savepoint (loaded by Checkpoints), continues numbering behind it and restores.
  // `mode`: 1.10 always restores as LEGACY does.
  virtual void restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode mode,
                                 bool allow_non_restored, RestoreDone done) = 0;

  // 1.10 also shuts the store and the id counter down; under 1.20 whoever made them does. Idempotent.
  // `done` (may be empty) runs when that is over: later if the call has to wait.
  virtual void shutdown(JobStatus status, ShutdownDone done = {}) = 0;
};

}  // namespace tailrace::engine
