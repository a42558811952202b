#include "engine/barrier/f120/barrier_handler_state.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {
namespace {

using Next = BarrierHandlerState::Next;
using Controller = BarrierHandlerState::Controller;

CheckpointBarrier as_unaligned(const CheckpointBarrier& barrier) {
  return {barrier.id, barrier.timestamp_ms, barrier.options.as_unaligned()};
}

const CheckpointBarrier& pending_barrier(const Controller& controller) {
  const CheckpointBarrier* barrier = controller.pending_checkpoint_barrier();
  TAILRACE_ASSERT(barrier != nullptr);
  return *barrier;
}

// Channel state is written from here on, and the task takes its snapshot.
std::optional<CheckpointFailureReason> start_unaligned(Controller& controller,
                                                       const CheckpointBarrier& unaligned) {
  if (const auto failure = controller.init_inputs_checkpoint(unaligned)) return failure;
  if (const auto failure = controller.channels().inputs().checkpoint_started(unaligned)) {
    return failure;
  }
  controller.trigger_global_checkpoint(unaligned);
  return std::nullopt;
}

// --- aligned -----------------------------------------------------------------------------------

// Flink WaitingForFirstBarrier and CollectingBarriers differ in this alone: whether an end of
// partition can complete a checkpoint.
class Aligned final : public BarrierHandlerState {
 public:
  explicit constexpr Aligned(bool collecting) : collecting_(collecting) {}

  Next barrier_received(Controller& controller, ChannelIndex channel,
                        const CheckpointBarrier& barrier, bool block) const override {
    TAILRACE_ASSERT(!barrier.options.is_unaligned());
    if (block) controller.channels().block_channel(channel);
    if (controller.all_barriers_received()) return finish(controller, barrier);
    return state(true);
  }
  Next announcement_received(Controller&, ChannelIndex, std::int32_t) const override {
    return this;
  }
  Next aligned_checkpoint_timeout(Controller&, const CheckpointBarrier&) const override {
    base::fail_assertion("only an alternating handler times out", __FILE__, __LINE__);
  }
  Next end_of_partition_received(Controller& controller, ChannelIndex channel) const override {
    controller.channels().channel_finished(channel);
    if (collecting_ && controller.all_barriers_received()) {
      return finish(controller, pending_barrier(controller));
    }
    return this;
  }
  const BarrierHandlerState* abort(Controller& controller, CheckpointId) const override {
    controller.channels().unblock_all_channels();
    return state(false);
  }

  static const BarrierHandlerState* state(bool collecting);

 private:
  static const BarrierHandlerState* finish(Controller& controller,
                                           const CheckpointBarrier& barrier) {
    controller.trigger_global_checkpoint(barrier);
    controller.channels().unblock_all_channels();
    return state(false);
  }

  bool collecting_;
};

constexpr Aligned kWaiting{false};
constexpr Aligned kCollecting{true};
const BarrierHandlerState* Aligned::state(bool collecting) {
  return collecting ? &kCollecting : &kWaiting;
}

// --- aligned until the time is up -----------------------------------------------------------------

// Flink AlternatingWaitingForFirstBarrier and AlternatingCollectingBarriers.
class Alternating final : public BarrierHandlerState {
 public:
  explicit constexpr Alternating(bool collecting) : collecting_(collecting) {}

  Next barrier_received(Controller& controller, ChannelIndex channel,
                        const CheckpointBarrier& barrier, bool block) const override {
    if (barrier.options.is_unaligned()) {
      const Next unaligned = aligned_checkpoint_timeout(controller, barrier);
      if (!unaligned) return unaligned;
      return unaligned.value()->barrier_received(controller, channel, barrier, block);
    }
    ChannelState& channels = controller.channels();
    channels.remove_seen_announcement(channel);
    if (block) channels.block_channel(channel);
    if (controller.all_barriers_received()) return complete(controller, barrier);
    if (controller.is_timed_out(barrier)) {
      const Next unaligned = aligned_checkpoint_timeout(controller, barrier);
      if (!unaligned) return unaligned;
      return unaligned.value()->barrier_received(controller, channel, as_unaligned(barrier), block);
    }
    return state(true);
  }
  Next announcement_received(Controller& controller, ChannelIndex channel,
                             std::int32_t sequence_number) const override {
    controller.channels().add_seen_announcement(channel, sequence_number);
    return this;
  }
  Next aligned_checkpoint_timeout(Controller& controller,
                                  const CheckpointBarrier& barrier) const override;
  Next end_of_partition_received(Controller& controller, ChannelIndex channel) const override {
    controller.channels().channel_finished(channel);
    if (!collecting_) return this;
    const CheckpointBarrier& pending = pending_barrier(controller);
    TAILRACE_ASSERT(!pending.options.is_unaligned());
    if (controller.all_barriers_received()) return complete(controller, pending);
    if (controller.is_timed_out(pending)) {
      const Next unaligned = aligned_checkpoint_timeout(controller, pending);
      if (!unaligned) return unaligned;
      return unaligned.value()->end_of_partition_received(controller, channel);
    }
    return this;
  }
  const BarrierHandlerState* abort(Controller& controller, CheckpointId) const override {
    return finish(controller);
  }

  static const BarrierHandlerState* state(bool collecting);
  static const BarrierHandlerState* finish(Controller& controller) {
    controller.channels().unblock_all_channels();
    controller.channels().clear_announcements();
    return state(false);
  }

