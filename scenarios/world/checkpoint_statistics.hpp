// Turns the engine's statistics of checkpoints into results.
#pragma once

#include "analysis/checkpoint_statistics.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"

namespace tailrace::scenarios {

[[nodiscard]] analysis::StatisticsSchema statistics_schema(
    const engine::CheckpointStatsTraits& traits);
[[nodiscard]] analysis::CheckpointStatistics checkpoint_statistics(
    const engine::CheckpointStats& stats);
[[nodiscard]] analysis::CheckpointingStatistics checkpointing_statistics(
    const engine::CheckpointStatsTracker& tracker);

}  // namespace tailrace::scenarios
