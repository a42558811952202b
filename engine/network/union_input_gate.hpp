// Several gates read as one: the input of an operator with several in-edges.
//
// Flink UnionInputGate (spec barriers.md 6.9): the gates that have something wait in a FIFO, those
// with a priority event in front; each poll takes one item of the first, which then joins the end
// (of those like it) again if it has more. Channels of later gates count on from those of earlier
// ones. What an item says about more priority events is of its gate alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/network/input_gate.hpp"
#include "engine/network/prioritized_deque.hpp"

namespace tailrace::engine {

class UnionInputGate final : public InputGate {
 public:
  // The gates outlive this; their listeners are taken over. `available_until_empty_poll`:
  // NetworkSemantics::union_is_available_until_empty_poll.
  explicit UnionInputGate(std::vector<InputGate*> gates, bool available_until_empty_poll = false);

  [[nodiscard]] std::int32_t channel_count() const override { return channel_count_; }
  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return finished_gates_ == gates_.size(); }
  [[nodiscard]] bool is_available() const override { return available_ || is_finished(); }
  [[nodiscard]] EndOfDataStatus end_of_data_status() const override {
    if (gates_without_end_of_data_ > 0) return EndOfDataStatus::kNotEndOfData;
    return drains_ ? EndOfDataStatus::kDrained : EndOfDataStatus::kStopped;
  }
  void set_availability_listener(base::InplaceFunction<void()> listener) override {
    listener_ = std::move(listener);
  }
  void resume_consumption(ChannelIndex channel) override;
  void acknowledge_all_records_processed(ChannelIndex channel) override;
  [[nodiscard]] std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override;
  [[nodiscard]] bool is_priority_event_available() const override { return priority_available_; }
  void set_priority_listener(base::InplaceFunction<void()> listener) override {
    priority_listener_ = std::move(listener);
  }

  // Gates with data, first one first, and how many of them have a priority event.
  [[nodiscard]] std::vector<std::size_t> queued_gates() const;
  [[nodiscard]] std::size_t priority_gates() const { return ready_.num_priority_elements(); }

 private:
  struct Member;
  [[nodiscard]] const Member& member_of(ChannelIndex channel) const;
  void queue_gate(std::size_t gate, bool priority);
  void add(std::size_t gate, bool priority);
  void on_item(const BufferOrEvent& item, Member& member);

  struct Member {
    InputGate* gate = nullptr;
    ChannelIndex first_channel = 0;
    bool queued = false;
    bool has_priority = false;  // in the priority part of the queue
    bool finished = false;
  };
  std::vector<Member> gates_;
  PrioritizedDeque<std::size_t> ready_;
  std::int32_t channel_count_ = 0;
  std::size_t finished_gates_ = 0;
  std::size_t gates_without_end_of_data_ = 0;
  bool drains_ = true;
  bool available_until_empty_poll_;
  bool available_ = false;
  bool priority_available_ = false;
  base::InplaceFunction<void()> listener_;
  base::InplaceFunction<void()> priority_listener_;
};

}  // namespace tailrace::engine
