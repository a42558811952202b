// What an item of a queue is, as far as the network stack cares.
//
// Flink 1.20 Buffer.DataType (spec barriers.md 1.1). 1.10 knows data and plain events alone.
#pragma once

#include <cstdint>

namespace tailrace::engine {

// The values are those on the wire (Flink's ordinals).
enum class DataType : std::uint8_t {
  kNone,  // nothing follows, or nothing that may be sent
  kDataBuffer,
  kEventBuffer,
  kPrioritizedEventBuffer,  // overtakes everything that is not one itself
  kAlignedCheckpointBarrier,
  kTimeoutableAlignedCheckpointBarrier,
  kRecoveryCompletion,
  kEndOfData = 9,
  kEndOfPartition = 10,
};

[[nodiscard]] constexpr bool is_buffer(DataType type) {
  return type == DataType::kDataBuffer;
}
[[nodiscard]] constexpr bool is_event(DataType type) {
  return type != DataType::kNone && type != DataType::kDataBuffer;
}
[[nodiscard]] constexpr bool has_priority(DataType type) {
  return type == DataType::kPrioritizedEventBuffer;
}
// Whether a subpartition hands nothing out behind it until its consumer resumes it.
[[nodiscard]] constexpr bool is_blocking_upstream(DataType type) {
  return type == DataType::kAlignedCheckpointBarrier ||
         type == DataType::kTimeoutableAlignedCheckpointBarrier ||
         type == DataType::kRecoveryCompletion;
}
// Whether the receiving channel announces it ahead of its queue.
[[nodiscard]] constexpr bool requires_announcement(DataType type) {
  return type == DataType::kTimeoutableAlignedCheckpointBarrier;
}

}  // namespace tailrace::engine
