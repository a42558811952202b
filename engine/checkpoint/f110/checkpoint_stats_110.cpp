#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"

#include "engine/checkpoint/stats/gauges.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int64_t kNsPerMs110 = 1'000'000;

std::int64_t restore_timestamp_110(const CheckpointStatsTracker& tracker) {
  return tracker.latest_restored().has_value() ? tracker.latest_restored()->restore_timestamp : -1;
}

constexpr CheckpointGauge kGauges110[] = {
    {"totalNumberOfCheckpoints", &gauges::total},
    {"numberOfInProgressCheckpoints", &gauges::in_progress},
    {"numberOfCompletedCheckpoints", &gauges::completed},
    {"numberOfFailedCheckpoints", &gauges::failed},
    {"lastCheckpointRestoreTimestamp", &restore_timestamp_110},
    {"lastCheckpointSize", &gauges::of_last_completed<&CheckpointStats::state_size>},
    {"lastCheckpointDuration", &gauges::of_last_completed<&CheckpointStats::end_to_end_duration>},
    {"lastCheckpointAlignmentBuffered",
     &gauges::of_last_completed<&CheckpointStats::alignment_buffered>},
};

constexpr CheckpointSummaryQuantity kSummary110[] = {
    {"state_size", &gauges::of_checkpoint<&CheckpointStats::state_size>},
    {"end_to_end_duration", &gauges::of_checkpoint<&CheckpointStats::end_to_end_duration>},
    {"alignment_buffered", &gauges::of_checkpoint<&CheckpointStats::alignment_buffered>},
};

}  // namespace

constinit const CheckpointStatsTraits kCheckpointStats110{.gauges = kGauges110,
                                                          .summary = kSummary110};

SubtaskStateStats subtask_state_stats_110(std::int64_t ack_timestamp,
                                          const CheckpointMetrics& metrics,
                                          std::int64_t state_size) {
  SubtaskStateStats stats;
  stats.ack_timestamp = ack_timestamp;
  stats.state_size = state_size;
  stats.sync_duration = metrics.sync_ns / kNsPerMs110;
  stats.async_duration = metrics.async_ns / kNsPerMs110;
  stats.alignment_duration = metrics.alignment_ns / kNsPerMs110;
  stats.alignment_buffered = metrics.alignment_bytes_buffered;
  stats.report = SubtaskReport::COMPLETE;
  return stats;
}

}  // namespace tailrace::engine
