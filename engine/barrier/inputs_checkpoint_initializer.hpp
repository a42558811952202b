// Gets a task ready for buffers in flight of its inputs to become channel state.
//
// Flink 1.20 SubtaskCheckpointCoordinator.initInputsCheckpoint (spec barriers.md 5.6).
#pragma once

#include <optional>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

class InputsCheckpointInitializer {
 public:
  // Returns: why that failed; then the checkpoint is aborted.
  [[nodiscard]] virtual std::optional<CheckpointFailureReason> init_inputs_checkpoint(
      CheckpointId id, const CheckpointOptions& options) = 0;

 protected:
  ~InputsCheckpointInitializer() = default;
};

}  // namespace tailrace::engine
