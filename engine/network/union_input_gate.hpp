// Several gates read as one: the input of an operator with several in-edges.
//
// Flink 1.10 UnionInputGate (spec barriers.md 6.9): the gates that have something wait in a FIFO;
// each poll takes one item of the first, which then joins the end again if it has more. Channels
// of later gates count on from those of earlier ones.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/network/input_gate.hpp"

namespace tailrace::engine {

class UnionInputGate final : public InputGate {
 public:
  // The gates outlive this; their availability listeners are taken over.
  explicit UnionInputGate(std::vector<InputGate*> gates);

  [[nodiscard]] std::int32_t channel_count() const override { return channel_count_; }
  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return finished_gates_ == gates_.size(); }
  [[nodiscard]] bool is_available() const override { return !ready_.empty() || is_finished(); }
  void set_availability_listener(base::InplaceFunction<void()> listener) override {
    listener_ = std::move(listener);
  }
  void resume_consumption(ChannelIndex channel) override;
  void acknowledge_all_records_processed(ChannelIndex channel) override;

 private:
  struct Member;
  [[nodiscard]] const Member& member_of(ChannelIndex channel) const;
  void gate_available(std::size_t gate);

  struct Member {
    InputGate* gate = nullptr;
    ChannelIndex first_channel = 0;
    bool queued = false;
    bool finished = false;
  };
  std::vector<Member> gates_;
  std::deque<std::size_t> ready_;
  std::int32_t channel_count_ = 0;
  std::size_t finished_gates_ = 0;
  base::InplaceFunction<void()> listener_;
};

}  // namespace tailrace::engine
