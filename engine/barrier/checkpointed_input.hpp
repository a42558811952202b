// A gate behind a barrier handler: the seam between the two generations of Flink's
// CheckpointedInputGate.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ids.hpp"
#include "engine/network/input_gate.hpp"

namespace tailrace::engine {

// What happened on an input around a checkpoint, for observers and statistics only.
class BarrierObserver {
 public:
  // The barrier has come and the handler is about to hear of it: whatever the channel has delivered
  // so far is before the barrier.
  virtual void on_barrier_received(ChannelIndex /*channel*/, CheckpointId /*id*/) {}
  // The handler has been given the barrier (or has ignored it).
  virtual void on_barrier_processed(ChannelIndex channel, CheckpointId id) = 0;

 protected:
  ~BarrierObserver() = default;
};

class CheckpointedInput {
 public:
  virtual ~CheckpointedInput() = default;

  // Never waits. Channels count from 0 within this input. Barriers and cancel markers are consumed
  // (1.10); end of partition is handed out.
  virtual std::optional<BufferOrEvent> poll_next() = 0;
  [[nodiscard]] virtual bool is_finished() const = 0;
  [[nodiscard]] virtual bool is_available() const = 0;
  [[nodiscard]] virtual std::int32_t channel_count() const = 0;
};

}  // namespace tailrace::engine
