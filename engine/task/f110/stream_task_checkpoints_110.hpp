// The checkpointing half of a task of 1.10.
//
// Flink 1.10 StreamTask (spec coordinator.md ).
#pragma once

#include <optional>

#include "engine/task/f110/subtask_checkpoint_coordinator_110.hpp"
#include "engine/task/stream_task_checkpoints.hpp"

namespace tailrace::engine {

class StreamTaskCheckpoints110 final : public StreamTaskCheckpoints {
 public:
  explicit StreamTaskCheckpoints110(const StreamTaskCheckpointsContext& context)
      : task_(*context.task),
        is_source_(context.is_source),
        coordinator_(context.ports, *context.streams, *context.task) {}

  void trigger(const CheckpointMetaData& meta, const CheckpointOptions& options) override;
  void trigger_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          const AlignmentMetrics& alignment) override;
  void abort_on_barrier(CheckpointId id, CheckpointFailureReason reason) override;
  void notify_complete(CheckpointId id) override;
  void notify_aborted(CheckpointId, CheckpointId) override {}  // nobody of 1.10 sends it
  void notify_subsumed(CheckpointId) override {}
  void cancel() override { coordinator_.cancel(); }
  void close() override { coordinator_.cancel(); }

  [[nodiscard]] bool waits_for_savepoint() const override {
    return sync_savepoint_.has_value() && !is_source_;
  }
  [[nodiscard]] bool is_released() const override { return released_; }

 private:
  // Returns: false if the task does not run; then its outputs hear of it.
  bool perform_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          const AlignmentMetrics& alignment);

  CheckpointingTask& task_;
  bool is_source_;
  SubtaskCheckpointCoordinator110 coordinator_;
  std::optional<CheckpointId> sync_savepoint_;
  bool released_ = false;
};

}  // namespace tailrace::engine
