// Decides what the barriers of all inputs of one task mean.
//
// Flink 1.10 CheckpointBarrierHandler. Runs on its task's mailbox; nothing here suspends. Channels
// count over all gates of the task: those of the first gate, then those of the second, and so on.
// The functions that return bool say whether blocked channels were released: the gate then rolls
// its storage over.
#pragma once

#include <cstdint>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/ids.hpp"
#include "engine/network/events.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine::f110 {

class CheckpointBarrierHandler {
 public:
  virtual ~CheckpointBarrierHandler() = default;

  [[nodiscard]] virtual bool is_blocked(ChannelIndex channel) const = 0;

  // `buffered_bytes`: what the storage holds as pending, reported with a trigger.
  [[nodiscard]] virtual bool process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel,
                                             std::int64_t buffered_bytes) = 0;
  [[nodiscard]] virtual bool process_cancellation_barrier(const CancelCheckpointMarker& marker) = 0;
  [[nodiscard]] virtual bool process_end_of_partition() = 0;

  // A gate has come to its end. No abort is notified, even of a running alignment.
  virtual void release_blocks_and_reset_barriers() = 0;
  // The storage is full: the running alignment is given up.
  virtual void checkpoint_size_limit_exceeded() = 0;

  [[nodiscard]] virtual CheckpointId latest_checkpoint_id() const = 0;
  // The running alignment so far, else the length of the last one.
  [[nodiscard]] virtual base::Duration alignment_duration() const = 0;

 protected:
  explicit CheckpointBarrierHandler(CheckpointListener& listener) : listener_(listener) {}

  void notify_checkpoint(const CheckpointBarrier& barrier, std::int64_t bytes_buffered,
                         base::Duration alignment) {
    listener_.trigger_checkpoint_on_barrier({barrier.id, barrier.timestamp_ms}, barrier.options,
                                            {bytes_buffered, alignment.ns});
  }
  void notify_abort(CheckpointId id, CheckpointFailureReason reason) {
    listener_.abort_checkpoint_on_barrier(id, reason);
  }
  void notify_abort_on_cancellation_barrier(CheckpointId id) {
    notify_abort(id, CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
  }

 private:
  CheckpointListener& listener_;
};

}  // namespace tailrace::engine::f110
