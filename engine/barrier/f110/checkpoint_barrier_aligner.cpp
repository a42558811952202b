#include "engine/barrier/f110/checkpoint_barrier_aligner.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {

CheckpointBarrierAligner::CheckpointBarrierAligner(std::int32_t channel_count,
                                                   CheckpointListener& listener, const Clock& clock)
    : CheckpointBarrierHandler(listener), clock_(clock) {
  TAILRACE_ASSERT(channel_count > 0);
  blocked_.resize(static_cast<std::size_t>(channel_count), 0);
}

bool CheckpointBarrierAligner::is_blocked(ChannelIndex channel) const {
  const auto index = static_cast<std::size_t>(channel);
  TAILRACE_ASSERT(index < blocked_.size());
  return blocked_[index] != 0;
}

bool CheckpointBarrierAligner::process_barrier(const CheckpointBarrier& barrier,
                                               ChannelIndex channel, std::int64_t buffered_bytes) {
  if (blocked_.size() == 1) {
    if (barrier.id > current_id_) {
      current_id_ = barrier.id;
      notify_checkpoint(barrier, buffered_bytes, last_alignment_);
    }
    return false;
  }

  bool released = false;
  if (is_aligning()) {
    if (barrier.id < current_id_) return false;
    if (barrier.id == current_id_) {
      block(channel);
    } else {
      // Told before the channels are released, unlike a completion: as Flink does.
      notify_abort(current_id_, CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
      release_blocks_and_reset_barriers();
      released = true;
      begin_new_alignment(barrier.id, channel);
    }
  } else {
    // Completed, cancelled or aborted before: its late barriers block nothing.
    if (barrier.id <= current_id_) return false;
    begin_new_alignment(barrier.id, channel);
  }

  if (barriers_received_ + closed_channels_ == static_cast<std::int32_t>(blocked_.size())) {
    // The alignment closes before the snapshot starts, because the snapshot reports its duration.
    release_blocks_and_reset_barriers();
    notify_checkpoint(barrier, buffered_bytes, last_alignment_);
    return true;
  }
  return released;
}

bool CheckpointBarrierAligner::process_cancellation_barrier(const CancelCheckpointMarker& marker) {
  if (blocked_.size() == 1) {
    if (marker.id > current_id_) {
      current_id_ = marker.id;
      notify_abort_on_cancellation_barrier(marker.id);
    }
    return false;
  }

  if (marker.id < current_id_) return false;
  const bool aligning = is_aligning();
  if (marker.id == current_id_) {
    if (!aligning) return false;
    release_blocks_and_reset_barriers();
  } else {
    if (aligning) release_blocks_and_reset_barriers();
    current_id_ = marker.id;
    forget_alignment_time();
  }
  notify_abort_on_cancellation_barrier(marker.id);
  return aligning;
}

bool CheckpointBarrierAligner::process_end_of_partition() {
  ++closed_channels_;
  if (!is_aligning()) return false;
  notify_abort(current_id_, CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM);
  release_blocks_and_reset_barriers();
  return true;
}

void CheckpointBarrierAligner::release_blocks_and_reset_barriers() {
  std::fill(blocked_.begin(), blocked_.end(), std::uint8_t{0});
  barriers_received_ = 0;
  if (alignment_start_) {
    last_alignment_ = clock_.now() - *alignment_start_;
    alignment_start_.reset();
  }
}

void CheckpointBarrierAligner::checkpoint_size_limit_exceeded() {
  release_blocks_and_reset_barriers();
  notify_abort(current_id_, CheckpointFailureReason::CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED);
}

base::Duration CheckpointBarrierAligner::alignment_duration() const {
  return alignment_start_ ? clock_.now() - *alignment_start_ : last_alignment_;
}

void CheckpointBarrierAligner::begin_new_alignment(CheckpointId id, ChannelIndex channel) {
  TAILRACE_ASSERT(id > current_id_ && !is_aligning());  // A1, A2
  current_id_ = id;
  block(channel);
  alignment_start_ = clock_.now();
}

void CheckpointBarrierAligner::block(ChannelIndex channel) {
  // Flink: "Stream corrupt: Repeated barrier for same checkpoint on input".
  TAILRACE_ASSERT(!is_blocked(channel));
  blocked_[static_cast<std::size_t>(channel)] = 1;
  ++barriers_received_;
}

void CheckpointBarrierAligner::forget_alignment_time() {
  alignment_start_.reset();
  last_alignment_ = {};
}

}  // namespace tailrace::engine::f110
