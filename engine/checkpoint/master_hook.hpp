// Hooks of external systems that take part in checkpoints on the job manager.
//
// Flink 1.10 MasterTriggerRestoreHook, MasterHooks (spec coordinator.md 6.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

// A hook failed, or did not answer within the checkpoint timeout.
struct MasterHookFailure {};

class MasterTriggerRestoreHook {
 public:
  [[nodiscard]] virtual const std::string& identifier() const = 0;
  // Answers at once: the coordinator of 1.10 holds its lock until the answer is there. No state is a
  // valid answer.
  virtual std::variant<std::optional<MasterState>, MasterHookFailure> trigger_checkpoint(
      CheckpointId id, std::int64_t timestamp_ms) = 0;
  // `state` is null if the checkpoint has none of this hook.
  virtual void restore_checkpoint(CheckpointId id, const MasterState* state) = 0;
  // Nothing is restored: start afresh.
  virtual void reset() = 0;
  virtual void close() = 0;

 protected:
  ~MasterTriggerRestoreHook() = default;
};

}  // namespace tailrace::engine
