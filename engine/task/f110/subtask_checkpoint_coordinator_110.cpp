#include "engine/task/f110/subtask_checkpoint_coordinator_110.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void SubtaskCheckpointCoordinator110::checkpoint_state(const CheckpointMetaData& meta,
                                                       const CheckpointOptions& options,
                                                       const AlignmentMetrics& alignment) {
  TAILRACE_ASSERT(task_.is_running());
  task_.prepare_snapshot_pre_barrier(meta.id);
  // The barrier goes out before the snapshot, so that the next task aligns meanwhile.
  task_.broadcast_event(CheckpointBarrier{meta.id, meta.timestamp_ms, options}, false);
  std::vector<OperatorSnapshotFutures> futures;
  if (!task_.snapshot_state(meta, options, alignment, futures)) {
    futures.clear();  // cancelled
    if (is_synchronous(options.type)) {
      task_.fail("Could not perform checkpoint " + std::to_string(meta.id));
    } else {
      task_.decline(meta.id, CheckpointFailureReason::CHECKPOINT_DECLINED);
    }
    return;
  }
  CheckpointMetrics known;
  known.alignment_bytes_buffered = alignment.bytes_buffered;
  known.alignment_ns = alignment.duration_ns;
  AsyncCheckpointRunnable::Listener& listener = *this;
  running_.push_back(std::make_shared<AsyncCheckpointRunnable>(
      ports_, streams_, meta, options, std::move(futures), known,
      AsyncCheckpointRunnable::Finished{}, listener));
  task_.submit(running_.back());
}

void SubtaskCheckpointCoordinator110::abort_checkpoint_on_barrier(CheckpointId id,
                                                                  CheckpointFailureReason reason) {
  task_.decline(id, reason);
  task_.broadcast_event(CancelCheckpointMarker{id}, false);
}

void SubtaskCheckpointCoordinator110::cancel() {
  for (const auto& runnable : std::exchange(running_, {})) runnable->close();
}

void SubtaskCheckpointCoordinator110::snapshot_completed(
    AsyncCheckpointRunnable& runnable, const CheckpointMetrics& metrics,
    std::shared_ptr<const TaskStateSnapshot> state) {
  task_.acknowledge(runnable.checkpoint(), metrics, std::move(state));
  forget(runnable);
}

void SubtaskCheckpointCoordinator110::snapshot_failed(AsyncCheckpointRunnable& runnable) {
  // A plain exception of the asynchronous part reaches the job manager as JOB_FAILURE.
  task_.decline(runnable.checkpoint(), CheckpointFailureReason::JOB_FAILURE);
  forget(runnable);
}

void SubtaskCheckpointCoordinator110::forget(const AsyncCheckpointRunnable& runnable) {
  // The pool still holds it.
  std::erase_if(running_, [&runnable](const auto& owned) { return owned.get() == &runnable; });
}

}  // namespace tailrace::engine
