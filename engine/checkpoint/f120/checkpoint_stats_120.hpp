// What Flink 1.20 keeps statistics of.
//
// Flink 1.20 SubtaskStateStats, CompletedCheckpointStatsSummary, and the gauges of
// CheckpointStatsTracker (spec coordinator.md 7.1, 7.2, the columns of 1.20).
#pragma once

#include <cstdint>

#include "engine/checkpoint/messages.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_traits.hpp"
#include "engine/checkpoint/stats/subtask_state_stats.hpp"

namespace tailrace::engine {

extern const CheckpointStatsTraits kCheckpointStats120;

// `report`: COMPLETE for an acknowledgement that was taken; INCOMPLETE for a late one and for a
// metrics report. The sizes are those of the metrics.
[[nodiscard]] SubtaskStateStats subtask_state_stats_120(std::int64_t timestamp,
                                                        const CheckpointMetrics& metrics,
                                                        SubtaskReport report);
// Of a subtask that had finished when the checkpoint was triggered: zeros.
[[nodiscard]] SubtaskStateStats finished_subtask_state_stats_120(std::int64_t trigger_timestamp);

}  // namespace tailrace::engine
