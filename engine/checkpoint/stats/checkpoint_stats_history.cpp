#include "engine/checkpoint/stats/checkpoint_stats_history.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

bool is_newer(const CheckpointStats& stats, const CheckpointStatsPtr& than) {
  return than == nullptr || stats.id() > than->id();
}

}  // namespace

CheckpointStatsHistory::CheckpointStatsHistory(std::int32_t size)
    : size_(static_cast<std::size_t>(size)) {
  TAILRACE_ASSERT(size >= 0);
}

void CheckpointStatsHistory::add_in_progress_checkpoint(CheckpointStatsPtr stats) {
  if (size_ == 0) return;
  if (ring_.size() < size_) {
    ring_.push_back(std::move(stats));
    return;
  }
  ring_[next_] = std::move(stats);
  next_ = next_ + 1 == size_ ? 0 : next_ + 1;
}

void CheckpointStatsHistory::checkpoint_ended(const CheckpointStatsPtr& stats) {
  TAILRACE_ASSERT(!stats->is_in_progress());
  if (stats->status() == CheckpointStatsStatus::FAILED) {
    if (is_newer(*stats, latest_failed_)) latest_failed_ = stats;
  } else if (stats->properties().is_savepoint() && is_newer(*stats, latest_savepoint_)) {
    latest_savepoint_ = stats;
  } else if (is_newer(*stats, latest_completed_)) {
    latest_completed_ = stats;
  }
}

CheckpointStatsPtr CheckpointStatsHistory::checkpoint_by_id(CheckpointId id) const {
  for (const CheckpointStatsPtr& stats : ring_) {
    if (stats->id() == id) return stats;
  }
  return nullptr;
}

std::vector<CheckpointStatsPtr> CheckpointStatsHistory::newest_first() const {
  std::vector<CheckpointStatsPtr> newest;
  newest.reserve(ring_.size());
  // `next_` stays 0 until the ring is full, so the oldest is at `next_` in any case.
  for (std::size_t i = ring_.size(); i > 0; --i) {
    newest.push_back(ring_[(next_ + i - 1) % ring_.size()]);
  }
  return newest;
}

}  // namespace tailrace::engine
