#include "engine/task/f110/stream_task_checkpoints_110.hpp"

namespace tailrace::engine {

void StreamTaskCheckpoints110::trigger(const CheckpointMetaData& meta,
                                       const CheckpointOptions& options) {
  if (!perform_checkpoint(meta, options, {})) {
    task_.decline(meta.id, CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY);
  }
}

void StreamTaskCheckpoints110::trigger_on_barrier(const CheckpointMetaData& meta,
                                                  const CheckpointOptions& options,
                                                  const AlignmentMetrics& alignment) {
  perform_checkpoint(meta, options, alignment);
}

bool StreamTaskCheckpoints110::perform_checkpoint(const CheckpointMetaData& meta,
                                                  const CheckpointOptions& options,
                                                  const AlignmentMetrics& alignment) {
  if (!task_.is_running()) {
    task_.broadcast_event(CancelCheckpointMarker{meta.id}, false);
    return false;
  }
  if (is_synchronous(options.type)) {
    if (sync_savepoint_ && *sync_savepoint_ != meta.id) {
      // Flink 1.10 StreamTask.setSynchronousSavepointId throws, and the task fails of it.
      task_.fail("at most one stop-with-savepoint checkpoint at a time is allowed");
      return true;
    }
    sync_savepoint_ = meta.id;
  }
  coordinator_.checkpoint_state(meta, options, alignment);
  return true;
}

void StreamTaskCheckpoints110::abort_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  coordinator_.abort_checkpoint_on_barrier(id, reason);
}

void StreamTaskCheckpoints110::notify_complete(CheckpointId id) {
  if (task_.is_running()) task_.notify_operators_complete(id);
  if (sync_savepoint_ == id) {
    released_ = true;
    sync_savepoint_.reset();
  }
}

}  // namespace tailrace::engine
