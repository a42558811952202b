#include "engine/barrier/f110/checkpointed_input_gate.hpp"

#include <utility>
#include <variant>

namespace tailrace::engine::f110 {

CheckpointedInputGate::CheckpointedInputGate(InputGate& gate, CheckpointBarrierHandler& handler,
                                             BufferStorage& storage, ChannelIndex channel_offset,
                                             BarrierObserver* observer)
    : gate_(gate),
      handler_(handler),
      storage_(storage),
      channel_offset_(channel_offset),
      observer_(observer) {}

std::optional<BufferOrEvent> CheckpointedInputGate::poll_next() {
  while (true) {
    const bool replaying = !storage_.is_empty();
    std::optional<BufferOrEvent> next = replaying ? storage_.poll_next() : gate_.poll_next();
    if (!next) {
      if (replaying) continue;  // a sequence ran out
      if (!gate_.is_finished()) return std::nullopt;
      if (end_of_input_gate_) {
        finished_ = true;
        return std::nullopt;
      }
      // No abort is notified, and with several gates this resets the alignment of all: as Flink.
      end_of_input_gate_ = true;
      handler_.release_blocks_and_reset_barriers();
      storage_.roll_over();
      continue;
    }

    if (handler_.is_blocked(channel_offset_ + next->channel)) {
      store(*std::move(next));
      continue;
    }
    if (!next->is_buffer() && !process_event(next->event(), next->channel)) continue;
    if (replaying) next->more_available = is_available();  // what the gate said then is history
    return next;
  }
}

bool CheckpointedInputGate::is_available() const {
  return !storage_.is_empty() || gate_.is_available();
}

void CheckpointedInputGate::store(BufferOrEvent item) {
  storage_.add(std::move(item));
  if (storage_.is_full()) {
    handler_.checkpoint_size_limit_exceeded();
    storage_.roll_over();
  }
}

bool CheckpointedInputGate::process_event(const RuntimeEvent& event, ChannelIndex channel) {
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
    if (observer_ != nullptr) observer_->on_barrier_received(channel, barrier->id);
    // After the end of the gate stored barriers are dropped, while cancel markers still count.
    if (!end_of_input_gate_ &&
        handler_.process_barrier(*barrier, channel_offset_ + channel, storage_.pending_bytes())) {
      storage_.roll_over();
    }
    if (observer_ != nullptr) observer_->on_barrier_processed(channel, barrier->id);
    return false;
  }
  if (const auto* marker = std::get_if<CancelCheckpointMarker>(&event)) {
    if (handler_.process_cancellation_barrier(*marker)) storage_.roll_over();
    return false;
  }
  if (handler_.process_end_of_partition()) storage_.roll_over();
  return true;
}

}  // namespace tailrace::engine::f110
