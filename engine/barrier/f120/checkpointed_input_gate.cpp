#include "engine/barrier/f120/checkpointed_input_gate.hpp"

#include <cstddef>
#include <variant>

namespace tailrace::engine::f120 {

CheckpointedInputGate::CheckpointedInputGate(InputGate& gate, CheckpointBarrierHandler& handler,
                                             ChannelIndex channel_offset, BarrierObserver* observer)
    : gate_(gate),
      handler_(handler),
      recovery_(gate),
      channel_offset_(channel_offset),
      observer_(observer),
      ended_(static_cast<std::size_t>(gate.channel_count())) {}

std::optional<BufferOrEvent> CheckpointedInputGate::poll_next() {
  std::optional<BufferOrEvent> next = gate_.poll_next();
  if (!next) {
    if (gate_.is_finished()) finished_ = true;
    return next;
  }
  if (next->is_buffer()) {
    handler_.add_processed_bytes(std::get<Buffer>(next->item).size());
  } else {
    handle(next->event(), next->channel);
  }
  return next;
}

void CheckpointedInputGate::handle(const RuntimeEvent& event, ChannelIndex channel) {
  const ChannelIndex of_task = channel_offset_ + channel;
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
    if (observer_ != nullptr) observer_->on_barrier_received(channel, barrier->id);
    handler_.process_barrier(*barrier, of_task, false);
    if (observer_ != nullptr) observer_->on_barrier_processed(channel, barrier->id);
  } else if (const auto* marker = std::get_if<CancelCheckpointMarker>(&event)) {
    handler_.process_cancellation_barrier(*marker, of_task);
  } else if (const auto* announced = std::get_if<EventAnnouncement>(&event)) {
    handler_.process_barrier_announcement(announced->barrier, announced->sequence_number, of_task);
  } else if (std::holds_alternative<EndOfData>(event)) {
    gate_.acknowledge_all_records_processed(channel);
  } else if (std::holds_alternative<EndOfPartitionEvent>(event)) {
    ended_[static_cast<std::size_t>(channel)] = 1;
    handler_.process_end_of_partition(of_task);
  } else if (std::holds_alternative<EndOfChannelState>(event)) {
    recovery_.handle_end_of_recovery(channel);
  }
}

}  // namespace tailrace::engine::f120
