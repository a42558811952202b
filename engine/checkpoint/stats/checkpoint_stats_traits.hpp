// Where the statistics of the two generations differ.
//
// Everything else under stats/ is the same for both. Values: f110/checkpoint_stats_110.hpp and
// f120/checkpoint_stats_120.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::engine {

class CheckpointStats;
class CheckpointStatsTracker;

// A metric of the job (spec coordinator.md 7.1).
struct CheckpointGauge {
  const char* name;
  std::int64_t (*value)(const CheckpointStatsTracker& tracker);
};

// A quantity that is summed up over the completed checkpoints of a job, by its REST name.
struct CheckpointSummaryQuantity {
  const char* name;
  std::int64_t (*value)(const CheckpointStats& stats);
};

struct CheckpointStatsTraits {
  std::span<const CheckpointGauge> gauges;  // without lastCheckpointExternalPath, which is a text
  std::span<const CheckpointSummaryQuantity> summary;
  // How many of the last values quantiles are taken of; 0: there are no quantiles.
  std::size_t quantile_window = 0;
  // A failure is looked up in the history, so that one of a checkpoint that is not there counts as
  // one without a checkpoint. Else it belongs to its checkpoint, wherever that is.
  bool failures_go_through_history = false;

  // What is known of a checkpoint, beyond what both generations know.
  bool checkpointed_size = false;
  bool data_of_alignment = false;  // processed, persisted
  bool start_delay = false;
  bool checkpoint_type = false;     // unaligned or not, and the format of savepoints
  bool incomplete_reports = false;  // subtasks may be "aborted"
};

}  // namespace tailrace::engine
