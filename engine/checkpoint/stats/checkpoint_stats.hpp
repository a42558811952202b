// The statistics of one checkpoint, of each of its vertices and of each of their subtasks.
//
// AbstractCheckpointStats with PendingCheckpointStats, CompletedCheckpointStats,
// FailedCheckpointStats, and TaskStateStats, of Flink 1.10 and 1.20 (spec coordinator.md 7.2, 7.3).
// Flink replaces the object when a checkpoint ends; here it is one object that changes its status,
// which comes to the same because all of Flink's share what is kept per vertex.
//
// Invariants
//   T1  A subtask's first report stays, whatever comes later.
//   T2  Only complete reports count as acknowledged and move the latest acknowledgement.
//   T3  Reporting allocates nothing: all subtasks have their place from the construction on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/stats/stats_summary.hpp"
#include "engine/checkpoint/stats/subtask_state_stats.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

enum class CheckpointStatsStatus : std::uint8_t { IN_PROGRESS, COMPLETED, FAILED };
[[nodiscard]] const char* to_string(CheckpointStatsStatus status);

// A vertex that takes part in a checkpoint with so many subtasks; 0: it takes no part.
struct StatsVertex {
  JobVertexId id;
  std::int32_t subtasks = 0;
};

// Flink TaskStateStats: one job vertex in one checkpoint. Sizes in bytes, times in ms.
class TaskStateStats {
 public:
  explicit TaskStateStats(const StatsVertex& vertex)
      : id_(vertex.id), subtasks_(static_cast<std::size_t>(vertex.subtasks)) {}

  // False: there is no such subtask, or it has reported before.
  bool report_subtask_stats(std::int32_t subtask, const SubtaskStateStats& stats);

  [[nodiscard]] const JobVertexId& job_vertex_id() const { return id_; }
  [[nodiscard]] std::int32_t number_of_subtasks() const {
    return static_cast<std::int32_t>(subtasks_.size());
  }
  [[nodiscard]] std::int32_t number_of_acknowledged_subtasks() const { return acknowledged_; }
  // Of the acknowledgement that was handled last; -1: there was none.
  [[nodiscard]] std::int64_t latest_ack_timestamp() const { return latest_ack_; }
  // To that acknowledgement; -1: there was none.
  [[nodiscard]] std::int64_t end_to_end_duration(std::int64_t trigger_timestamp) const;
  [[nodiscard]] const StatsSummary& summary(StatsQuantity quantity) const {
    return summaries_[static_cast<std::size_t>(quantity)];
  }
  // By subtask index.
  [[nodiscard]] std::span<const SubtaskStateStats> subtasks() const { return subtasks_; }

 private:
  JobVertexId id_;
  std::vector<SubtaskStateStats> subtasks_;
  std::array<StatsSummary, kStatsQuantities> summaries_;
  std::int64_t latest_ack_ = -1;
  std::int32_t acknowledged_ = 0;
};

class CheckpointStats {
 public:
  // `vertices`: by vertex index.
  CheckpointStats(CheckpointId id, std::int64_t trigger_timestamp, CheckpointProperties properties,
                  std::span<const StatsVertex> vertices);

  // False as in TaskStateStats, or there is no such vertex. Cost: O(1), no allocation.
  bool report_subtask_stats(std::int32_t vertex, std::int32_t subtask,
                            const SubtaskStateStats& stats);
  // Requires: IN_PROGRESS.
  void complete(std::string external_path);
  // Requires: not COMPLETED. 1.20 may report a failure twice: then the later one stays.
  void fail(std::int64_t failure_timestamp, CheckpointFailureReason reason);
  // The failure counts towards the tolerable ones.
  void set_failure_counted() { failure_counted_ = true; }
  void set_discarded() { discarded_ = true; }

  [[nodiscard]] CheckpointId id() const { return id_; }
  [[nodiscard]] std::int64_t trigger_timestamp() const { return trigger_timestamp_; }
  [[nodiscard]] const CheckpointProperties& properties() const { return properties_; }
  [[nodiscard]] CheckpointStatsStatus status() const { return status_; }
  [[nodiscard]] bool is_in_progress() const {
    return status_ == CheckpointStatsStatus::IN_PROGRESS;
  }
  [[nodiscard]] std::int32_t number_of_subtasks() const { return number_of_subtasks_; }
  [[nodiscard]] std::int32_t number_of_acknowledged_subtasks() const { return acknowledged_; }
  // -1: no acknowledgement.
  [[nodiscard]] std::int64_t latest_ack_timestamp() const { return latest_ack_; }
  // Failed: to the failure. Else to the acknowledgement that was handled last; -1: there was none.
  [[nodiscard]] std::int64_t end_to_end_duration() const;
  [[nodiscard]] std::int64_t state_size() const { return state_size_; }
  [[nodiscard]] std::int64_t checkpointed_size() const { return checkpointed_size_; }    // 1.20
  [[nodiscard]] std::int64_t alignment_buffered() const { return alignment_buffered_; }  // 1.10
  [[nodiscard]] std::int64_t processed_data() const { return processed_data_; }          // 1.20
  [[nodiscard]] std::int64_t persisted_data() const { return persisted_data_; }          // 1.20
  [[nodiscard]] bool is_unaligned() const { return unaligned_; }                         // 1.20
  // By vertex index.
  [[nodiscard]] std::span<const TaskStateStats> tasks() const { return tasks_; }

  // Of a completed one.
  [[nodiscard]] const std::string& external_path() const { return external_path_; }
  [[nodiscard]] bool is_discarded() const { return discarded_; }
  // Of a failed one.
  [[nodiscard]] std::int64_t failure_timestamp() const { return failure_timestamp_; }
  [[nodiscard]] std::optional<CheckpointFailureReason> failure_reason() const { return reason_; }
  [[nodiscard]] bool is_failure_counted() const { return failure_counted_; }

 private:
  CheckpointId id_;
  std::int64_t trigger_timestamp_;
  CheckpointProperties properties_;
  CheckpointStatsStatus status_ = CheckpointStatsStatus::IN_PROGRESS;
  std::vector<TaskStateStats> tasks_;
  std::int32_t number_of_subtasks_ = 0;
  std::int32_t acknowledged_ = 0;
  std::int64_t latest_ack_ = -1;
  std::int64_t state_size_ = 0;
  std::int64_t checkpointed_size_ = 0;
  std::int64_t alignment_buffered_ = 0;
  std::int64_t processed_data_ = 0;
  std::int64_t persisted_data_ = 0;
  bool unaligned_ = false;
  bool discarded_ = false;
  bool failure_counted_ = false;
  std::string external_path_;
  std::int64_t failure_timestamp_ = 0;
  std::optional<CheckpointFailureReason> reason_;
};

// Shared by the tracker, by the completed checkpoint, which marks it as discarded, and by whoever
// watches a run.
using CheckpointStatsPtr = std::shared_ptr<CheckpointStats>;

}  // namespace tailrace::engine
