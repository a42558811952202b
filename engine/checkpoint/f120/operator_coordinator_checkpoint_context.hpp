// The companion of an operator on the job manager, as the checkpoint coordinator sees it.
//
// Flink 1.20 OperatorCoordinatorCheckpointContext (spec coordinator.md ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/ids.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class OperatorCoordinatorCheckpointContext {
 public:
  // None: the snapshot failed, or it is null: of that Flink cannot make a handle, which is a failure
  // too.
  using Snapshot = std::optional<std::vector<std::byte>>;

  [[nodiscard]] virtual OperatorId operator_id() const = 0;
  [[nodiscard]] virtual std::int32_t current_parallelism() const = 0;
  [[nodiscard]] virtual std::int32_t max_parallelism() const = 0;

  // Closes the gateways to the subtasks once the snapshot is taken; `done` may run inside the call.
  virtual void checkpoint_coordinator(CheckpointId id,
                                      base::InplaceFunction<void(Snapshot)> done) = 0;
  // The trigger phase under way comes to nothing: gateways open again.
  virtual void abort_current_triggering() = 0;
  virtual void notify_checkpoint_complete(CheckpointId id) = 0;
  virtual void notify_checkpoint_aborted(CheckpointId id) = 0;
  // `id`: kNoCheckpoint if there is none to go back to. `state`: null if it has none of this.
  virtual void reset_to_checkpoint(CheckpointId id, const std::vector<std::byte>* state) = 0;

 protected:
  ~OperatorCoordinatorCheckpointContext() = default;
};

}  // namespace tailrace::engine
