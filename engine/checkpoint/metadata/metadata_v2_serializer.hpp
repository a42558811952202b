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
  // As write_metadata: operators in the order of their ids, subtasks in that of their indices.
  [[nodiscard]] static std::vector<std::byte> serialize(
      CheckpointId id, const std::vector<MasterState>& master_states,
      const OperatorStates& operator_states, const MetadataWriting& writing = {});

  // As load_checkpoint_metadata. Errors: in addition, every other version.
  [[nodiscard]] static base::Result<CheckpointMetadata, MetadataError> deserialize(
      std::span<const std::byte> bytes);
};

}  // namespace tailrace::engine
