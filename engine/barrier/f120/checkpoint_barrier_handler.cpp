#include "engine/barrier/f120/checkpoint_barrier_handler.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

base::Duration CheckpointBarrierHandler::alignment_duration() const {
  if (alignment_start_) return clock_.now() - *alignment_start_;
  return latest_.is_final ? latest_.duration : base::Duration{};
}

void CheckpointBarrierHandler::notify_checkpoint(const CheckpointBarrier& barrier) {
  AlignmentMetrics metrics;
  if (barrier.id == measured_id_) {
    metrics.start_delay_ns = start_delay_.ns;
    metrics.is_final = latest_.is_final;
    if (latest_.is_final) {
      metrics.duration_ns = latest_.duration.ns;
      metrics.bytes_processed = latest_.bytes;
    } else {
      owed_ = barrier.id;
      owed_start_delay_ns_ = start_delay_.ns;
    }
  }
  listener_.trigger_checkpoint_on_barrier({barrier.id, barrier.timestamp_ms}, barrier.options,
                                          metrics);
}

void CheckpointBarrierHandler::mark_alignment_start(const CheckpointBarrier& barrier) {
  start_delay_ = base::Duration::millis(std::max<std::int64_t>(0, now_ms() - barrier.timestamp_ms));
  reset_alignment();
  alignment_start_ = clock_.now();
  measured_id_ = barrier.id;
}

void CheckpointBarrierHandler::mark_alignment_end() {
  TAILRACE_ASSERT(alignment_start_.has_value());
  end_alignment(clock_.now() - *alignment_start_);
}

void CheckpointBarrierHandler::reset_alignment() {
  end_alignment({});
  latest_ = {};
}

void CheckpointBarrierHandler::end_alignment(base::Duration duration) {
  if (!latest_.is_final) {
    latest_ = {true, duration, bytes_processed_};
    const CheckpointId owed = std::exchange(owed_, kNoCheckpoint);
    if (owed != kNoCheckpoint) {
      listener_.alignment_ended(
          owed, {0, latest_.duration.ns, latest_.bytes, owed_start_delay_ns_, true});
    }
  }
  alignment_start_.reset();
  bytes_processed_ = 0;
}

}  // namespace tailrace::engine::f120
