// Control messages that travel in the same queues as the data.
//
// Flink 1.10 CheckpointBarrier, CancelCheckpointMarker, EndOfPartitionEvent (spec barriers.md
// section 1). Events take no segment and need no credit.
#pragma once

#include <cstdint>
#include <variant>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

struct CheckpointBarrier {
  CheckpointId id = kNoCheckpoint;
  std::int64_t timestamp_ms = 0;
  CheckpointOptions options;

  friend bool operator==(const CheckpointBarrier&, const CheckpointBarrier&) = default;
};

struct CancelCheckpointMarker {
  CheckpointId id = kNoCheckpoint;

  friend bool operator==(const CancelCheckpointMarker&, const CancelCheckpointMarker&) = default;
};

struct EndOfPartitionEvent {
  friend bool operator==(const EndOfPartitionEvent&, const EndOfPartitionEvent&) = default;
};

using RuntimeEvent = std::variant<CheckpointBarrier, CancelCheckpointMarker, EndOfPartitionEvent>;

}  // namespace tailrace::engine
