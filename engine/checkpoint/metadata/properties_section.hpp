// What a snapshot was taken as: the end of a `_metadata` file of version 4.
//
// Flink 1.20 MetadataV4Serializer, CheckpointProperties, CheckpointType, SavepointType (spec
// metadata-format.md 10).
#pragma once

#include <optional>

#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/metadata/metadata_input.hpp"
#include "engine/checkpoint/metadata/metadata_output.hpp"

namespace tailrace::engine::metadata {

// None: null. Fields are found by name; one that is missing is false.
// Errors: malformed bytes; a class or a snapshot type that Flink 1.16 to 1.20 do not have.
std::optional<CheckpointProperties> read_properties(MetadataInput& in);

// Byte for byte what Flink 1.20 writes. Requires: a snapshot type of 1.20.
void write_properties(MetadataOutput& out, const std::optional<CheckpointProperties>& properties);

}  // namespace tailrace::engine::metadata
