// Makes what a task reads through, for one gate or several.
//
// Flink 1.10 InputProcessorUtil (spec barriers.md 2.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/barrier/f110/buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_handler.hpp"
#include "engine/barrier/f110/checkpointed_input_gate.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine::f110 {

// The gates of one task with their shared handler. With several gates each storage is linked with
// all others.
class InputProcessorUtil final : public CheckpointedInputs {
 public:
  // Borrows gates, observers, listener and clock. Requires: at least one gate.
  InputProcessorUtil(std::span<const InputToCheckpoint> inputs,
                     const CheckpointedInputsOptions& options, CheckpointListener& listener,
                     const Clock& clock);

  [[nodiscard]] std::int32_t size() const override {
    return static_cast<std::int32_t>(inputs_.size());
  }
  [[nodiscard]] CheckpointedInputGate& input(std::int32_t gate) override;
  [[nodiscard]] CheckpointId latest_checkpoint_id() const override {
    return handler_->latest_checkpoint_id();
  }
  [[nodiscard]] base::Duration alignment_duration() const override {
    return handler_->alignment_duration();
  }
  [[nodiscard]] bool is_blocked(std::int32_t gate, ChannelIndex channel) const override;

  [[nodiscard]] const CheckpointBarrierHandler& handler() const { return *handler_; }
  // As that gate sees it: linked with the others' if there are several.
  [[nodiscard]] const BufferStorage& storage(std::int32_t gate) const;

 private:
  struct Input {
    std::int32_t channel_offset = 0;
    std::unique_ptr<BufferStorage> linked;  // null: the only gate
    std::unique_ptr<CheckpointedInputGate> gate;
  };

  std::unique_ptr<CheckpointBarrierHandler> handler_;
  std::vector<std::unique_ptr<BufferStorage>> storages_;  // one a gate
  std::vector<Input> inputs_;
};

}  // namespace tailrace::engine::f110
