#include "scenarios/world/checkpoint_statistics.hpp"

#include <algorithm>
#include <memory>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"

namespace tailrace::scenarios {
namespace {

using engine::StatsQuantity;

analysis::SummaryStatistics summary_of(const engine::StatsSummary& summary) {
  return {.min = summary.minimum(), .max = summary.maximum(), .avg = summary.average()};
}

// Flink shows how long after the trigger the acknowledgements came, but never less than 0.
analysis::SummaryStatistics durations_of(const engine::StatsSummary& timestamps,
                                         std::int64_t trigger_timestamp) {
  const auto since_trigger = [trigger_timestamp](std::int64_t timestamp) {
    return std::max<std::int64_t>(0, timestamp - trigger_timestamp);
  };
  return {.min = since_trigger(timestamps.minimum()),
          .max = since_trigger(timestamps.maximum()),
          .avg = since_trigger(timestamps.average())};
}

analysis::SubtaskStatistics subtask_of(const engine::SubtaskStateStats& stats,
                                       std::int64_t trigger_timestamp) {
  analysis::SubtaskStatistics subtask;
  subtask.reported = stats.report != engine::SubtaskReport::NONE;
  if (!subtask.reported) return subtask;
  subtask.aborted = !stats.is_completed();
  subtask.unaligned = stats.unaligned;
  subtask.ack_timestamp = stats.ack_timestamp;
  subtask.end_to_end_duration = stats.end_to_end_duration(trigger_timestamp);
  subtask.state_size = stats.state_size;
  subtask.checkpointed_size = stats.checkpointed_size;
  subtask.sync = stats.sync_duration;
  subtask.async = stats.async_duration;
  subtask.alignment_buffered = stats.alignment_buffered;
  subtask.processed = stats.processed_data;
  subtask.persisted = stats.persisted_data;
  subtask.alignment_duration = stats.alignment_duration;
  subtask.start_delay = stats.start_delay;
  return subtask;
}

analysis::TaskStatistics task_of(const engine::TaskStateStats& stats,
                                 std::int64_t trigger_timestamp) {
  const auto summary = [&stats](StatsQuantity quantity) {
    return summary_of(stats.summary(quantity));
  };
  const auto sum = [&stats](StatsQuantity quantity) { return stats.summary(quantity).sum(); };
  analysis::TaskStatistics task;
  task.id = stats.job_vertex_id().hex();
  task.latest_ack_timestamp = stats.latest_ack_timestamp();
  task.end_to_end_duration = stats.end_to_end_duration(trigger_timestamp);
  task.num_subtasks = stats.number_of_subtasks();
  task.num_acknowledged_subtasks = stats.number_of_acknowledged_subtasks();
  task.state_size = summary(StatsQuantity::STATE_SIZE);
  task.checkpointed_size = summary(StatsQuantity::CHECKPOINTED_SIZE);
  task.duration = durations_of(stats.summary(StatsQuantity::ACK_TIMESTAMP), trigger_timestamp);
  task.sync = summary(StatsQuantity::SYNC_DURATION);
  task.async = summary(StatsQuantity::ASYNC_DURATION);
  task.alignment_buffered = summary(StatsQuantity::ALIGNMENT_BUFFERED);
  task.processed = summary(StatsQuantity::PROCESSED_DATA);
  task.persisted = summary(StatsQuantity::PERSISTED_DATA);
  task.alignment_duration = summary(StatsQuantity::ALIGNMENT_DURATION);
  task.start_delay = summary(StatsQuantity::START_DELAY);
  task.state_size_sum = sum(StatsQuantity::STATE_SIZE);
  task.checkpointed_size_sum = sum(StatsQuantity::CHECKPOINTED_SIZE);
  task.alignment_buffered_sum = sum(StatsQuantity::ALIGNMENT_BUFFERED);
  task.processed_sum = sum(StatsQuantity::PROCESSED_DATA);
  task.persisted_sum = sum(StatsQuantity::PERSISTED_DATA);
  task.subtasks.reserve(stats.subtasks().size());
  for (const engine::SubtaskStateStats& subtask : stats.subtasks()) {
    task.subtasks.push_back(subtask_of(subtask, trigger_timestamp));
  }
  return task;
}

// Flink 1.20 CheckpointStatistics.RestAPICheckpointType.
const char* rest_type_of(const engine::CheckpointStats& stats) {
  if (stats.properties().is_synchronous()) return "SYNC_SAVEPOINT";
  if (stats.properties().is_savepoint()) return "SAVEPOINT";
  return stats.is_unaligned() ? "UNALIGNED_CHECKPOINT" : "CHECKPOINT";
}

std::optional<std::int64_t> id_of(const std::shared_ptr<const engine::CheckpointStats>& stats) {
  return stats == nullptr ? std::nullopt : std::optional(stats->id());
}

}  // namespace

analysis::StatisticsSchema statistics_schema(const engine::CheckpointStatsTraits& traits) {
  return {.checkpointed_size = traits.checkpointed_size,
          .data_of_alignment = traits.data_of_alignment,
          .start_delay = traits.start_delay,
          .checkpoint_type = traits.checkpoint_type,
          .aborted = traits.incomplete_reports,
          .quantiles = traits.quantile_window > 0};
}

analysis::CheckpointStatistics checkpoint_statistics(const engine::CheckpointStats& stats) {
  analysis::CheckpointStatistics result;
  result.id = stats.id();
  result.status = engine::to_string(stats.status());
  result.is_savepoint = stats.properties().is_savepoint();
  if (result.is_savepoint) {
    const bool native = stats.properties().format == engine::SavepointFormatType::NATIVE;
    result.savepoint_format = native ? "NATIVE" : "CANONICAL";
  }
  result.checkpoint_type = rest_type_of(stats);
  result.trigger_timestamp = stats.trigger_timestamp();
  result.latest_ack_timestamp = stats.latest_ack_timestamp();
  result.end_to_end_duration = stats.end_to_end_duration();
  result.state_size = stats.state_size();
  result.checkpointed_size = stats.checkpointed_size();
  result.alignment_buffered = stats.alignment_buffered();
  result.processed_data = stats.processed_data();
  result.persisted_data = stats.persisted_data();
  result.num_subtasks = stats.number_of_subtasks();
  result.num_acknowledged_subtasks = stats.number_of_acknowledged_subtasks();
  if (stats.status() == engine::CheckpointStatsStatus::COMPLETED) {
    result.external_path = stats.external_path();
    result.discarded = stats.is_discarded();
  }
  if (stats.failure_reason().has_value()) {
    result.failure_timestamp = stats.failure_timestamp();
    result.failure_reason = engine::to_string(*stats.failure_reason());
    result.failure_counted = stats.is_failure_counted();
  }
  for (const engine::TaskStateStats& task : stats.tasks()) {
    if (task.number_of_subtasks() == 0) continue;  // it takes no part
    result.tasks.push_back(task_of(task, stats.trigger_timestamp()));
  }
  return result;
}

analysis::CheckpointingStatistics checkpointing_statistics(
    const engine::CheckpointStatsTracker& tracker) {
  const auto snapshot = tracker.create_snapshot();
  analysis::CheckpointingStatistics result;
  result.restored = snapshot->counts.restored;
  result.total = snapshot->counts.total;
  result.in_progress = snapshot->counts.in_progress;
  result.completed = snapshot->counts.completed;
  result.failed = snapshot->counts.failed;
  const std::vector<double> wanted = {.5, .9, .95, .99, .999};
  for (const auto& entry : snapshot->summary.entries()) {
    analysis::SummaryStatistics summary = summary_of(entry.summary);
    if (const auto quantiles = entry.window.quantiles(wanted); quantiles.has_value()) {
      std::array<std::int64_t, 5> thousandths{};
      for (std::size_t i = 0; i < thousandths.size(); ++i) {
        thousandths[i] = static_cast<std::int64_t>((*quantiles)[i] * 1000);
      }
      summary.quantiles = thousandths;
    }
    result.summary.emplace_back(entry.name, summary);
  }
  for (const engine::CheckpointGauge& gauge : tracker.traits().gauges) {
    result.gauges.emplace_back(gauge.name, gauge.value(tracker));
  }
  result.last_checkpoint_external_path = tracker.last_checkpoint_external_path();
  result.latest_completed = id_of(snapshot->latest_completed);
  result.latest_savepoint = id_of(snapshot->latest_savepoint);
  result.latest_failed = id_of(snapshot->latest_failed);
  if (snapshot->latest_restored.has_value()) {
    const engine::RestoredCheckpointStats& restored = *snapshot->latest_restored;
    result.latest_restored = {.id = restored.id,
                              .restore_timestamp = restored.restore_timestamp,
                              .is_savepoint = restored.properties.is_savepoint(),
                              .external_path = restored.external_path};
  }
  for (const auto& stats : snapshot->history) result.history.push_back(stats->id());
  return result;
}

}  // namespace tailrace::scenarios
