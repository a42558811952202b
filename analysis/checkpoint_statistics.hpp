// Flink's statistics of checkpoints, as plain data: what its REST API shows of a job.
//
// CheckpointingStatistics, CheckpointStatistics, TaskCheckpointStatisticsWithSubtaskDetails of Flink
// 1.10 and 1.20. Times and durations are ms, as there, sizes bytes; -1 where Flink says -1. Which
// members a generation has is in StatisticsSchema; the others stay at their defaults.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tailrace::analysis {

// What the version knows beyond what all versions know.
struct StatisticsSchema {
  bool checkpointed_size = false;
  bool data_of_alignment = false;  // processed, persisted
  bool start_delay = false;
  bool checkpoint_type = false;  // and the format of savepoints, and whether unaligned
  bool aborted = false;          // of subtasks whose report came late or was incomplete
  bool quantiles = false;
};

struct SummaryStatistics {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t avg = 0;
  // p50, p90, p95, p99, p99.9 in thousandths, truncated; none: no values, or none are kept.
  std::optional<std::array<std::int64_t, 5>> quantiles = std::nullopt;
};

struct SubtaskStatistics {
  bool reported = false;
  bool aborted = false;
  bool unaligned = false;
  std::int64_t ack_timestamp = 0;
  std::int64_t end_to_end_duration = 0;
  std::int64_t state_size = 0;
  std::int64_t checkpointed_size = 0;
  std::int64_t sync = 0;
  std::int64_t async = 0;
  std::int64_t alignment_buffered = 0;  // 1.20: always, but REST still says it
  std::int64_t processed = 0;
  std::int64_t persisted = 0;
  std::int64_t alignment_duration = 0;
  std::int64_t start_delay = 0;
};

struct TaskStatistics {
  std::string id;  // of the job vertex, 32 hex digits
  std::int64_t latest_ack_timestamp = -1;
  std::int64_t end_to_end_duration = -1;
  std::int32_t num_subtasks = 0;
  std::int32_t num_acknowledged_subtasks = 0;
  SummaryStatistics state_size;
  SummaryStatistics checkpointed_size;
  SummaryStatistics duration;  // end to end
  SummaryStatistics sync;
  SummaryStatistics async;
  SummaryStatistics alignment_buffered;
  SummaryStatistics processed;
  SummaryStatistics persisted;
  SummaryStatistics alignment_duration;
  SummaryStatistics start_delay;
  // Sums over the subtasks.
  std::int64_t state_size_sum = 0;
  std::int64_t checkpointed_size_sum = 0;
  std::int64_t alignment_buffered_sum = 0;
  std::int64_t processed_sum = 0;
  std::int64_t persisted_sum = 0;
  std::vector<SubtaskStatistics> subtasks;
};

struct CheckpointStatistics {
  std::int64_t id = 0;
  std::string status;
  bool is_savepoint = false;
  std::string savepoint_format;  // empty: no savepoint
  std::string checkpoint_type;
  std::int64_t trigger_timestamp = 0;
  std::int64_t latest_ack_timestamp = -1;
  std::int64_t end_to_end_duration = -1;
  std::int64_t state_size = 0;
  std::int64_t checkpointed_size = 0;
  std::int64_t alignment_buffered = 0;
  std::int64_t processed_data = 0;
  std::int64_t persisted_data = 0;
  std::int32_t num_subtasks = 0;
  std::int32_t num_acknowledged_subtasks = 0;
  // Of a completed one.
  std::optional<std::string> external_path;
  bool discarded = false;
  // Of a failed one. `failure_counted` is no member of Flink's: whether the failure manager counted
  // it towards the tolerable failures in a row.
  std::optional<std::int64_t> failure_timestamp;
  std::string failure_reason;  // Flink's name of the reason, for which its REST has a sentence
  bool failure_counted = false;
  std::vector<TaskStatistics> tasks;
};

struct RestoredStatistics {
  std::int64_t id = 0;
  std::int64_t restore_timestamp = 0;
  bool is_savepoint = false;
  std::string external_path;
};

// What one coordinator counted until it ended, or until the run did.
struct CheckpointingStatistics {
  std::int64_t restored = 0;
  std::int64_t total = 0;
  std::int64_t in_progress = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  // By Flink's names, in its order.
  std::vector<std::pair<std::string, SummaryStatistics>> summary;
  std::vector<std::pair<std::string, std::int64_t>> gauges;
  std::string last_checkpoint_external_path;
  std::optional<std::int64_t> latest_completed;
  std::optional<std::int64_t> latest_savepoint;
  std::optional<std::int64_t> latest_failed;
  std::optional<RestoredStatistics> latest_restored;
  std::vector<std::int64_t> history;  // ids of those that Flink still shows, newest first
};

}  // namespace tailrace::analysis
