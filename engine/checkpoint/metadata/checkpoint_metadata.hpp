// What a `_metadata` file says.
//
// Flink 1.10 SavepointV2, Flink 1.20 CheckpointMetadata (spec metadata-format.md 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"

namespace tailrace::engine {

struct CheckpointMetadata {
  CheckpointId checkpoint_id = kNoCheckpoint;
  std::vector<MasterState> master_states;
  OperatorStates operator_states;
  // What it was taken as. None: the file does not say (before version 4, and where Flink did not
  // know).
  std::optional<CheckpointProperties> properties = std::nullopt;
};

// What writing is told and what it tells.
struct MetadataWriting {
  // Null, or notes on the states are taken here. Without what it has found before.
  StateInventory* inventory = nullptr;
  // As far as known. Too few or too many cost time.
  std::size_t expected_bytes = 0;
};

// Where and why reading failed.
struct MetadataError {
  std::size_t offset = 0;  // of the first byte of the bad item
  std::string message;
};

// State that is in the file, well formed, but of a kind that the engine has no handle for.
struct UnsupportedState {
  std::size_t offset = 0;   // of its type byte; of its first byte if it has none
  std::optional<int> type;  // none: channel state, which is known by its place
  std::string kind;         // "keyed state of a changelog"
  OperatorId operator_id;   // whose it is
  std::int32_t subtask = 0;
};

}  // namespace tailrace::engine
