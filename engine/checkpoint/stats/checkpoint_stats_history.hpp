// The newest checkpoints, and the latest of each kind.
//
// CheckpointStatsHistory of Flink 1.10 and 1.20 (spec coordinator.md ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/checkpoint/stats/checkpoint_stats.hpp"

namespace tailrace::engine {

class CheckpointStatsHistory {
 public:
  // `web.checkpoints.history`: how many are kept, those in progress included; 0: only the latest of
  // each kind. Requires: size >= 0.
  explicit CheckpointStatsHistory(std::int32_t size);

  // Drops the one that was added first, if there are too many.
  void add_in_progress_checkpoint(CheckpointStatsPtr stats);
  // Of the latest of its kind. Requires: `stats` has just ended.
  void checkpoint_ended(const CheckpointStatsPtr& stats);

  // Null: it is not among the newest.
  [[nodiscard]] CheckpointStatsPtr checkpoint_by_id(CheckpointId id) const;
  [[nodiscard]] std::vector<CheckpointStatsPtr> newest_first() const;
  // Each is replaced by a larger id only; null: there was none. A completed savepoint that is not
  // newer than the latest one counts as a checkpoint here, as it does in Flink.
  [[nodiscard]] const CheckpointStatsPtr& latest_completed_checkpoint() const {
    return latest_completed_;
  }
  [[nodiscard]] const CheckpointStatsPtr& latest_failed_checkpoint() const {
    return latest_failed_;
  }
  [[nodiscard]] const CheckpointStatsPtr& latest_savepoint() const { return latest_savepoint_; }

 private:
  std::size_t size_;
  std::vector<CheckpointStatsPtr> ring_;
  std::size_t next_ = 0;  // where the next one goes; the oldest is there once the ring is full
  CheckpointStatsPtr latest_completed_;
  CheckpointStatsPtr latest_failed_;
  CheckpointStatsPtr latest_savepoint_;
};

}  // namespace tailrace::engine
