// What the writers of all format versions share.
//
// Flink 1.20 MetadataV2V3SerializerBase, Checkpoints.storeCheckpointMetadata (spec metadata-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"

namespace tailrace::engine::metadata {

// Operators in the order of their ids, subtasks in that of their indices: Flink's order is that of
// hash maps. Version 2 as Flink 1.10 writes it, version 4 as Flink 1.20.
// Requires: at most one handle of each kind per subtask, as tasks report them; no placeholder, as
// after registration; strings below 64 KiB; in version 2 nothing that only 1.20 knows.
[[nodiscard]] std::vector<std::byte> write_metadata(
    std::int32_t version, CheckpointId id, const std::vector<MasterState>& master_states,
    const OperatorStates& operator_states, const std::optional<CheckpointProperties>& properties,
    const MetadataWriting& writing);

}  // namespace tailrace::engine::metadata
