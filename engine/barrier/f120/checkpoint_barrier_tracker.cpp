#include "engine/barrier/f120/checkpoint_barrier_tracker.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

CheckpointBarrierTracker::CheckpointBarrierTracker(std::int32_t channel_count,
                                                   CheckpointListener& listener, const Clock& clock,
                                                   bool checkpoints_after_tasks_finish)
    : CheckpointBarrierHandler(listener, clock, checkpoints_after_tasks_finish),
      channel_count_(channel_count),
      open_channels_(channel_count) {
  TAILRACE_ASSERT(channel_count > 0);
  pending_.reserve(kMaxCheckpointsToTrack + 1);
}

void CheckpointBarrierTracker::process_barrier(const CheckpointBarrier& barrier,
                                               ChannelIndex channel, bool /*rpc*/) {
  // For new checkpoints only: one that is pending may wait for the last open channel alone.
  if (barrier.id > latest_pending_id_ && open_channels_ == 1) {
    mark_alignment_start_and_end(barrier);
    notify_checkpoint(barrier);
    return;
  }

  const auto entry =
      std::find_if(pending_.begin(), pending_.end(),
                   [&barrier](const BarrierCount& count) { return count.id == barrier.id; });
  if (entry != pending_.end()) {
    if (entry->mark(channel)) complete(static_cast<std::size_t>(entry - pending_.begin()));
    return;
  }
  if (barrier.id <= latest_pending_id_) return;
  mark_alignment_start(barrier);
  latest_pending_id_ = barrier.id;
  BarrierCount count = new_count(barrier.id, channel);
  count.barrier = barrier;
  pending_.push_back(std::move(count));
  if (pending_.size() > kMaxCheckpointsToTrack) recycle(take_oldest());  // T2
}

void CheckpointBarrierTracker::process_cancellation_barrier(const CancelCheckpointMarker& marker,
                                                            ChannelIndex channel) {
  constexpr auto kReason = CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER;
  if (marker.id > latest_pending_id_ && open_channels_ == 1) {
    reset_alignment();
    notify_abort(marker.id, kReason);
    return;
  }

  while (!pending_.empty() && pending_.front().id < marker.id) {
    BarrierCount oldest = take_oldest();
    abort(oldest, kReason);
    recycle(std::move(oldest));
  }

  if (!pending_.empty() && pending_.front().id == marker.id) {
    abort(pending_.front(), kReason);
    if (pending_.front().mark(channel)) recycle(take_oldest());
  } else if (marker.id > latest_pending_id_) {
    TAILRACE_ASSERT(pending_.empty());  // T1: all were older, and have gone
    latest_pending_id_ = marker.id;
    BarrierCount count = new_count(marker.id, channel);
    abort(count, kReason);
    pending_.push_back(std::move(count));
  }
}

void CheckpointBarrierTracker::process_end_of_partition(ChannelIndex channel) {
  --open_channels_;
  if (!checkpoints_after_tasks_finish()) {
    while (!pending_.empty()) {
      BarrierCount oldest = take_oldest();
      abort(oldest, CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM);
      recycle(std::move(oldest));
    }
    reset_alignment();
    return;
  }
  // The newest one that waited for this channel alone; it subsumes the older ones.
  for (std::size_t i = pending_.size(); i-- > 0;) {
    if (pending_[i].mark(channel)) {
      complete(i);
      return;
    }
  }
}

std::vector<CheckpointId> CheckpointBarrierTracker::pending_checkpoint_ids() const {
  std::vector<CheckpointId> ids;
  ids.reserve(pending_.size());
  for (const BarrierCount& entry : pending_) ids.push_back(entry.id);
  return ids;
}

bool CheckpointBarrierTracker::BarrierCount::mark(ChannelIndex channel) {
  const auto index = static_cast<std::size_t>(channel);
  TAILRACE_ASSERT(index < aligned.size());
  if (std::exchange(aligned[index], std::uint8_t{1}) == 0) ++aligned_count;
  return aligned_count == target;
}

CheckpointBarrierTracker::BarrierCount CheckpointBarrierTracker::new_count(CheckpointId id,
                                                                           ChannelIndex channel) {
  BarrierCount count;
  count.id = id;
  count.target = open_channels_;
  if (!spare_sets_.empty()) {
    count.aligned = std::move(spare_sets_.back());
    spare_sets_.pop_back();
  }
  count.aligned.assign(static_cast<std::size_t>(channel_count_), std::uint8_t{0});
  count.mark(channel);
  return count;
}

void CheckpointBarrierTracker::complete(std::size_t index) {
  BarrierCount done = std::move(pending_[index]);
  for (std::size_t i = 0; i < index; ++i) recycle(std::move(pending_[i]));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  if (!done.aborted) {
    if (done.id == latest_pending_id_) mark_alignment_end();
    TAILRACE_ASSERT(done.barrier.has_value());
    notify_checkpoint(*done.barrier);
  }
  recycle(std::move(done));
}

void CheckpointBarrierTracker::abort(BarrierCount& entry, CheckpointFailureReason reason) {
  if (std::exchange(entry.aborted, true)) return;
  notify_abort(entry.id, reason);
}

CheckpointBarrierTracker::BarrierCount CheckpointBarrierTracker::take_oldest() {
  BarrierCount oldest = std::move(pending_.front());
  pending_.erase(pending_.begin());
  return oldest;
}

void CheckpointBarrierTracker::recycle(BarrierCount entry) {
  spare_sets_.push_back(std::move(entry.aligned));
}

}  // namespace tailrace::engine::f120
