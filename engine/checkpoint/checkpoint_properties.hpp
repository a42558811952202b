// What may be done with a checkpoint, decided when it is triggered.
//
// Flink 1.10 CheckpointProperties, CheckpointRetentionPolicy (spec coordinator.md 1.5).
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

  [[nodiscard]] static CheckpointProperties for_checkpoint(CheckpointRetentionPolicy policy);
  // 1.10: always forced.
  [[nodiscard]] static CheckpointProperties for_savepoint();
  [[nodiscard]] static CheckpointProperties for_sync_savepoint();

  [[nodiscard]] bool is_savepoint() const { return engine::is_savepoint(type); }
  [[nodiscard]] bool is_synchronous() const { return type == CheckpointType::SYNC_SAVEPOINT; }
  // Whether a completed checkpoint goes when its job ends like this.
  // Requires: `status` is terminal or SUSPENDED.
  [[nodiscard]] bool discard_on(JobStatus status) const;

  friend bool operator==(const CheckpointProperties&, const CheckpointProperties&) = default;
};

}  // namespace tailrace::engine
