#include "engine/task/f120/stream_task_checkpoints_120.hpp"

#include <algorithm>

namespace tailrace::engine {

StreamTaskCheckpoints120::StreamTaskCheckpoints120(const StreamTaskCheckpointsContext& context)
    : ports_(context.ports),
      task_(*context.task),
      final_checkpoint_(context.final_checkpoint),
      coordinator_(context.ports, *context.streams, *context.channel_state, *context.task,
                   context.max_concurrent_checkpoints),
      latest_report_checkpoint_id_(context.restored) {}

void StreamTaskCheckpoints120::trigger(const CheckpointMetaData& meta,
                                       const CheckpointOptions& options) {
  AlignmentMetrics alignment;  // nothing to align
  const std::int64_t passed_ms = ports_.clock->now().millis_truncated() - meta.timestamp_ms;
  checkpoint_start_delay_ = Duration::millis(std::max<std::int64_t>(0, passed_ms));
  alignment.start_delay_ns = checkpoint_start_delay_.ns;
  coordinator_.init_inputs_checkpoint(meta.id, options);
  const Outcome outcome = perform_checkpoint(meta, options, alignment);
  if (outcome == Outcome::kNotRunning) {
    task_.decline(meta.id, CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY);
  }
  // The trigger's result has failed as well (Flink Task.triggerCheckpointBarrier).
  if (outcome != Outcome::kTaken) task_.decline(meta.id, CheckpointFailureReason::TASK_FAILURE);
}

void StreamTaskCheckpoints120::trigger_on_barrier(const CheckpointMetaData& meta,
                                                  const CheckpointOptions& options,
                                                  const AlignmentMetrics& alignment) {
  perform_checkpoint(meta, options, alignment);
}

StreamTaskCheckpoints120::Outcome StreamTaskCheckpoints120::perform_checkpoint(
    const CheckpointMetaData& meta, const CheckpointOptions& options,
    const AlignmentMetrics& alignment) {
  if (!task_.is_running()) {
    task_.broadcast_event(CancelCheckpointMarker{meta.id}, false);
    return Outcome::kNotRunning;
  }
  if (is_synchronous(options.type) && !accept_synchronous_savepoint(meta.id)) {
    return Outcome::kFailed;
  }
  if (final_checkpoint_ && end_of_data_received_ && !final_checkpoint_min_id_) {
    final_checkpoint_min_id_ = meta.id;
  }
  return coordinator_.checkpoint_state(meta, options, alignment) ? Outcome::kTaken
                                                                 : Outcome::kFailed;
}

bool StreamTaskCheckpoints120::accept_synchronous_savepoint(CheckpointId id) {
  if (sync_savepoint_ && *sync_savepoint_ != id) {
    task_.fail("at most one stop-with-savepoint checkpoint at a time is allowed");
    return false;
  }
  sync_savepoint_ = id;
  return true;
}

void StreamTaskCheckpoints120::set_synchronous_savepoint(CheckpointId id) {
  accept_synchronous_savepoint(id);
}

void StreamTaskCheckpoints120::abort_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  if (sync_savepoint_ == id) {
    task_.fail("Stop-with-savepoint failed.");
    return;
  }
  coordinator_.abort_checkpoint_on_barrier(id, reason);
}

void StreamTaskCheckpoints120::notify_complete(CheckpointId id) {
  if (id <= latest_report_checkpoint_id_) return;
  latest_report_checkpoint_id_ = id;
  coordinator_.notify_checkpoint_complete(id);
  if (!task_.is_running()) return;
  if (sync_savepoint_) {
    if (*sync_savepoint_ == id) final_checkpoint_completed_ = true;
  } else if (final_checkpoint_min_id_ && id >= *final_checkpoint_min_id_) {
    final_checkpoint_completed_ = true;
  }
}

void StreamTaskCheckpoints120::notify_aborted(CheckpointId id, CheckpointId latest_completed) {
  // Makes up for a notice that was lost.
  if (latest_completed > 0) notify_complete(latest_completed);
  if (sync_savepoint_ == id) {
    task_.fail("Stop-with-savepoint failed.");
    return;
  }
  coordinator_.notify_checkpoint_aborted(id);
}

}  // namespace tailrace::engine
