// At-least-once: notes whose barriers are in and never holds anything back.
//
// Flink 1.20 CheckpointBarrierTracker (spec barriers.md 4.2), with its ways: a task with one open
// channel checks no id against what it has triggered; only one alignment is timed.
//
// Invariants
//   T1  Ids of pending_ increase from front to back; none exceeds latest_pending_id_.
//   T2  At most kMaxCheckpointsToTrack entries are pending between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f120/checkpoint_barrier_handler.hpp"

namespace tailrace::engine::f120 {

class CheckpointBarrierTracker final : public CheckpointBarrierHandler {
 public:
  // Flink 1.20 CheckpointBarrierTracker.MAX_CHECKPOINTS_TO_TRACK. One more, and the oldest is
  // dropped without a word.
  static constexpr std::size_t kMaxCheckpointsToTrack = 50;

  // Requires: channel_count > 0.
  CheckpointBarrierTracker(std::int32_t channel_count, CheckpointListener& listener,
                           const Clock& clock, bool checkpoints_after_tasks_finish);

  void process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel, bool rpc) override;
  void process_barrier_announcement(const CheckpointBarrier&, std::int32_t, ChannelIndex) override {
  }
  void process_cancellation_barrier(const CancelCheckpointMarker& marker,
                                    ChannelIndex channel) override;
  void process_end_of_partition(ChannelIndex channel) override;

  // Of the newest pending checkpoint; kNoCheckpoint if none is pending.
  [[nodiscard]] CheckpointId latest_checkpoint_id() const override {
    return pending_.empty() ? kNoCheckpoint : pending_.back().id;
  }
  [[nodiscard]] bool is_checkpoint_pending() const override { return !pending_.empty(); }
  [[nodiscard]] bool is_blocked(ChannelIndex) const override { return false; }
  [[nodiscard]] std::int32_t open_channels() const { return open_channels_; }
  // Oldest first.
  [[nodiscard]] std::vector<CheckpointId> pending_checkpoint_ids() const;

 private:
  // Flink CheckpointBarrierCount.
  struct BarrierCount {
    CheckpointId id = kNoCheckpoint;
    std::int32_t target = 0;  // open channels when the entry was made
    std::optional<CheckpointBarrier>
        barrier;                        // the first one; none: a cancel marker made the entry
    std::vector<std::uint8_t> aligned;  // by channel
    std::int32_t aligned_count = 0;
    bool aborted = false;

    // Returns: whether all channels are in now.
    bool mark(ChannelIndex channel);
  };

  BarrierCount new_count(CheckpointId id, ChannelIndex channel);
  // Drops the entry at `index` and all older ones; triggers it unless it was aborted.
  void complete(std::size_t index);
  // Tells the task once.
  void abort(BarrierCount& entry, CheckpointFailureReason reason);
  BarrierCount take_oldest();
  // The sets of entries that are done are used again.
  void recycle(BarrierCount entry);

  std::int32_t channel_count_;
  std::int32_t open_channels_;
  std::vector<BarrierCount> pending_;
  std::vector<std::vector<std::uint8_t>> spare_sets_;
  CheckpointId latest_pending_id_ = kNoCheckpoint;  // highest id ever added
};

}  // namespace tailrace::engine::f120
