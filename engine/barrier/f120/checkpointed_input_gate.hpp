// One gate of a task, read through the task's barrier handler.
//
// Flink 1.20 CheckpointedInputGate (spec barriers.md 5.2). Nothing is put aside: a blocked channel
// delivers nothing, because its sender has stopped. Every event is handed out after it was handled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/checkpointed_input.hpp"
#include "engine/barrier/f120/checkpoint_barrier_handler.hpp"
#include "engine/barrier/f120/upstream_recovery_tracker.hpp"

namespace tailrace::engine::f120 {

class CheckpointedInputGate final : public CheckpointedInput {
 public:
  // Borrows everything. `channel_offset`: number of channels of the task's earlier inputs.
  CheckpointedInputGate(InputGate& gate, CheckpointBarrierHandler& handler,
                        ChannelIndex channel_offset = 0, BarrierObserver* observer = nullptr);

  std::optional<BufferOrEvent> poll_next() override;
  // Set by a poll that gives nothing, once the gate has run dry.
  [[nodiscard]] bool is_finished() const override { return finished_; }
  [[nodiscard]] bool is_available() const override { return gate_.is_available(); }
  [[nodiscard]] std::int32_t channel_count() const override { return gate_.channel_count(); }

  [[nodiscard]] bool has_ended(ChannelIndex channel) const {
    return ended_[static_cast<std::size_t>(channel)] != 0;
  }
  [[nodiscard]] bool all_channels_recovered() const { return recovery_.all_channels_recovered(); }

 private:
  void handle(const RuntimeEvent& event, ChannelIndex channel);

  InputGate& gate_;
  CheckpointBarrierHandler& handler_;
  UpstreamRecoveryTracker recovery_;
  ChannelIndex channel_offset_;
  BarrierObserver* observer_;
  std::vector<std::uint8_t> ended_;  // by channel
  bool finished_ = false;
};

}  // namespace tailrace::engine::f120
