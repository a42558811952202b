// Counts checkpoints and keeps what is known of each.
//
// CheckpointStatsTracker, CheckpointStatsCounts, CompletedCheckpointStatsSummary,
// CheckpointStatsSnapshot, RestoredCheckpointStats of Flink 1.10 and 1.20 (spec coordinator.md 7).
// One for each coordinator, in the job manager's process. What the generations do differently is in
// CheckpointStatsTraits. Timestamps are ms of the virtual wall clock, sizes bytes.
//
// Who reports what, and when
//   trigger     report_pending_checkpoint; 1.20: report_subtask_stats of finished ones
//   ack         report_subtask_stats, for an acknowledgement that was taken
//   1.20        report_incomplete_stats, for an acknowledgement of a checkpoint that is no longer
//               pending, and for a metrics report
//   completed   report_completed_checkpoint. 1.10: when the promise is kept; 1.20: after the store
//   failed      report_failed_checkpoint, before the failure manager counts; then
//               set_failure_counted, if it did
//   1.20        report_failed_checkpoint_without_in_progress, if there never was a pending object
//   restored    report_restored_checkpoint; 1.20: report_initialization_start before it, whether
//               something is found or not
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/stats/checkpoint_stats.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_history.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_traits.hpp"

namespace tailrace::engine {

// `in_progress` never goes below 0.
struct CheckpointStatsCounts {
  std::int64_t restored = 0;
  std::int64_t total = 0;
  std::int64_t in_progress = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;

  friend bool operator==(const CheckpointStatsCounts&, const CheckpointStatsCounts&) = default;
};

struct RestoredCheckpointStats {
  CheckpointId id = kNoCheckpoint;
  CheckpointProperties properties = {};
  std::int64_t restore_timestamp = 0;
  std::string external_path = {};
  std::int64_t state_size = 0;  // 1.20
};

// Over the completed checkpoints of a job, savepoints too. In the order of the traits.
class CompletedCheckpointStatsSummary {
 public:
  struct Entry {
    const char* name;  // as in REST
    StatsSummary summary;
    QuantileWindow window;
  };
  explicit CompletedCheckpointStatsSummary(const CheckpointStatsTraits& traits);
  void update_summary(const CheckpointStats& completed);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  const CheckpointStatsTraits* traits_;
  std::vector<Entry> entries_;
};

// What a user is shown at one moment. Statistics of single checkpoints go on changing in it, as they
// do in Flink's.
struct CheckpointStatsSnapshot {
  CheckpointStatsCounts counts;
  CompletedCheckpointStatsSummary summary;
  std::vector<std::shared_ptr<const CheckpointStats>> history;  // newest first
  std::shared_ptr<const CheckpointStats> latest_completed;
  std::shared_ptr<const CheckpointStats> latest_failed;
  std::shared_ptr<const CheckpointStats> latest_savepoint;
  std::optional<RestoredCheckpointStats> latest_restored;
};

// Not final: a replay listens to what it hears.
class CheckpointStatsTracker {
 public:
  // `history_size`: web.checkpoints.history. `traits` outlives the tracker.
  CheckpointStatsTracker(const CheckpointStatsTraits& traits, std::int32_t history_size);
  virtual ~CheckpointStatsTracker() = default;

  // `vertices`: by vertex index. Requires: no checkpoint of this id is in progress.
  // Cost: allocates what the whole checkpoint needs.
  CheckpointStatsPtr report_pending_checkpoint(CheckpointId id, std::int64_t trigger_timestamp,
                                               const CheckpointProperties& properties,
                                               std::span<const StatsVertex> vertices);
  // False: the checkpoint is not in progress, or there is no such subtask, or it has reported
  // before. Cost: O(log checkpoints in progress), no allocation.
  bool report_subtask_stats(CheckpointId id, std::int32_t vertex, std::int32_t subtask,
                            const SubtaskStateStats& stats);
  // 1.20, R-7.8: only of a checkpoint in the history that has not completed; false otherwise.
  // Requires: `stats.report` is INCOMPLETE.
  bool report_incomplete_stats(CheckpointId id, std::int32_t vertex, std::int32_t subtask,
                               const SubtaskStateStats& stats);
  // Returns what the completed checkpoint marks when it is discarded. Requires: in progress.
  CheckpointStatsPtr report_completed_checkpoint(CheckpointId id, std::string external_path);
  // Counts a failure of a checkpoint that was reported as pending. 1.10: requires that it is in
  // progress.
  void report_failed_checkpoint(CheckpointId id, std::int64_t failure_timestamp,
                                CheckpointFailureReason reason);
  // 1.20: of a trigger that failed before there was a checkpoint.
  void report_failed_checkpoint_without_in_progress();
  // The last failure that was reported, of this checkpoint, counts towards the tolerable ones.
  void set_failure_counted(CheckpointId id);

  // 1.20: a restore is tried; forgets what the one before has restored.
  void report_initialization_start(std::int64_t timestamp) {
    initialization_start_ = timestamp;
    latest_restored_.reset();
  }
  // 1.20: requires report_initialization_start with the same timestamp.
  virtual void report_restored_checkpoint(RestoredCheckpointStats restored);

  [[nodiscard]] const CheckpointStatsTraits& traits() const { return *traits_; }
  [[nodiscard]] const CheckpointStatsCounts& counts() const { return counts_; }
  [[nodiscard]] const CompletedCheckpointStatsSummary& summary() const { return summary_; }
  [[nodiscard]] const CheckpointStatsHistory& history() const { return history_; }
  // Null: it is not in progress.
  [[nodiscard]] std::shared_ptr<const CheckpointStats> find_in_progress(CheckpointId id) const;
  // Made anew only after something was reported that changes it.
  [[nodiscard]] std::shared_ptr<const CheckpointStatsSnapshot> create_snapshot() const;

  // What the gauges show. Null, none, -1: there was none.
  [[nodiscard]] const CheckpointStats* latest_completed() const { return latest_completed_.get(); }
  [[nodiscard]] const std::optional<RestoredCheckpointStats>& latest_restored() const {
    return latest_restored_;
  }
  [[nodiscard]] std::int64_t initialization_start() const { return initialization_start_; }
  // Gauge lastCheckpointExternalPath.
  [[nodiscard]] std::string last_checkpoint_external_path() const;

 private:
  void count_end_of_in_progress();

  const CheckpointStatsTraits* traits_;
  CheckpointStatsCounts counts_;
  CompletedCheckpointStatsSummary summary_;
  CheckpointStatsHistory history_;
  std::map<CheckpointId, CheckpointStatsPtr> in_progress_;
  CheckpointStatsPtr latest_completed_;  // reported last, whatever its id
  CheckpointStatsPtr last_failed_;       // reported last
  std::optional<RestoredCheckpointStats> latest_restored_;
  std::int64_t initialization_start_ = -1;
  mutable bool dirty_ = true;
  mutable std::shared_ptr<const CheckpointStatsSnapshot> snapshot_;
};

}  // namespace tailrace::engine
