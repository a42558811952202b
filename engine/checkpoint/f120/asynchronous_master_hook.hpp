// Hooks of external systems on the job manager that take their time.
//
// Flink 1.20 MasterTriggerRestoreHook (spec coordinator.md 6.4): called in the trigger phase, after
// the operator coordinators and before any task; nobody waits for an answer but the checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/master_hook.hpp"
#include "engine/ids.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class AsynchronousMasterHook {
 public:
  // No state is a valid answer.
  using Answer = std::variant<std::optional<MasterState>, MasterHookFailure>;

  [[nodiscard]] virtual const std::string& identifier() const = 0;
  // `answered` may run inside the call, later, or never.
  virtual void trigger_checkpoint(CheckpointId id, std::int64_t timestamp_ms,
                                  base::InplaceFunction<void(Answer)> answered) = 0;
  // `state` is null if the checkpoint has none of this hook.
  virtual void restore_checkpoint(CheckpointId id, const MasterState* state) = 0;
  // Nothing is restored: start afresh.
  virtual void reset() = 0;
  virtual void close() = 0;

 protected:
  ~AsynchronousMasterHook() = default;
};

}  // namespace tailrace::engine
