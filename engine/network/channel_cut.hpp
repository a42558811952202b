// What a completed checkpoint holds of one channel, and whether that is all of it.
//
// The cut of a channel is where its barrier was emitted. Every byte that the producer had written by
// then was either turned into records by the consumer before its snapshot, or is in the channel
// state of one of the two ends; and nothing is there twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/ids.hpp"

namespace tailrace::engine {

// Data bytes of one channel; events and the framing of channel state files do not count.
struct ChannelCut {
  std::int64_t sent = 0;      // by the producer until it emitted the barrier
  std::int64_t consumed = 0;  // as whole records by the consumer until its snapshot
  std::int64_t output_state = 0;
  std::int64_t input_state = 0;
};

// The receiving half, as the consumer's task knows it when it takes its snapshot. What arrives later
// and becomes state of the input follows (Observer::on_input_state).
struct InputCut {
  CheckpointId checkpoint = kNoCheckpoint;
  std::int64_t consumed = 0;   // bytes that have become records, `recovered` ones included
  std::int64_t recovered = 0;  // of restored channel state of the input: no producer has sent them
};

// Returns: nothing, or what is wrong, in words.
[[nodiscard]] std::optional<std::string> check_channel_cut(const ChannelCut& cut);

// The sending half of a cut, as a subpartition knows it.
struct SubpartitionCut {
  CheckpointId checkpoint = kNoCheckpoint;
  std::int64_t sent = 0;       // bytes written until the barrier was emitted
  std::int64_t persisted = 0;  // of them, given to the channel state
};

}  // namespace tailrace::engine
