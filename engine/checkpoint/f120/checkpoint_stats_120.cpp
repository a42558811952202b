#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"

#include "engine/checkpoint/stats/gauges.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int64_t kNsPerMs120 = 1'000'000;
// Flink 1.20 CompletedCheckpointStatsSummary.HISTOGRAM_WINDOW_SIZE.
constexpr std::size_t kWindow120 = 10'000;

// Of the last attempt, also if there was nothing to restore.
std::int64_t restore_timestamp_120(const CheckpointStatsTracker& tracker) {
  return tracker.initialization_start();
}

constexpr CheckpointGauge kGauges120[] = {
    {"totalNumberOfCheckpoints", &gauges::total},
    {"numberOfInProgressCheckpoints", &gauges::in_progress},
    {"numberOfCompletedCheckpoints", &gauges::completed},
    {"numberOfFailedCheckpoints", &gauges::failed},
    {"lastCheckpointRestoreTimestamp", &restore_timestamp_120},
    {"lastCheckpointSize", &gauges::of_last_completed<&CheckpointStats::checkpointed_size>},
    {"lastCheckpointFullSize", &gauges::of_last_completed<&CheckpointStats::state_size>},
    {"lastCheckpointDuration", &gauges::of_last_completed<&CheckpointStats::end_to_end_duration>},
    {"lastCheckpointProcessedData", &gauges::of_last_completed<&CheckpointStats::processed_data>},
    {"lastCheckpointPersistedData", &gauges::of_last_completed<&CheckpointStats::persisted_data>},
    {"lastCompletedCheckpointId", &gauges::of_last_completed<&CheckpointStats::id>},
};

constexpr CheckpointSummaryQuantity kSummary120[] = {
    {"checkpointed_size", &gauges::of_checkpoint<&CheckpointStats::checkpointed_size>},
    {"state_size", &gauges::of_checkpoint<&CheckpointStats::state_size>},
    {"end_to_end_duration", &gauges::of_checkpoint<&CheckpointStats::end_to_end_duration>},
    {"processed_data", &gauges::of_checkpoint<&CheckpointStats::processed_data>},
    {"persisted_data", &gauges::of_checkpoint<&CheckpointStats::persisted_data>},
};

}  // namespace

constinit const CheckpointStatsTraits kCheckpointStats120{.gauges = kGauges120,
                                                          .summary = kSummary120,
                                                          .quantile_window = kWindow120,
                                                          .failures_go_through_history = true,
                                                          .checkpointed_size = true,
                                                          .data_of_alignment = true,
                                                          .start_delay = true,
                                                          .checkpoint_type = true,
                                                          .incomplete_reports = true};

SubtaskStateStats subtask_state_stats_120(std::int64_t timestamp, const CheckpointMetrics& metrics,
                                          SubtaskReport report) {
  SubtaskStateStats stats;
  stats.ack_timestamp = timestamp;
  stats.state_size = metrics.total_bytes_persisted;
  stats.checkpointed_size = metrics.bytes_persisted_of_this_checkpoint;
  stats.sync_duration = metrics.sync_ns / kNsPerMs120;
  stats.async_duration = metrics.async_ns / kNsPerMs120;
  stats.alignment_duration = metrics.alignment_ns / kNsPerMs120;
  stats.processed_data = metrics.bytes_processed_during_alignment;
  stats.persisted_data = metrics.bytes_persisted_during_alignment;
  stats.start_delay = metrics.start_delay_ns / kNsPerMs120;
  stats.unaligned = metrics.unaligned;
  stats.report = report;
  return stats;
}

SubtaskStateStats finished_subtask_state_stats_120(std::int64_t trigger_timestamp) {
  SubtaskStateStats stats;
  stats.ack_timestamp = trigger_timestamp;
  stats.report = SubtaskReport::COMPLETE;
  return stats;
}

}  // namespace tailrace::engine