 private:
  static Next complete(Controller& controller, const CheckpointBarrier& barrier) {
    if (const auto failure = controller.init_inputs_checkpoint(barrier)) {
      return base::Failure{*failure};
    }
    controller.trigger_global_checkpoint(barrier);
    return finish(controller);
  }

  bool collecting_;
};

constexpr Alternating kAlternatingWaiting{false};
constexpr Alternating kAlternatingCollecting{true};
const BarrierHandlerState* Alternating::state(bool collecting) {
  return collecting ? &kAlternatingCollecting : &kAlternatingWaiting;
}

// --- unaligned ---------------------------------------------------------------------------------

const BarrierHandlerState* unaligned_state(bool alternating, bool collecting);

// After the last barrier, or an abort.
const BarrierHandlerState* finish_unaligned(Controller& controller, bool alternating) {
  if (alternating) return Alternating::finish(controller);
  controller.channels().unblock_all_channels();
  controller.channels().clear_announcements();
  return unaligned_state(false, false);
}

// Flink AlternatingWaitingForFirstBarrierUnaligned.
class WaitingUnaligned final : public BarrierHandlerState {
 public:
  explicit constexpr WaitingUnaligned(bool alternating) : alternating_(alternating) {}

  Next barrier_received(Controller& controller, ChannelIndex channel,
                        const CheckpointBarrier& barrier, bool block) const override {
    // Its sender has stopped behind it, although here it has overtaken.
    if (block && !barrier.options.is_unaligned()) controller.channels().block_channel(channel);
    const CheckpointBarrier unaligned = as_unaligned(barrier);
    if (const auto failure = start_unaligned(controller, unaligned)) {
      return base::Failure{*failure};
    }
    if (!controller.all_barriers_received()) return unaligned_state(alternating_, true);
    controller.channels().inputs().checkpoint_stopped(unaligned.id);
    return finish_unaligned(controller, alternating_);
  }
  Next announcement_received(Controller& controller, ChannelIndex channel,
                             std::int32_t sequence_number) const override {
    controller.channels().inputs().convert_to_priority_event(channel, sequence_number);
    return this;
  }
  Next aligned_checkpoint_timeout(Controller&, const CheckpointBarrier&) const override {
    return this;
  }
  Next end_of_partition_received(Controller& controller, ChannelIndex channel) const override {
    controller.channels().channel_finished(channel);
    return this;
  }
  const BarrierHandlerState* abort(Controller& controller, CheckpointId) const override {
    return finish_unaligned(controller, alternating_);
  }

 private:
  bool alternating_;
};

// Flink AlternatingCollectingBarriersUnaligned.
class CollectingUnaligned final : public BarrierHandlerState {
 public:
  explicit constexpr CollectingUnaligned(bool alternating) : alternating_(alternating) {}

  Next barrier_received(Controller& controller, ChannelIndex channel,
                        const CheckpointBarrier& barrier, bool block) const override {
    if (block && !barrier.options.is_unaligned()) controller.channels().block_channel(channel);
    if (controller.all_barriers_received()) return finish(controller, barrier.id);
    return this;
  }
  Next announcement_received(Controller& controller, ChannelIndex channel,
                             std::int32_t sequence_number) const override {
    controller.channels().inputs().convert_to_priority_event(channel, sequence_number);
    return this;
  }
  Next aligned_checkpoint_timeout(Controller&, const CheckpointBarrier&) const override {
    return this;
  }
  Next end_of_partition_received(Controller& controller, ChannelIndex channel) const override {
    controller.channels().channel_finished(channel);
    if (controller.all_barriers_received())
      return finish(controller, pending_barrier(controller).id);
    return this;
  }
  const BarrierHandlerState* abort(Controller& controller, CheckpointId id) const override {
    return finish(controller, id);
  }

 private:
  const BarrierHandlerState* finish(Controller& controller, CheckpointId id) const {
    controller.channels().inputs().checkpoint_stopped(id);
    return finish_unaligned(controller, alternating_);
  }

  bool alternating_;
};

constexpr WaitingUnaligned kStrictWaiting{false};
constexpr WaitingUnaligned kTimedOutWaiting{true};
constexpr CollectingUnaligned kStrictCollecting{false};
constexpr CollectingUnaligned kTimedOutCollecting{true};
const BarrierHandlerState* unaligned_state(bool alternating, bool collecting) {
  if (collecting) return alternating ? &kTimedOutCollecting : &kStrictCollecting;
  return alternating ? &kTimedOutWaiting : &kStrictWaiting;
}

Next Alternating::aligned_checkpoint_timeout(Controller& controller,
                                             const CheckpointBarrier& barrier) const {
  controller.channels().prioritize_all_announcements();
  if (!collecting_) return unaligned_state(true, false);
  if (const auto failure = start_unaligned(controller, as_unaligned(barrier))) {
    return base::Failure{*failure};
  }
  return unaligned_state(true, true);
}

}  // namespace

const BarrierHandlerState* waiting_for_first_barrier() {
  return &kWaiting;
}
const BarrierHandlerState* alternating_waiting_for_first_barrier() {
  return &kAlternatingWaiting;
}
const BarrierHandlerState* strictly_unaligned_waiting_for_first_barrier() {
  return &kStrictWaiting;
}

}  // namespace tailrace::engine::f120
