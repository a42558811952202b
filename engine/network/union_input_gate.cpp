#include "engine/network/union_input_gate.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

UnionInputGate::UnionInputGate(std::vector<InputGate*> gates) {
  for (InputGate* gate : gates) {
    gates_.push_back({gate, channel_count_, false, false});
    channel_count_ += gate->channel_count();
  }
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    gates_[i].gate->set_availability_listener([this, i] { gate_available(i); });
    if (gates_[i].gate->is_available()) gate_available(i);
  }
}

void UnionInputGate::gate_available(std::size_t gate) {
  if (gates_[gate].queued) return;
  gates_[gate].queued = true;
  ready_.push_back(gate);
  if (ready_.size() == 1 && listener_) listener_();
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

std::optional<BufferOrEvent> UnionInputGate::poll_next() {
  while (!ready_.empty()) {
    const std::size_t index = ready_.front();
    ready_.pop_front();
    Member& member = gates_[index];
    member.queued = false;
    std::optional<BufferOrEvent> item = member.gate->poll_next();
    if (!member.finished && member.gate->is_finished()) {
      member.finished = true;
      ++finished_gates_;
    }
    // A finished gate counts as available, but has nothing more to give.
    if (item && !member.finished && member.gate->is_available()) {
      member.queued = true;
      ready_.push_back(index);
    }
    if (item) {
      item->channel += member.first_channel;
      item->more_available = !ready_.empty();
      return item;
    }
  }
  return std::nullopt;
}

}  // namespace tailrace::engine
