// The `_metadata` file that Flink 1.10 writes.
//
// Flink 1.10 SavepointV2Serializer, Checkpoints.storeCheckpointMetadata (spec metadata-format.md,
// version 2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class MetadataV2Serializer {
 public:
  // Operators in the order of their ids, subtasks in that of their indices.
  // Requires: at most one handle of each kind per subtask, as tasks report them; no placeholder, as
  // after registration; strings below 64 KiB.
  [[nodiscard]] static std::vector<std::byte> serialize(
      CheckpointId id, const std::vector<MasterState>& master_states,
      const OperatorStates& operator_states);

  // Strict, safe on hostile bytes (spec 12). Files in a directory of their own come back as absolute
  // paths, as they were written.
  // Errors: malformed bytes; other versions; state of Flink 1.1, which this engine has no handles for.
  [[nodiscard]] static base::Result<CheckpointMetadata, MetadataError> deserialize(
      std::span<const std::byte> bytes);
};

}  // namespace tailrace::engine
