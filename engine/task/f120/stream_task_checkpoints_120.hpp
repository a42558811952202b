// The checkpointing half of a task of 1.20.
//
// Flink 1.20 StreamTask (spec coordinator.md ).
//   T1  Operators hear of completed checkpoints in ascending order, of each once.
//   T2  The final checkpoint is the first one that begins after the end of data; once a stop
//       savepoint has reached the task, that very savepoint.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/task/f120/subtask_checkpoint_coordinator_120.hpp"
#include "engine/task/stream_task_checkpoints.hpp"

namespace tailrace::engine {

class StreamTaskCheckpoints120 final : public StreamTaskCheckpoints {
 public:
  explicit StreamTaskCheckpoints120(const StreamTaskCheckpointsContext& context);

  void trigger(const CheckpointMetaData& meta, const CheckpointOptions& options) override;
  void trigger_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          const AlignmentMetrics& alignment) override;
  void abort_on_barrier(CheckpointId id, CheckpointFailureReason reason) override;
  void init_inputs_checkpoint(CheckpointId id, const CheckpointOptions& options) override {
    coordinator_.init_inputs_checkpoint(id, options);
  }
  void alignment_ended(CheckpointId id, const AlignmentMetrics& alignment) override {
    coordinator_.alignment_ended(id, alignment);
  }
  void notify_complete(CheckpointId id) override;
  void notify_aborted(CheckpointId id, CheckpointId latest_completed) override;
  void notify_subsumed(CheckpointId id) override { coordinator_.notify_checkpoint_subsumed(id); }
  void cancel() override { coordinator_.cancel(); }
  void close() override { coordinator_.close(); }

  void set_synchronous_savepoint(CheckpointId id) override;
  void end_of_data_received() override { end_of_data_received_ = true; }
  [[nodiscard]] bool waits_for_final_checkpoint() const override {
    const bool must_wait = (end_of_data_received_ && final_checkpoint_) || sync_savepoint_;
    return must_wait && !final_checkpoint_completed_;
  }
  [[nodiscard]] bool has_pending_checkpoints() const override {
    return coordinator_.async_checkpoint_runnable_size() > 0;
  }

  [[nodiscard]] Duration checkpoint_start_delay() const override { return checkpoint_start_delay_; }

  [[nodiscard]] SubtaskCheckpointCoordinator120& coordinator() { return coordinator_; }

 private:
  enum class Outcome : std::uint8_t { kTaken, kNotRunning, kFailed };
  Outcome perform_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                             const AlignmentMetrics& alignment);
  // Returns: whether it may be that savepoint; otherwise the task was told to fail.
  bool accept_synchronous_savepoint(CheckpointId id);

  Ports ports_;
  CheckpointingTask& task_;
  bool final_checkpoint_;
  SubtaskCheckpointCoordinator120 coordinator_;
  CheckpointId latest_report_checkpoint_id_;
  Duration checkpoint_start_delay_;
  std::optional<CheckpointId> sync_savepoint_;
  std::optional<CheckpointId> final_checkpoint_min_id_;
  bool end_of_data_received_ = false;
  bool final_checkpoint_completed_ = false;
};

}  // namespace tailrace::engine
