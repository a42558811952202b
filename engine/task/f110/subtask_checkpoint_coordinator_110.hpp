// The ordered checkpoint of one subtask in 1.10.
//
// Flink 1.10 StreamTask.performCheckpoint, StreamTask.CheckpointingOperation, which 1.20 has moved
// into SubtaskCheckpointCoordinatorImpl (spec coordinator.md ). Asynchronous
// parts run side by side, and nobody aborts a single one of them.
#pragma once

#include <memory>
#include <vector>

#include "engine/task/async_checkpoint_runnable.hpp"
#include "engine/task/checkpointing_task.hpp"

namespace tailrace::engine {

class SubtaskCheckpointCoordinator110 final : private AsyncCheckpointRunnable::Listener {
 public:
  // Borrows everything.
  SubtaskCheckpointCoordinator110(const Ports& ports, FsCheckpointStreamFactory& streams,
                                  CheckpointingTask& task)
      : ports_(ports), streams_(streams), task_(task) {}

  // Atomic with respect to records. An operator that throws after the barrier is out declines the
  // checkpoint, and the task goes on; during a synchronous savepoint it fails the task.
  // Requires: the task is running.
  void checkpoint_state(const CheckpointMetaData& meta, const CheckpointOptions& options,
                        const AlignmentMetrics& alignment);
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason);
  // Closes all asynchronous parts: what they have written is discarded, nothing is declined.
  void cancel();

 private:
  void snapshot_completed(AsyncCheckpointRunnable& runnable, const CheckpointMetrics& metrics,
                          std::shared_ptr<const TaskStateSnapshot> state) override;
  void snapshot_failed(AsyncCheckpointRunnable& runnable) override;
  void forget(const AsyncCheckpointRunnable& runnable);

  Ports ports_;
  FsCheckpointStreamFactory& streams_;
  CheckpointingTask& task_;
  // Flink's cancelables: asynchronous parts that have not ended, in the order of their start.
  std::vector<std::shared_ptr<AsyncCheckpointRunnable>> running_;
};

}  // namespace tailrace::engine
