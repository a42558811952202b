#include "engine/checkpoint/stats/checkpoint_stats.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

const char* to_string(CheckpointStatsStatus status) {
  switch (status) {
    case CheckpointStatsStatus::IN_PROGRESS:
      return "IN_PROGRESS";
    case CheckpointStatsStatus::COMPLETED:
      return "COMPLETED";
    case CheckpointStatsStatus::FAILED:
      return "FAILED";
  }
  TAILRACE_ASSERT_MSG(false, "a status of an unknown kind");
  return "";
}

bool TaskStateStats::report_subtask_stats(std::int32_t subtask, const SubtaskStateStats& stats) {
  TAILRACE_ASSERT(stats.report != SubtaskReport::NONE);
  if (subtask < 0 || subtask >= number_of_subtasks()) return false;
  SubtaskStateStats& place = subtasks_[static_cast<std::size_t>(subtask)];
  if (place.report != SubtaskReport::NONE) return false;  // T1
  place = stats;
  const auto add = [this](StatsQuantity quantity, std::int64_t value) {
    summaries_[static_cast<std::size_t>(quantity)].add(value);
  };
  if (stats.is_completed()) {  // T2
    ++acknowledged_;
    latest_ack_ = stats.ack_timestamp;
    add(StatsQuantity::ACK_TIMESTAMP, stats.ack_timestamp);
  }
  add(StatsQuantity::STATE_SIZE, stats.state_size);
  add(StatsQuantity::CHECKPOINTED_SIZE, stats.checkpointed_size);
  add(StatsQuantity::SYNC_DURATION, stats.sync_duration);
  add(StatsQuantity::ASYNC_DURATION, stats.async_duration);
  add(StatsQuantity::ALIGNMENT_DURATION, stats.alignment_duration);
  add(StatsQuantity::ALIGNMENT_BUFFERED, stats.alignment_buffered);
  add(StatsQuantity::PROCESSED_DATA, stats.processed_data);
  add(StatsQuantity::PERSISTED_DATA, stats.persisted_data);
  add(StatsQuantity::START_DELAY, stats.start_delay);
  return true;
}

std::int64_t TaskStateStats::end_to_end_duration(std::int64_t trigger_timestamp) const {
  if (acknowledged_ == 0) return -1;
  return std::max<std::int64_t>(0, latest_ack_ - trigger_timestamp);
}

CheckpointStats::CheckpointStats(CheckpointId id, std::int64_t trigger_timestamp,
                                 CheckpointProperties properties,
                                 std::span<const StatsVertex> vertices)
    : id_(id), trigger_timestamp_(trigger_timestamp), properties_(properties) {
  tasks_.reserve(vertices.size());
  for (const StatsVertex& vertex : vertices) {
    TAILRACE_ASSERT(vertex.subtasks >= 0);
    tasks_.emplace_back(vertex);
    number_of_subtasks_ += vertex.subtasks;
  }
}

bool CheckpointStats::report_subtask_stats(std::int32_t vertex, std::int32_t subtask,
                                           const SubtaskStateStats& stats) {
  if (vertex < 0 || static_cast<std::size_t>(vertex) >= tasks_.size()) return false;
  if (!tasks_[static_cast<std::size_t>(vertex)].report_subtask_stats(subtask, stats)) return false;
  if (stats.is_completed()) {
    // Flink 1.20 FailedCheckpointStats: an acknowledgement is never reported to one that has ended.
    TAILRACE_ASSERT(is_in_progress());
    ++acknowledged_;
    latest_ack_ = stats.ack_timestamp;
  }
  state_size_ += stats.state_size;
  checkpointed_size_ += stats.checkpointed_size;
  alignment_buffered_ += std::max<std::int64_t>(0, stats.alignment_buffered);
  processed_data_ += std::max<std::int64_t>(0, stats.processed_data);
  persisted_data_ += std::max<std::int64_t>(0, stats.persisted_data);
  unaligned_ = unaligned_ || stats.unaligned;
  return true;
}

void CheckpointStats::complete(std::string external_path) {
  TAILRACE_ASSERT(is_in_progress());
  status_ = CheckpointStatsStatus::COMPLETED;
  external_path_ = std::move(external_path);
}

void CheckpointStats::fail(std::int64_t failure_timestamp, CheckpointFailureReason reason) {
  TAILRACE_ASSERT(status_ != CheckpointStatsStatus::COMPLETED);
  status_ = CheckpointStatsStatus::FAILED;
  failure_timestamp_ = failure_timestamp;
  reason_ = reason;
}

std::int64_t CheckpointStats::end_to_end_duration() const {
  if (status_ == CheckpointStatsStatus::FAILED) {
    return std::max<std::int64_t>(0, failure_timestamp_ - trigger_timestamp_);
  }
  return acknowledged_ == 0 ? -1 : std::max<std::int64_t>(0, latest_ack_ - trigger_timestamp_);
}

}  // namespace tailrace::engine
