// One gate of a task, read through the task's barrier handler.
//
// Flink 1.10 CheckpointedInputGate (spec barriers.md 2.1). Barriers and cancel markers end here;
// what a blocked channel delivers waits in the storage, and stored items always come before new
// ones of the network.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/barrier/checkpointed_input.hpp"
#include "engine/barrier/f110/buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_handler.hpp"

namespace tailrace::engine::f110 {

class CheckpointedInputGate final : public CheckpointedInput {
 public:
  // Borrows everything. `channel_offset`: number of channels of the task's earlier gates.
  CheckpointedInputGate(InputGate& gate, CheckpointBarrierHandler& handler, BufferStorage& storage,
                        ChannelIndex channel_offset = 0, BarrierObserver* observer = nullptr);

  std::optional<BufferOrEvent> poll_next() override;
  // Set by a poll that gives nothing, once the gate and the storage have run dry.
  [[nodiscard]] bool is_finished() const override { return finished_; }
  [[nodiscard]] bool is_available() const override;
  [[nodiscard]] std::int32_t channel_count() const override { return gate_.channel_count(); }

 private:
  void store(BufferOrEvent item);
  // Returns: whether the event is the task's to see.
  [[nodiscard]] bool process_event(const RuntimeEvent& event, ChannelIndex channel);

  InputGate& gate_;
  CheckpointBarrierHandler& handler_;
  BufferStorage& storage_;
  ChannelIndex channel_offset_;
  BarrierObserver* observer_;
  bool end_of_input_gate_ = false;
  bool finished_ = false;
};

}  // namespace tailrace::engine::f110
