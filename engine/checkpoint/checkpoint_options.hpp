// What a checkpoint is, as it travels with triggers and barriers.
//
// Flink 1.10 CheckpointType; Flink 1.20 SnapshotType, CheckpointType, SavepointType,
// SavepointFormatType; CheckpointOptions of both (spec coordinator.md 1.6, R-1.11 to ).
#pragma once

#include <cstdint>
#include <string>

#include "engine/ids.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

// The snapshot types of both generations.
enum class CheckpointType : std::uint8_t {
  CHECKPOINT,
  SAVEPOINT,
  SYNC_SAVEPOINT,       // 1.10: stop with savepoint, drained or not
  FULL_CHECKPOINT,      // 1.20: uses nothing of earlier checkpoints
  SAVEPOINT_SUSPEND,    // 1.20: stop without drain
  SAVEPOINT_TERMINATE,  // 1.20: stop with drain
};

[[nodiscard]] constexpr bool is_savepoint(CheckpointType type) {
  return type != CheckpointType::CHECKPOINT && type != CheckpointType::FULL_CHECKPOINT;
}
// Whether the job stops with it.
[[nodiscard]] constexpr bool is_synchronous(CheckpointType type) {
  return type == CheckpointType::SYNC_SAVEPOINT || type == CheckpointType::SAVEPOINT_SUSPEND ||
         type == CheckpointType::SAVEPOINT_TERMINATE;
}
[[nodiscard]] const char* to_string(CheckpointType type);

// 1.20. Canonical: independent of the state backend. 1.10 knows that one alone.
enum class SavepointFormatType : std::uint8_t { CANONICAL, NATIVE };

// Flink 1.20 CheckpointOptions.AlignmentType; what 1.10 does is AT_LEAST_ONCE or ALIGNED.
enum class AlignmentType : std::uint8_t { AT_LEAST_ONCE, ALIGNED, UNALIGNED, FORCED_ALIGNED };
[[nodiscard]] const char* to_string(AlignmentType alignment);

struct CheckpointOptions {
  CheckpointType type = CheckpointType::CHECKPOINT;
  // Directory that this checkpoint's exclusive files go to; empty: the default location `chk-<id>`.
  std::string target_location;
  SavepointFormatType format = SavepointFormatType::CANONICAL;  // of savepoints
  AlignmentType alignment = AlignmentType::ALIGNED;             // 1.20
  // 1.20: from the trigger on; Duration::max(): never.
  base::Duration aligned_checkpoint_timeout = base::Duration::max();

  // What a coordinator of 1.20 asks for (R-1.12, Flink CheckpointOptions.forConfig). A timeout of 0 and
  // one of Duration::max() mean unaligned from the start.
  [[nodiscard]] static CheckpointOptions for_config(CheckpointType type, bool exactly_once,
                                                    bool unaligned, base::Duration aligned_timeout);
  // What Flink refuses to construct: only an aligned checkpoint can wait for its time to be up, and a
  // savepoint is never unaligned, now or later.
  [[nodiscard]] bool is_consistent() const {
    const bool waits = aligned_checkpoint_timeout != base::Duration::max();
    return !(is_savepoint(type) && (is_unaligned() || waits)) && !(is_unaligned() && waits);
  }

  //
  [[nodiscard]] bool is_timeoutable() const {
    return alignment == AlignmentType::ALIGNED && aligned_checkpoint_timeout > base::Duration{} &&
           aligned_checkpoint_timeout < base::Duration::max();
  }
  [[nodiscard]] bool is_unaligned() const { return alignment == AlignmentType::UNALIGNED; }
  // Whether its barriers wait for each other.
  [[nodiscard]] bool needs_alignment() const {
    return alignment != AlignmentType::AT_LEAST_ONCE &&
           (is_savepoint(type) || alignment != AlignmentType::UNALIGNED);
  }
  // Requires: UNALIGNED, or ALIGNED and no savepoint.
  [[nodiscard]] CheckpointOptions as_unaligned() const;
  // For a channel whose data in flight could not be restored, and back again behind it: what would
  // overtake is FORCED_ALIGNED meanwhile.
  [[nodiscard]] CheckpointOptions with_unaligned_unsupported() const;
  [[nodiscard]] CheckpointOptions with_unaligned_supported() const;
  [[nodiscard]] bool needs_channel_state() const {
    return alignment == AlignmentType::UNALIGNED || is_timeoutable();
  }

  friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

// Flink CheckpointMetaData. `timestamp_ms`: virtual wall clock at which the coordinator triggered,
// the same in all copies.
struct CheckpointMetaData {
  CheckpointId id = kNoCheckpoint;
  std::int64_t timestamp_ms = 0;

  friend bool operator==(const CheckpointMetaData&, const CheckpointMetaData&) = default;
};

}  // namespace tailrace::engine
