// What a barrier, an announcement, an end, an abort or a time-out means, by what has been seen.
//
// Flink 1.20 BarrierHandlerState and its implementations (table of spec barriers.md 5.4). States hold
// nothing: what they work on comes with each call, so that every state exists once and changing it
// costs nothing.
#pragma once

#include <cstdint>

#include "engine/barrier/f120/channel_state.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine::f120 {

class BarrierHandlerState {
 public:
  // The state after the call, or why the checkpoint must be aborted; then the state is unchanged.
  using Next = base::Result<const BarrierHandlerState*, CheckpointFailureReason>;

  // What a state asks of its handler.
  class Controller {
   public:
    [[nodiscard]] virtual bool all_barriers_received() const = 0;
    // The first barrier of the current checkpoint; null: none is pending.
    [[nodiscard]] virtual const CheckpointBarrier* pending_checkpoint_barrier() const = 0;
    virtual void trigger_global_checkpoint(const CheckpointBarrier& barrier) = 0;
    [[nodiscard]] virtual std::optional<CheckpointFailureReason> init_inputs_checkpoint(
        const CheckpointBarrier& barrier) = 0;
    [[nodiscard]] virtual bool is_timed_out(const CheckpointBarrier& barrier) const = 0;
    [[nodiscard]] virtual ChannelState& channels() = 0;

   protected:
    ~Controller() = default;
  };

  // `block`: the sender of the channel has stopped behind the barrier.
  [[nodiscard]] virtual Next barrier_received(Controller& controller, ChannelIndex channel,
                                              const CheckpointBarrier& barrier,
                                              bool block) const = 0;
  [[nodiscard]] virtual Next announcement_received(Controller& controller, ChannelIndex channel,
                                                   std::int32_t sequence_number) const = 0;
  [[nodiscard]] virtual Next aligned_checkpoint_timeout(Controller& controller,
                                                        const CheckpointBarrier& barrier) const = 0;
  [[nodiscard]] virtual Next end_of_partition_received(Controller& controller,
                                                       ChannelIndex channel) const = 0;
  [[nodiscard]] virtual const BarrierHandlerState* abort(Controller& controller,
                                                         CheckpointId id) const = 0;

 protected:
  ~BarrierHandlerState() = default;
};

// Where a handler of each kind starts.
[[nodiscard]] const BarrierHandlerState* waiting_for_first_barrier();
[[nodiscard]] const BarrierHandlerState* alternating_waiting_for_first_barrier();
[[nodiscard]] const BarrierHandlerState* strictly_unaligned_waiting_for_first_barrier();

}  // namespace tailrace::engine::f120
