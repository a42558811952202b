// The `_metadata` file that Flink 1.20 writes.
//
// Flink 1.20 MetadataV4Serializer, Checkpoints.storeCheckpointMetadata (spec metadata-format.md,
// version 4). Beyond version 2 it keeps the states of operator coordinators, which operators and
// subtasks had finished, the ids of keyed handles, and what the snapshot was taken as.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"

namespace tailrace::engine {

class MetadataV4Serializer {
 public:
  // As write_metadata: operators in the order of their ids, subtasks in that of their indices.
  [[nodiscard]] static std::vector<std::byte> serialize(
      CheckpointId id, const std::vector<MasterState>& master_states,
      const OperatorStates& operator_states, const std::optional<CheckpointProperties>& properties,
      const MetadataWriting& writing = {});
};

}  // namespace tailrace::engine
