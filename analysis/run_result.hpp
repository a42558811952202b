// What happened in one run, as plain data: the input of every report.
//
// Filled by whoever watched the run; nothing here computes. Times are virtual and in nanoseconds;
// only `wall` may differ between two equal runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/checkpoint_statistics.hpp"
#include "analysis/expectation.hpp"
#include "analysis/series.hpp"
#include "sim/base/time.hpp"

namespace tailrace::analysis {

using base::Duration;
using base::Time;

enum class FinishReason : std::uint8_t {
  kDuration,
  kSourcesFinished,
  kIdle,
  kStopped,   // by `stop_with_savepoint` of the timeline
  kCanceled,  // by `cancel_with_savepoint`
  kJobFailed,
  kInterrupted
};
[[nodiscard]] const char* to_string(FinishReason reason);

enum class CheckpointStatus : std::uint8_t { kPending, kCompleted, kFailed };
[[nodiscard]] const char* to_string(CheckpointStatus status);

// One checkpoint or savepoint that was triggered.
struct CheckpointRow {
  std::int64_t id = 0;
  bool savepoint = false;
  CheckpointStatus status = CheckpointStatus::kPending;
  Time triggered;
  std::optional<Duration> duration;  // from the trigger to completion or failure
  std::string failure;               // why it failed, in Flink's words; else empty
  std::int64_t state_bytes = 0;
  std::int32_t acknowledged = 0;  // subtasks
  std::int32_t subtasks = 0;      // that had to acknowledge
  Duration alignment_max;         // longest alignment of a subtask
  Duration start_delay_max;       // longest time from the trigger to a subtask's first barrier
};

// One restart after a failure.
struct RestartRow {
  Time failed;                  // when the job manager heard of it
  std::optional<Time> running;  // when all subtasks ran again; none: not within the run
  std::string cause;
  std::int64_t restored_checkpoint = -1;  // -1: none, started anew
  std::int64_t records_replayed = 0;      // read again because they came after that checkpoint
  // The next failure came before this one's tasks were reset: nothing was restored.
  bool overtaken = false;
};

// One change of parallelism.
struct RescaleRow {
  Time requested;
  std::optional<Time> savepoint_ready;  // the savepoint is complete
  std::optional<Time> stopped;          // all tasks of the old job have finished
  std::optional<Time> submitted;        // the new job
  std::optional<Time> running;
  std::string what;                    // "count 2 -> 3"
  std::int64_t savepoint = -1;         // -1: none was taken
  std::int64_t records_in_flight = 0;  // between the operators when it was requested
};

// The answer of the ledger; see ledger.hpp.
struct Audit {
  std::int64_t lost = 0;
  std::int64_t duplicated = 0;
};

struct RunResult {
  std::string name;
  std::uint64_t seed = 0;
  std::string version;  // of Flink, "1.10"
  std::uint64_t trace_hash = 0;
  FinishReason finished = FinishReason::kDuration;
  Duration virtual_time;
  std::int64_t events = 0;
  Duration wall;

  std::int64_t records_in = 0;   // offered to the sources
  std::int64_t records_out = 0;  // committed effects

  std::vector<CheckpointRow> checkpoints;  // in the order of their triggers
  // What Flink's statistics say of the same ones, and of the last coordinator as a whole. The history
  // holds every checkpoint of the run, whatever Flink would still show.
  StatisticsSchema statistics_schema;
  std::vector<CheckpointStatistics> checkpoint_history;
  CheckpointingStatistics checkpointing;
  std::vector<RestartRow> restarts;  // in order of time
  std::vector<RescaleRow> rescales;  // in order of time
  // Triggers that failed before they had an id, because tasks were not running, say. Flink's
  // statistics do not know them: neither triggered nor failed.
  std::int64_t checkpoints_not_started = 0;
  // Acknowledgements by subtasks that came when their checkpoint had ended.
  std::int64_t acknowledged_late = 0;

  std::vector<std::int64_t> latency_ns;  // one sample per committed effect, in any order

  std::optional<Audit> audit;  // none: the job is one that the ledger cannot follow
  std::optional<std::int64_t> orphaned_blobs;
  std::optional<Time> last_fault;     // none: nothing went wrong
  std::optional<Time> last_progress;  // last commit of an effect

  std::vector<ExpectationResult> expectations;
  std::optional<Series> series;  // none: nobody asked for one

  [[nodiscard]] bool incomplete() const { return finished == FinishReason::kInterrupted; }
};

}  // namespace tailrace::analysis
