// What a checkpoint is, as it travels with triggers and barriers.
//
// Flink 1.10 CheckpointType, CheckpointOptions (spec coordinator.md 1.6, R-1.11).
#pragma once

#include <cstdint>
#include <string>

#include "engine/ids.hpp"

namespace tailrace::engine {

enum class CheckpointType : std::uint8_t { CHECKPOINT, SAVEPOINT, SYNC_SAVEPOINT };

[[nodiscard]] constexpr bool is_savepoint(CheckpointType type) {
  return type != CheckpointType::CHECKPOINT;
}

struct CheckpointOptions {
  CheckpointType type = CheckpointType::CHECKPOINT;
  // Directory that this checkpoint's exclusive files go to; empty: the default location `chk-<id>`.
  std::string target_location;

  friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

// Flink 1.10 CheckpointMetaData. `timestamp_ms`: virtual wall clock at which the coordinator
// triggered, the same in all copies.
struct CheckpointMetaData {
  CheckpointId id = kNoCheckpoint;
  std::int64_t timestamp_ms = 0;

  friend bool operator==(const CheckpointMetaData&, const CheckpointMetaData&) = default;
};

}  // namespace tailrace::engine
