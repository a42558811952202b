// What Flink 1.10 keeps statistics of.
//
// Flink 1.10 SubtaskStateStats, CompletedCheckpointStatsSummary, and the gauges of
// CheckpointStatsTracker (spec coordinator.md 7.1, 7.2, the columns of 1.10).
#pragma once

#include <cstdint>

#include "engine/checkpoint/messages.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_traits.hpp"
#include "engine/checkpoint/stats/subtask_state_stats.hpp"

namespace tailrace::engine {

extern const CheckpointStatsTraits kCheckpointStats110;

// Of an acknowledgement. `state_size`: of all handles that came with it.
[[nodiscard]] SubtaskStateStats subtask_state_stats_110(std::int64_t ack_timestamp,
                                                        const CheckpointMetrics& metrics,
                                                        std::int64_t state_size);

}  // namespace tailrace::engine
