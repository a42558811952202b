// What may be done with a checkpoint, decided when it is triggered.
//
// CheckpointProperties, CheckpointRetentionPolicy of Flink 1.10 and 1.20 (spec coordinator.md 1.5).
#pragma once

#include <cstdint>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

// Of checkpoints, by `execution.checkpointing.externalized-checkpoint-retention`.
enum class CheckpointRetentionPolicy : std::uint8_t {
  NEVER_RETAIN_AFTER_TERMINATION,
  RETAIN_ON_FAILURE,
  RETAIN_ON_CANCELLATION,
};

struct CheckpointProperties {
  // Ignores the limit of concurrent checkpoints and the minimum pause, is never subsumed while
  // pending.
  bool forced = false;
  CheckpointType type = CheckpointType::CHECKPOINT;
  bool discard_on_subsumed = true;
  bool discard_on_finished = true;
  bool discard_on_cancelled = true;
  bool discard_on_failed = true;
  bool discard_on_suspended = true;
  SavepointFormatType format = SavepointFormatType::CANONICAL;  // 1.20, of savepoints
  // 1.20: restored with claim mode NO_CLAIM; not part of equality.
  bool unclaimed = false;

  [[nodiscard]] static CheckpointProperties for_checkpoint(CheckpointRetentionPolicy policy);
  // 1.10: always forced.
  [[nodiscard]] static CheckpointProperties for_savepoint();
  [[nodiscard]] static CheckpointProperties for_sync_savepoint();
  // 1.20: `forced` if unaligned checkpoints are off.
  [[nodiscard]] static CheckpointProperties for_savepoint(bool forced, SavepointFormatType format);
  [[nodiscard]] static CheckpointProperties for_sync_savepoint(bool forced, bool terminate,
                                                               SavepointFormatType format);
  // 1.20: as a savepoint, whatever it was taken as.
  [[nodiscard]] static CheckpointProperties for_unclaimed_snapshot();

  [[nodiscard]] bool is_savepoint() const { return engine::is_savepoint(type); }
  [[nodiscard]] bool is_synchronous() const { return engine::is_synchronous(type); }
  // Whether a completed checkpoint goes when its job ends like this.
  // Requires: `status` is terminal or SUSPENDED.
  [[nodiscard]] bool discard_on(JobStatus status) const;

  friend bool operator==(const CheckpointProperties& a, const CheckpointProperties& b) {
    return a.forced == b.forced && a.type == b.type && a.format == b.format &&
           a.discard_on_subsumed == b.discard_on_subsumed &&
           a.discard_on_finished == b.discard_on_finished &&
           a.discard_on_cancelled == b.discard_on_cancelled &&
           a.discard_on_failed == b.discard_on_failed &&
           a.discard_on_suspended == b.discard_on_suspended;
  }
};

}  // namespace tailrace::engine
