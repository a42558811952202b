// Exactly-once: blocks each channel at its barrier until the barriers of all channels are in.
//
// Flink 1.10 CheckpointBarrierAligner (spec barriers.md section 3). A channel blocks when its
// barrier is processed, not when it arrives; all channels unblock together.
//
// Invariants
//   A1  current_id_ never decreases.
//   A2  barriers_received_ is the number of blocked channels; 0 means that no alignment runs.
//   A3  The task hears of one checkpoint at most once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f110/checkpoint_barrier_handler.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine::f110 {

class CheckpointBarrierAligner final : public CheckpointBarrierHandler {
 public:
  // Requires: channel_count > 0.
  CheckpointBarrierAligner(std::int32_t channel_count, CheckpointListener& listener,
                           const Clock& clock);

  [[nodiscard]] bool is_blocked(ChannelIndex channel) const override;

  // Requires: the channel is not blocked; the gate stores what comes from a blocked one.
  // Cost: O(1), O(channel count) when channels are released; no allocation.
  [[nodiscard]] bool process_barrier(const CheckpointBarrier& barrier, ChannelIndex channel,
                                     std::int64_t buffered_bytes) override;
  // A marker of a newer id drops the running alignment without a word about the older checkpoint.
  [[nodiscard]] bool process_cancellation_barrier(const CancelCheckpointMarker& marker) override;
  // Aborts a running alignment, never completes one. For later checkpoints a closed channel counts
  // as one whose barrier has arrived.
  [[nodiscard]] bool process_end_of_partition() override;

  void release_blocks_and_reset_barriers() override;
  void checkpoint_size_limit_exceeded() override;

  [[nodiscard]] CheckpointId latest_checkpoint_id() const override { return current_id_; }
  [[nodiscard]] base::Duration alignment_duration() const override;

 private:
  [[nodiscard]] bool is_aligning() const { return barriers_received_ > 0; }
  void begin_new_alignment(CheckpointId id, ChannelIndex channel);
  void block(ChannelIndex channel);
  void forget_alignment_time();

  const Clock& clock_;
  std::vector<std::uint8_t> blocked_;  // by channel; bytes, because vector<bool> is slower to ask
  CheckpointId current_id_ = kNoCheckpoint;  // being aligned, or the last that was
  std::int32_t barriers_received_ = 0;       // for current_id_
  std::int32_t closed_channels_ = 0;
  std::optional<Time> alignment_start_;
  base::Duration last_alignment_;
};

}  // namespace tailrace::engine::f110
