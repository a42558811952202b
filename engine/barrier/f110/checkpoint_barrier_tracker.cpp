#include "engine/barrier/f110/checkpoint_barrier_tracker.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {

CheckpointBarrierTracker::CheckpointBarrierTracker(std::int32_t channel_count,
                                                   CheckpointListener& listener)
    : CheckpointBarrierHandler(listener), channel_count_(channel_count) {
  TAILRACE_ASSERT(channel_count > 0);
  pending_.reserve(kMaxCheckpointsToTrack + 1);
}

bool CheckpointBarrierTracker::process_barrier(const CheckpointBarrier& barrier,
                                               ChannelIndex /*channel*/,
                                               std::int64_t /*buffered_bytes*/) {
  if (channel_count_ == 1) {
    notify_checkpoint(barrier, 0, {});
    return false;
  }

  const auto entry =
      std::find_if(pending_.begin(), pending_.end(),
                   [&barrier](const BarrierCount& count) { return count.id == barrier.id; });
  if (entry != pending_.end()) {
    if (++entry->barriers == channel_count_) {
      const bool aborted = entry->aborted;
      pending_.erase(pending_.begin(), entry + 1);  // older ones can no longer matter
      if (!aborted) notify_checkpoint(barrier, 0, {});
    }
    return false;
  }

  if (barrier.id > latest_pending_id_) {
    latest_pending_id_ = barrier.id;
    pending_.push_back({barrier.id, 1, false});
    if (pending_.size() > kMaxCheckpointsToTrack) pending_.erase(pending_.begin());  // T2
  }
  return false;
}

bool CheckpointBarrierTracker::process_cancellation_barrier(const CancelCheckpointMarker& marker) {
  constexpr auto kReason = CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER;
  if (channel_count_ == 1) {
    notify_abort(marker.id, kReason);
    return false;
  }

  while (!pending_.empty() && pending_.front().id < marker.id) {
    BarrierCount oldest = pending_.front();
    pending_.erase(pending_.begin());
    abort(oldest, kReason);
  }

  if (!pending_.empty() && pending_.front().id == marker.id) {
    BarrierCount& entry = pending_.front();
    abort(entry, kReason);
    if (++entry.barriers == channel_count_) pending_.erase(pending_.begin());
  } else if (marker.id > latest_pending_id_) {
    TAILRACE_ASSERT(pending_.empty());  // T1: all were older, and have gone
    latest_pending_id_ = marker.id;
    BarrierCount entry{marker.id, 1, false};
    abort(entry, kReason);
    pending_.push_back(entry);
  }
  return false;
}

bool CheckpointBarrierTracker::process_end_of_partition() {
  while (!pending_.empty()) {
    BarrierCount oldest = pending_.front();
    pending_.erase(pending_.begin());
    abort(oldest, CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM);
  }
  return false;
}

void CheckpointBarrierTracker::checkpoint_size_limit_exceeded() {
  TAILRACE_ASSERT_MSG(false, "at-least-once stores nothing");
}

std::vector<CheckpointId> CheckpointBarrierTracker::pending_checkpoint_ids() const {
  std::vector<CheckpointId> ids;
  ids.reserve(pending_.size());
  for (const BarrierCount& entry : pending_) ids.push_back(entry.id);
  return ids;
}

void CheckpointBarrierTracker::abort(BarrierCount& entry, CheckpointFailureReason reason) {
  if (entry.aborted) return;
  entry.aborted = true;
  notify_abort(entry.id, reason);
}

}  // namespace tailrace::engine::f110
