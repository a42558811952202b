// What a `_metadata` file says.
//
// Flink 1.10 SavepointV2 (spec metadata-format.md 3).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"

namespace tailrace::engine {

struct CheckpointMetadata {
  CheckpointId checkpoint_id = kNoCheckpoint;
  std::vector<MasterState> master_states;
  OperatorStates operator_states;
};

// Where and why reading failed.
struct MetadataError {
  std::size_t offset = 0;  // of the first byte of the bad item
  std::string message;
};

}  // namespace tailrace::engine
