// The asynchronous part of one subtask's checkpoint: writes what the synchronous part captured.
//
// Flink 1.10 and 1.20 AsyncCheckpointRunnable (spec coordinator.md ).
// The operators of the task are written one after the other: a piece of a stream, the time that it
// takes on some core, the next piece; then the stream goes to the store.
//
//   RUNNING -> COMPLETED   everything is written: reported once
//   RUNNING -> DISCARDED   failed (reported once) or closed: everything written is deleted
//
// Destroying it closes it. Whoever closes it, or destroys it, hears nothing more from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/ports.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/snapshot_future.hpp"
#include "engine/task/async_operations.hpp"
#include "engine/task/channel_state_write_result.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// The futures of one operator.
struct OperatorSnapshotFutures {
  OperatorId id;
  std::vector<std::unique_ptr<SnapshotFuture>> futures;
};

class AsyncCheckpointRunnable final : public AsyncOperation {
 public:
  // Outlives the runnable, unless it is closed before.
  class Listener {
   public:
    // `state` is null if no operator has any state.
    virtual void snapshot_completed(AsyncCheckpointRunnable& runnable,
                                    const CheckpointMetrics& metrics,
                                    std::shared_ptr<const TaskStateSnapshot> state) = 0;
    virtual void snapshot_failed(AsyncCheckpointRunnable& runnable) = 0;

   protected:
    ~Listener() = default;
  };
  // 1.20.
  struct Finished {
    bool deployed_as_finished = false;
    bool task_finished = false;
  };

  // `metrics`: what is known before the synchronous part ends.
  AsyncCheckpointRunnable(const Ports& ports, FsCheckpointStreamFactory& streams,
                          CheckpointMetaData meta, CheckpointOptions options,
                          std::vector<OperatorSnapshotFutures> operators,
                          const CheckpointMetrics& metrics, Finished finished, Listener& listener);
  ~AsyncCheckpointRunnable() override;
  AsyncCheckpointRunnable(const AsyncCheckpointRunnable&) = delete;
  AsyncCheckpointRunnable& operator=(const AsyncCheckpointRunnable&) = delete;

  // 1.20. What was in flight in the channels of the task: of the inputs it belongs to the head of the
  // chain, of the outputs to the tail. Before it starts, once.
  void set_channel_state(std::shared_ptr<ChannelStateWriteResult> result) {
    channel_state_ = std::move(result);
  }

  // An unaligned checkpoint aligns while its asynchronous part runs, which waits for the channel
  // state of all barriers.
  void alignment_ended(std::int64_t duration_ns, std::int64_t bytes_processed) {
    metrics_.alignment_ns = duration_ns;
    metrics_.bytes_processed_during_alignment = bytes_processed;
  }

  // The task has paid for the synchronous part: the asynchronous duration, which includes the wait
  // for a thread, begins now; otherwise it began with the construction.
  void synchronous_part_ended(std::int64_t sync_ns);

  // If it was closed before, it only ends.
  void start(base::Callback ended) override;

  // RUNNING -> DISCARDED. Returns: what is known of the aborted snapshot, with the sizes written so
  // far; none if it was not RUNNING any more, and then nothing has happened.
  std::optional<CheckpointMetrics> close();

  [[nodiscard]] CheckpointId checkpoint() const { return meta_.id; }
  // Of one that has failed.
  [[nodiscard]] CheckpointFailureReason failure() const { return failure_; }

 private:
  enum class State : std::uint8_t { RUNNING, DISCARDED, COMPLETED };

  void run();
  void await_channel_state();
  void take_channel_state();
  void complete();
  void store_stream();
  void fail();
  void discard();
  void end();

  Ports ports_;
  FsCheckpointStreamFactory* streams_;
  CheckpointMetaData meta_;
  CheckpointOptions options_;
  std::vector<OperatorSnapshotFutures> operators_;
  CheckpointMetrics metrics_;
  Finished finished_;
  Listener* listener_;
  State state_ = State::RUNNING;
  base::Callback ended_;
  Time constructed_;
  std::size_t operator_ = 0;  // the one being written
  std::size_t future_ = 0;
  std::shared_ptr<ChannelStateWriteResult> channel_state_;  // null: there is none
  CheckpointFailureReason failure_ = CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION;
  std::shared_ptr<TaskStateSnapshot> snapshot_;
  CheckpointStateOutputStream upload_;  // the stream on its way
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
