#include "engine/network/union_input_gate.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

UnionInputGate::UnionInputGate(std::vector<InputGate*> gates, bool available_until_empty_poll)
    : gates_without_end_of_data_(gates.size()),
      available_until_empty_poll_(available_until_empty_poll) {
  for (InputGate* gate : gates) {
    gates_.push_back({gate, channel_count_, false, false, false});
    channel_count_ += gate->channel_count();
  }
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    InputGate& gate = *gates_[i].gate;
    gate.set_availability_listener([this, i] { queue_gate(i, false); });
    gate.set_priority_listener([this, i] { queue_gate(i, true); });
    if (gate.is_available()) queue_gate(i, false);
    if (gate.is_priority_event_available()) queue_gate(i, true);
  }
}

void UnionInputGate::queue_gate(std::size_t index, bool priority) {
  const Member& member = gates_[index];
  // A gate that finishes says that it is available, but has nothing more to give.
  if (member.gate->is_finished()) return;
  if (member.queued && (!priority || member.has_priority)) return;
  add(index, priority);
  if (priority && ready_.num_priority_elements() == 1 &&
      !std::exchange(priority_available_, true) && priority_listener_) {
    priority_listener_();
  }
  if (!std::exchange(available_, true) && listener_) listener_();
}

void UnionInputGate::add(std::size_t index, bool priority) {
  Member& member = gates_[index];
  ready_.add(index, priority, member.queued);
  member.queued = true;
  member.has_priority = priority;
}

std::vector<std::size_t> UnionInputGate::queued_gates() const {
  std::vector<std::size_t> gates;
  for (std::size_t i = 0; i < ready_.size(); ++i) gates.push_back(ready_[i]);
  return gates;
}

const UnionInputGate::Member& UnionInputGate::member_of(ChannelIndex channel) const {
  TAILRACE_ASSERT(0 <= channel && channel < channel_count_);
  std::size_t index = gates_.size() - 1;
  while (gates_[index].first_channel > channel) --index;
  return gates_[index];
}

void UnionInputGate::resume_consumption(ChannelIndex channel) {
  const Member& member = member_of(channel);
  member.gate->resume_consumption(channel - member.first_channel);
}

void UnionInputGate::acknowledge_all_records_processed(ChannelIndex channel) {
  const Member& member = member_of(channel);
  member.gate->acknowledge_all_records_processed(channel - member.first_channel);
}

std::optional<CheckpointFailureReason> UnionInputGate::checkpoint_started(
    const CheckpointBarrier& barrier) {
  for (const Member& member : gates_) {
    if (const auto failure = member.gate->checkpoint_started(barrier)) return failure;
  }
  return std::nullopt;
}

void UnionInputGate::checkpoint_stopped(CheckpointId id) {
  for (const Member& member : gates_) member.gate->checkpoint_stopped(id);
}

void UnionInputGate::convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) {
  const Member& member = member_of(channel);
  member.gate->convert_to_priority_event(channel - member.first_channel, sequence_number);
}

std::optional<BufferOrEvent> UnionInputGate::poll_next() {
  while (!ready_.empty()) {
    const std::size_t index = ready_.poll();
    Member& member = gates_[index];
    member.queued = false;
    const bool announced = std::exchange(member.has_priority, false);
    std::optional<BufferOrEvent> item = member.gate->poll_next();
    if (!item && announced) {
      // As in SingleInputGate: the producer took its priority event along.
      if (member.gate->is_priority_event_available()) add(index, true);
      if (ready_.num_priority_elements() == 0) priority_available_ = false;
      return std::nullopt;
    }
    if (item) on_item(*item, member);
    if (item && !member.finished && member.gate->is_available()) {
      add(index, item->more_priority_events);
    }
    if (item) {
      if (item->has_priority && ready_.num_priority_elements() == 0) priority_available_ = false;
      if (ready_.empty() && !available_until_empty_poll_) available_ = false;
      item->channel += member.first_channel;
      item->more_available = !ready_.empty();
      if (is_finished() && listener_) listener_();
      return item;
    }
  }
  available_ = false;
  return std::nullopt;
}

void UnionInputGate::on_item(const BufferOrEvent& item, Member& member) {
  if (member.gate->is_finished()) {
    member.finished = true;
    ++finished_gates_;
  }
  if (item.is_buffer() || !std::holds_alternative<EndOfData>(item.event())) return;
  const EndOfDataStatus status = member.gate->end_of_data_status();
  if (status == EndOfDataStatus::kNotEndOfData) return;
  TAILRACE_ASSERT(gates_without_end_of_data_ > 0);
  --gates_without_end_of_data_;
  drains_ = drains_ && status == EndOfDataStatus::kDrained;
}

}  // namespace tailrace::engine
