// At-least-once: counts barriers and never holds anything back.
//
// Flink 1.10 CheckpointBarrierTracker (spec barriers.md 4.1), with its ways: barriers are counted,
// not channels, so that two on one channel count twice; a task with one channel checks no id; after
// an end of partition no later checkpoint can complete.
//
// Invariants
//   T1  Ids of pending_ increase from front to back; none exceeds latest_pending_id_.
//   T2  At most kMaxCheckpointsToTrack entries are pending between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/barrier/f110/checkpoint_barrier_handler.hpp"

namespace tailrace::engine::f110 {

class CheckpointBarrierTracker final : public CheckpointBarrierHandler {
 public:
  // Flink 1.10 CheckpointBarrierTracker.MAX_CHECKPOINTS_TO_TRACK. One more, and the oldest is
  // dropped without a word.
  static constexpr std::size_t kMaxCheckpointsToTrack = 50;

  // Requires: channel_count > 0.
  CheckpointBarrierTracker(std::int32_t channel_count, CheckpointListener& listener);

  [[nodiscard]] bool is_blocked(ChannelIndex) const override { return false; }
  // Cost: O(kMaxCheckpointsToTrack), no allocation.
  [[nodiscard]] bool process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel,
                                     std::int64_t buffered_bytes) override;
  [[nodiscard]] bool process_cancellation_barrier(const CancelCheckpointMarker& marker) override;
  [[nodiscard]] bool process_end_of_partition() override;
  void release_blocks_and_reset_barriers() override {}
  // A broken invariant: at-least-once stores nothing that could be too much.
  void checkpoint_size_limit_exceeded() override;

  // Of the newest pending checkpoint; kNoCheckpoint if none is pending.
  [[nodiscard]] CheckpointId latest_checkpoint_id() const override {
    return pending_.empty() ? kNoCheckpoint : pending_.back().id;
  }
  [[nodiscard]] base::Duration alignment_duration() const override { return {}; }

  // Oldest first.
  [[nodiscard]] std::vector<CheckpointId> pending_checkpoint_ids() const;

 private:
  // Flink 1.10 CheckpointBarrierCount.
  struct BarrierCount {
    CheckpointId id = kNoCheckpoint;
    std::int32_t barriers = 0;
    bool aborted = false;
  };

  // Tells the task once.
  void abort(BarrierCount& entry, CheckpointFailureReason reason);

  std::int32_t channel_count_;
  // A vector, because erasing in front of 50 small entries is cheaper than a deque that allocates.
  std::vector<BarrierCount> pending_;
  CheckpointId latest_pending_id_ = kNoCheckpoint;  // highest id ever added
};

}  // namespace tailrace::engine::f110
