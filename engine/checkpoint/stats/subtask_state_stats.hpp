// What the statistics know of one subtask's part in a checkpoint.
//
// SubtaskStateStats of Flink 1.10 and 1.20 (spec coordinator.md 7.2). Made of a task's metrics by
// f110/checkpoint_stats_110.hpp or f120/checkpoint_stats_120.hpp, which say what the generation
// measures; what it does not measure stays 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailrace::engine {

enum class SubtaskReport : std::uint8_t {
  NONE,        // nothing was heard of the subtask
  INCOMPLETE,  // 1.20: its snapshot was aborted, or the acknowledgement came too late
  COMPLETE,
};

// Units: durations in ms, sizes in bytes, the timestamp in ms of the virtual wall clock.
struct SubtaskStateStats {
  std::int64_t ack_timestamp = 0;  // when the job manager handled the report
  std::int64_t state_size = 0;
  std::int64_t checkpointed_size = 0;  // 1.20
  std::int64_t sync_duration = 0;
  std::int64_t async_duration = 0;
  std::int64_t alignment_duration = 0;
  std::int64_t alignment_buffered = 0;  // 1.10
  std::int64_t processed_data = 0;      // 1.20
  std::int64_t persisted_data = 0;      // 1.20
  std::int64_t start_delay = 0;         // 1.20
  bool unaligned = false;               // 1.20
  SubtaskReport report = SubtaskReport::NONE;

  [[nodiscard]] bool is_completed() const { return report == SubtaskReport::COMPLETE; }
  [[nodiscard]] std::int64_t end_to_end_duration(std::int64_t trigger_timestamp) const {
    return ack_timestamp > trigger_timestamp ? ack_timestamp - trigger_timestamp : 0;
  }
};

// What summaries are kept of.
enum class StatsQuantity : std::uint8_t {
  ACK_TIMESTAMP,
  STATE_SIZE,
  CHECKPOINTED_SIZE,
  SYNC_DURATION,
  ASYNC_DURATION,
  ALIGNMENT_DURATION,
  ALIGNMENT_BUFFERED,
  PROCESSED_DATA,
  PERSISTED_DATA,
  START_DELAY,
};
inline constexpr std::size_t kStatsQuantities =
    static_cast<std::size_t>(StatsQuantity::START_DELAY) + 1;

}  // namespace tailrace::engine
