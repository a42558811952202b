// Decides what the barriers of all inputs of one task mean, and times the alignment.
//
// Flink 1.20 CheckpointBarrierHandler (metrics: spec barriers.md 5.5). Runs on its task's mailbox;
// nothing here suspends. Channels count over all inputs of the task.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/ids.hpp"
#include "engine/network/events.hpp"
#include "engine/ports.hpp"
#include "sim/base/assert.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine::f120 {

class CheckpointBarrierHandler {
 public:
  virtual ~CheckpointBarrierHandler() = default;
  CheckpointBarrierHandler(const CheckpointBarrierHandler&) = delete;
  CheckpointBarrierHandler& operator=(const CheckpointBarrierHandler&) = delete;

  // `rpc`: it comes from the coordinator, not through the channel, so that no sender has stopped.
  virtual void process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel,
                               bool rpc) = 0;
  virtual void process_barrier_announcement(const CheckpointBarrier& barrier,
                                            std::int32_t sequence_number, ChannelIndex channel) = 0;
  virtual void process_cancellation_barrier(const CancelCheckpointMarker& marker,
                                            ChannelIndex channel) = 0;
  virtual void process_end_of_partition(ChannelIndex channel) = 0;
  // Runs once all barriers of the checkpoint are in (true), or when it is aborted (false); maybe at
  // once. Requires: the checkpoint has been seen, or every channel has ended; once for each.
  virtual void when_all_barriers(CheckpointId /*id*/, base::InplaceFunction<void(bool)> /*done*/) {
    TAILRACE_ASSERT_MSG(false, "a tracker has no channel state");
  }
  // No timer fires after this.
  virtual void close() {}

  // Data polled from a gate; counts while an alignment runs.
  void add_processed_bytes(std::int64_t bytes) {
    if (alignment_start_) bytes_processed_ += bytes;
  }

  [[nodiscard]] virtual CheckpointId latest_checkpoint_id() const = 0;
  [[nodiscard]] virtual bool is_checkpoint_pending() const = 0;
  [[nodiscard]] virtual bool is_blocked(ChannelIndex channel) const = 0;
  // The running alignment so far, else the length of the last one.
  [[nodiscard]] base::Duration alignment_duration() const;
  [[nodiscard]] base::Duration checkpoint_start_delay() const { return start_delay_; }

 protected:
  CheckpointBarrierHandler(CheckpointListener& listener, const Clock& clock,
                           bool checkpoints_after_tasks_finish)
      : listener_(listener),
        clock_(clock),
        checkpoints_after_tasks_finish_(checkpoints_after_tasks_finish) {}

  [[nodiscard]] bool checkpoints_after_tasks_finish() const {
    return checkpoints_after_tasks_finish_;
  }
  [[nodiscard]] std::int64_t now_ms() const { return clock_.now().ns / 1'000'000; }

  void notify_checkpoint(const CheckpointBarrier& barrier);
  void notify_abort(CheckpointId id, CheckpointFailureReason reason) {
    listener_.abort_checkpoint_on_barrier(id, reason);
  }

  void mark_alignment_start(const CheckpointBarrier& barrier);
  // Requires: an alignment runs (Flink: its duration would be negative).
  void mark_alignment_end();
  void mark_alignment_start_and_end(const CheckpointBarrier& barrier) {
    mark_alignment_start(barrier);
    end_alignment({});
  }
  // Ends a measurement that nobody has ended, with a duration of 0, and has none from now on.
  void reset_alignment();

 private:
  // Flink's pair of futures.
  struct Measurement {
    bool is_final = false;
    base::Duration duration;
    std::int64_t bytes = 0;
  };

  void end_alignment(base::Duration duration);

  CheckpointListener& listener_;
  const Clock& clock_;
  bool checkpoints_after_tasks_finish_;

  Measurement latest_;
  CheckpointId measured_id_ = kNoCheckpoint;  // whose alignment was started last
  base::Duration start_delay_;
  std::optional<Time> alignment_start_;  // none: no alignment runs
  std::int64_t bytes_processed_ = 0;
  CheckpointId owed_ = kNoCheckpoint;  // was triggered with `latest_` before that was final
  std::int64_t owed_start_delay_ns_ = 0;
};

}  // namespace tailrace::engine::f120
