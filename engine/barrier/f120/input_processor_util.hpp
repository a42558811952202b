// Makes what a task reads through, for one gate or several.
//
// Flink 1.20 InputProcessorUtil (spec barriers.md 5.1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/barrier/f120/checkpoint_barrier_handler.hpp"
#include "engine/barrier/f120/checkpointable_input.hpp"
#include "engine/barrier/f120/checkpointed_input_gate.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine::f120 {

class InputProcessorUtil final : public CheckpointedInputs {
 public:
  // Borrows gates, observers, listener and clock. Requires: at least one gate.
  InputProcessorUtil(std::span<const InputToCheckpoint> inputs,
                     const CheckpointedInputsOptions& options, CheckpointListener& listener,
                     const Clock& clock);
  ~InputProcessorUtil() override;

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
  [[nodiscard]] base::Duration checkpoint_start_delay() const override {
    return handler_->checkpoint_start_delay();
  }
  void process_barrier_of_coordinator(const CheckpointBarrier& barrier) override;
  void when_all_barriers(CheckpointId id, base::InplaceFunction<void(bool)> done) override {
    handler_->when_all_barriers(id, std::move(done));
  }
  void close() override { handler_->close(); }
  [[nodiscard]] bool is_blocked(std::int32_t gate, ChannelIndex channel) const override;

  [[nodiscard]] const CheckpointBarrierHandler& handler() const { return *handler_; }

 private:
  class Gate;
  struct Input {
    ChannelIndex channel_offset = 0;
    std::unique_ptr<Gate> to_handler;
    std::unique_ptr<CheckpointedInputGate> gate;
  };

  std::vector<Input> inputs_;
  std::unique_ptr<CheckpointableInputs> checkpointable_;
  std::unique_ptr<CheckpointBarrierHandler> handler_;
};

}  // namespace tailrace::engine::f120
