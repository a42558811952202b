// The ordered checkpoint of one subtask in 1.20.
//
// Flink 1.20 SubtaskCheckpointCoordinatorImpl (spec coordinator.md ).
//   S1  Ids are snapshotted in ascending order; whatever is not larger than the last seen id is
//       ignored.
//   S2  At most `max_recorded_aborts` aborted ids are remembered, the latest inserted.
//   S3  Every asynchronous part that has not ended is registered under its id, unless it was aborted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/network/channel_state_writer.hpp"
#include "engine/task/async_checkpoint_runnable.hpp"
#include "engine/task/checkpointing_task.hpp"

namespace tailrace::engine {

class SubtaskCheckpointCoordinator120 final : private AsyncCheckpointRunnable::Listener {
 public:
  // Borrows everything. `max_recorded_aborts`: the job's maximum of concurrent checkpoints, >= 1.
  SubtaskCheckpointCoordinator120(const Ports& ports, FsCheckpointStreamFactory& streams,
                                  ChannelStateWriter& channel_state, CheckpointingTask& task,
                                  std::int32_t max_recorded_aborts);
  ~SubtaskCheckpointCoordinator120();

  // atomic with respect to records. Requires: the task is running.
  // Returns: false if it failed; then the task has been told to fail.
  bool checkpoint_state(const CheckpointMetaData& meta, CheckpointOptions options,
                        const AlignmentMetrics& alignment);
  // Buffers in flight belong to that checkpoint from now on, if its options say so.
  void init_inputs_checkpoint(CheckpointId id, const CheckpointOptions& options);
  // What was not final when that checkpoint was triggered. Ignored if it has ended.
  void alignment_ended(CheckpointId id, const AlignmentMetrics& alignment);
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason);

  // Notices of the job manager; a task that does not run ignores them.
  void notify_checkpoint_complete(CheckpointId id);
  void notify_checkpoint_aborted(CheckpointId id);
  void notify_checkpoint_subsumed(CheckpointId id);

  // Closes all asynchronous parts. What is registered later is closed at once.
  void cancel();
  // Also stops the alignment timer.
  void close();

  [[nodiscard]] std::size_t async_checkpoint_runnable_size() const { return checkpoints_.size(); }
  [[nodiscard]] std::size_t aborted_checkpoint_size() const { return aborted_.size(); }

 private:
  class CloseOperation;

  void snapshot_completed(AsyncCheckpointRunnable& runnable, const CheckpointMetrics& metrics,
                          std::shared_ptr<const TaskStateSnapshot> state) override;
  void snapshot_failed(AsyncCheckpointRunnable& runnable) override;

  bool fail(CheckpointId id, std::string cause);
  bool check_and_clear_aborted_status(CheckpointId id);
  void remember_aborted(CheckpointId id);
  void register_alignment_timer(const CheckpointMetaData& meta, const CheckpointOptions& options);
  void cancel_alignment_timer();
  void close_runnable(AsyncCheckpointRunnable& runnable);

  Ports ports_;
  FsCheckpointStreamFactory& streams_;
  ChannelStateWriter& channel_state_;
  CheckpointingTask& task_;
  std::int32_t max_recorded_aborts_;

  CheckpointId last_checkpoint_id_ = kNoCheckpoint;
  std::vector<CheckpointId> aborted_;  // in the order of insertion
  CheckpointId max_aborted_ = 0;
  std::map<CheckpointId, std::shared_ptr<AsyncCheckpointRunnable>> checkpoints_;
  bool closed_ = false;
  TimerId alignment_timer_{};
  CheckpointId alignment_checkpoint_ = 0;
};

}  // namespace tailrace::engine
