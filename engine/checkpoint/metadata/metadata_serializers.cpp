#include <string>
#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_input.hpp"
#include "engine/checkpoint/metadata/metadata_reader.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "engine/checkpoint/metadata/metadata_writer.hpp"

namespace tailrace::engine {

std::vector<std::byte> MetadataV2Serializer::serialize(
    CheckpointId id, const std::vector<MasterState>& master_states,
    const OperatorStates& operator_states, const MetadataWriting& writing) {
  return metadata::write_metadata(metadata::kVersion2, id, master_states, operator_states,
                                  std::nullopt, writing);
}

base::Result<CheckpointMetadata, MetadataError> MetadataV2Serializer::deserialize(
    std::span<const std::byte> bytes) {
  metadata::MetadataInput header(bytes);
  header.u32();
  const std::size_t version_at = header.position();
  const std::int32_t version = header.i32();
  auto loaded = load_checkpoint_metadata(bytes);
  if (loaded.ok() && version != metadata::kVersion2) {
    return base::Failure{
        MetadataError{version_at, "format version " + std::to_string(version) + " instead of 2"}};
  }
  return loaded;
}

std::vector<std::byte> MetadataV4Serializer::serialize(
    CheckpointId id, const std::vector<MasterState>& master_states,
    const OperatorStates& operator_states, const std::optional<CheckpointProperties>& properties,
    const MetadataWriting& writing) {
  return metadata::write_metadata(metadata::kVersion4, id, master_states, operator_states,
                                  properties, writing);
}

}  // namespace tailrace::engine
