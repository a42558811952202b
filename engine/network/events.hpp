// Control messages that travel in the same queues as the data.
//
// CheckpointBarrier, CancelCheckpointMarker, EndOfPartitionEvent of Flink 1.10 and 1.20; EndOfData,
// EventAnnouncement and EndOfChannelStateEvent of 1.20 (spec barriers.md section 1). Events take no segment and need no credit.
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

// Flink 1.20: no more records come from here, but barriers still may.
struct EndOfData {
  bool drain = true;  // false: the job stops without draining (StopMode.NO_DRAIN)

  friend bool operator==(const EndOfData&, const EndOfData&) = default;
};

// Flink 1.20: the receiver of a barrier that may time out says so ahead of the queue, where the
// barrier itself keeps its place. Never on the wire.
struct EventAnnouncement {
  CheckpointBarrier barrier;
  std::int32_t sequence_number = 0;  // the barrier's, in its channel

  friend bool operator==(const EventAnnouncement&, const EventAnnouncement&) = default;
};

// Flink 1.20 EndOfChannelStateEvent: what the sender had in flight at its last checkpoint is through.
struct EndOfChannelState {
  friend bool operator==(const EndOfChannelState&, const EndOfChannelState&) = default;
};

// Flink 1.20 SubtaskConnectionDescriptor: what follows, up to the next one, was in flight between these two
// subtasks of the job before it was rescaled (spec rescale.md S-4.3).
struct SubtaskConnectionDescriptor {
  std::int32_t input_subtask = 0;   // of who read
  std::int32_t output_subtask = 0;  // of who wrote: its channel at the reader

  friend bool operator==(const SubtaskConnectionDescriptor&,
                         const SubtaskConnectionDescriptor&) = default;
};

using RuntimeEvent =
    std::variant<CheckpointBarrier, CancelCheckpointMarker, EndOfPartitionEvent, EndOfData,
                 EventAnnouncement, EndOfChannelState, SubtaskConnectionDescriptor>;

}  // namespace tailrace::engine
