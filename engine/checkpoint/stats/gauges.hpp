// What the gauges of both generations read.
#pragma once

#include <cstdint>

#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"

namespace tailrace::engine::gauges {

inline std::int64_t total(const CheckpointStatsTracker& tracker) {
  return tracker.counts().total;
}
inline std::int64_t in_progress(const CheckpointStatsTracker& tracker) {
  return tracker.counts().in_progress;
}
inline std::int64_t completed(const CheckpointStatsTracker& tracker) {
  return tracker.counts().completed;
}
inline std::int64_t failed(const CheckpointStatsTracker& tracker) {
  return tracker.counts().failed;
}
// A quantity of the checkpoint that was completed last; -1: there was none.
template <auto Quantity>
std::int64_t of_last_completed(const CheckpointStatsTracker& tracker) {
  const CheckpointStats* last = tracker.latest_completed();
  return last == nullptr ? -1 : (last->*Quantity)();
}
// A quantity for a summary.
template <auto Quantity>
std::int64_t of_checkpoint(const CheckpointStats& stats) {
  return (stats.*Quantity)();
}

}  // namespace tailrace::engine::gauges
