// What the engine tells whoever watches: the trace, the statistics, the anchors of a timeline.
//
// Observers must not change the engine from inside a call: whoever wants to act at such a moment
// schedules an event at the same time. Every function has an empty default.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/ids.hpp"
#include "engine/network/channel_cut.hpp"

namespace tailrace::engine {

class CheckpointStatsTracker;

// A subtask as an observer names it.
struct SubtaskRef {
  std::int32_t vertex = 0;  // index of the job vertex
  std::int32_t subtask = 0;
  std::int32_t attempt_number = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;

  // Job manager.
  virtual void on_job_status(JobId, JobStatus) {}
  virtual void on_execution_state(JobId, SubtaskRef, ExecutionState) {}
  // A failure that the scheduler was notified of, and whether it restarts (fixed delay: attempts).
  virtual void on_failover(JobId, SubtaskRef, std::string_view /*cause*/, bool /*restarts*/) {}
  // Tasks are about to be deployed again; `restored` is kNoCheckpoint if there was none.
  virtual void on_restore(JobId, CheckpointId /*restored*/) {}
  virtual void on_task_manager_registered(ProcessId) {}
  virtual void on_task_manager_lost(ProcessId, std::string_view /*cause*/) {}

  // A coordinator was made, and this is what will know the statistics of its checkpoints. Shared,
  // because whoever watches a run wants them also when the job manager is gone.
  virtual void on_checkpoint_stats_tracker(JobId, std::shared_ptr<const CheckpointStatsTracker>) {}
  virtual void on_checkpoint_triggered(JobId, const CheckpointMetaData&, const CheckpointOptions&,
                                       std::int32_t /*tasks_to_acknowledge*/) {}
  // `acknowledged` counts this one.
  virtual void on_checkpoint_acknowledged(JobId, CheckpointId, SubtaskRef,
                                          std::int32_t /*acknowledged*/, const CheckpointMetrics&,
                                          std::int64_t /*state_bytes*/) {}
  // Of a checkpoint that is not pending (any more): its state is discarded.
  virtual void on_late_acknowledgement(JobId, CheckpointId) {}
  virtual void on_checkpoint_declined(JobId, CheckpointId, SubtaskRef, CheckpointFailureReason) {}
  virtual void on_checkpoint_completed(JobId, const CheckpointMetaData&, const CheckpointOptions&,
                                       std::int64_t /*state_bytes*/) {}
  // 1.20: the files of a checkpoint that nobody needs are being deleted (`begins`), or are gone.
  virtual void on_checkpoint_cleaning(JobId, CheckpointId, bool /*begins*/) {}
  // `id` is kNoCheckpoint when the trigger failed before it had one.
  virtual void on_checkpoint_failed(JobId, CheckpointId, CheckpointFailureReason) {}

  // High-availability store. The job manager asks for an entry to be written: `_metadata` and what
  // the entry points to are there.
  virtual void on_checkpoint_entry_sent(JobId, CheckpointId) {}
  // The entry is there, or gone; the job manager does not know yet.
  virtual void on_checkpoint_entry_written(JobId, CheckpointId, bool /*savepoint*/) {}
  virtual void on_checkpoint_entry_removed(JobId, CheckpointId) {}
  // The job manager has read the entry. `readable`: and what it points to.
  virtual void on_checkpoint_entry_read(JobId, CheckpointId, bool /*readable*/) {}
  virtual void on_leader_granted(ProcessId) {}

  // Task manager.
  virtual void on_barrier_processed(JobId, SubtaskRef, std::int32_t /*gate*/, ChannelIndex,
                                    CheckpointId) {}
  // The task takes its snapshot: alignment is over.
  virtual void on_snapshot_started(JobId, SubtaskRef, CheckpointId, std::int64_t /*alignment_ns*/) {
  }
  // Exactly once: both ends of the cut of a checkpoint through a channel (engine/network/channel_cut.hpp).
  // The producer has emitted the barrier, or has given data to the channel state since; the consumer
  // takes its snapshot, and gives so many bytes to the channel state, before or after that.
  virtual void on_output_cut(JobId, const ResultPartitionId&, std::int32_t /*subpartition*/,
                             const SubpartitionCut&) {}
  virtual void on_input_cut(JobId, const ResultPartitionId&, std::int32_t /*subpartition*/,
                            const InputCut&) {}
  virtual void on_input_state(JobId, const ResultPartitionId&, std::int32_t /*subpartition*/,
                              CheckpointId, std::int64_t /*bytes*/) {}
  virtual void on_task_restored(JobId, SubtaskRef, std::int64_t /*state_bytes*/) {}
  // The task fails by itself, now; the job manager hears of it when the task has come to rest.
  virtual void on_task_failed(JobId, SubtaskRef, std::string_view /*cause*/) {}
};

}  // namespace tailrace::engine
