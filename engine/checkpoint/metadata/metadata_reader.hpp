// Reads `_metadata` files of the format versions 2 to 4, which all Flink releases from 1.3 to 1.20
// have written.
//
// Flink 1.20 Checkpoints.loadCheckpointMetadata, MetadataSerializers, MetadataV2V3SerializerBase,
// MetadataV3Serializer, MetadataV4Serializer; Flink 1.10 SavepointV2Serializer (spec
// metadata-format.md). Strict, and safe on hostile bytes: one pass, memory linear in the file, a
// bounded depth (spec 12).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

struct MetadataReadOptions {
  // That `_metadata` lies in: files that are named relative to it get their path from here.
  std::string directory = {};
  std::size_t max_bytes = std::size_t{1} << 30;  // of a file that is read at all
};

// A file, and what of it the engine cannot hold.
struct MetadataReading {
  CheckpointMetadata metadata;
  // In the order of the file. Handles, each named once for the first reason in it; `metadata` has
  // the file without them.
  std::vector<UnsupportedState> left_out;
  std::int32_t version = 0;
};

// Everything that there is a handle for; what there is none for is still checked, and listed.
// Errors: malformed bytes; a format version other than 2 to 4; state of Flink 1.1, which Flink itself
// cannot read from 1.4 on; properties that no 1.20 snapshot has.
[[nodiscard]] base::Result<MetadataReading, MetadataError> read_checkpoint_metadata(
    std::span<const std::byte> bytes, const MetadataReadOptions& options = {});

// The whole file. Errors: in addition, the first state that there is no handle for, by kind, owner
// and offset.
[[nodiscard]] base::Result<CheckpointMetadata, MetadataError> load_checkpoint_metadata(
    std::span<const std::byte> bytes, const MetadataReadOptions& options = {});

}  // namespace tailrace::engine
