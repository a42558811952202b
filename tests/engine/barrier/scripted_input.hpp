// Doubles for tests of the barrier room: a gate that is fed by hand, a listener that takes notes, a
// clock that stands still until it is told.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/network/input_gate.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine::test {

class ManualClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override {
    now_ = now_ + tick_;
    return now_;
  }
  void advance(Duration by) { now_ = now_ + by; }
  // From now on so much time passes at every look at the clock.
  void tick(Duration by) { tick_ = by; }

 private:
  mutable Time now_;
  Duration tick_;
};

// Hands out buffers that carry a number, and knows how many have not come back.
class NumberedBuffers final : public BufferRecycler {
 public:
  // The buffer has 8 bytes more than `size`: its number comes first.
  Buffer make(std::int64_t number, std::uint32_t size = 0) {
    const auto capacity = size + static_cast<std::uint32_t>(sizeof number);
    bytes_.push_back(std::make_unique<std::byte[]>(capacity));
    std::memcpy(bytes_.back().get(), &number, sizeof number);
    NetworkBuffer& segment = segments_.emplace_back(bytes_.back().get(), capacity);
    segment.lend(*this);
    ++out_;
    return Buffer(segment, 0, capacity);
  }
  static std::int64_t number_of(const Buffer& buffer) {
    std::int64_t number = 0;
    std::memcpy(&number, buffer.bytes().data(), sizeof number);
    return number;
  }

  void recycle(NetworkBuffer&) override { --out_; }
  [[nodiscard]] std::int64_t out() const { return out_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> bytes_;
  std::deque<NetworkBuffer> segments_;  // they never move
  std::int64_t out_ = 0;
};

class ScriptedInputGate final : public InputGate {
 public:
  enum class Order : std::uint8_t {
    kArrival,         // items come out as they went in
    kChannelsInTurn,  // a channel with more items joins the end of the queue of channels
  };
  enum class End : std::uint8_t {
    kAllPartitionsEnded,  // after as many ends of partition as there are channels
    kWhenEmpty,           // as soon as there is nothing left
  };

  ScriptedInputGate(std::int32_t channels, Order order, End end)
      : queues_(static_cast<std::size_t>(channels)), order_(order), end_(end) {}

  // Requires: 0 <= channel < channel_count(); std::out_of_range otherwise.
  void feed(ChannelIndex channel, std::variant<Buffer, RuntimeEvent> item) {
    auto& queue = queues_.at(static_cast<std::size_t>(channel));
    if (order_ == Order::kArrival || queue.empty()) turns_.push_back(channel);
    queue.push_back(std::move(item));
  }

  [[nodiscard]] std::int32_t channel_count() const override {
    return static_cast<std::int32_t>(queues_.size());
  }
  std::optional<BufferOrEvent> poll_next() override {
    if (turns_.empty()) return std::nullopt;
    const ChannelIndex channel = turns_.front();
    turns_.pop_front();
    auto& queue = queues_[static_cast<std::size_t>(channel)];
    BufferOrEvent next{channel, std::move(queue.front()), false};
    queue.pop_front();
    if (order_ == Order::kChannelsInTurn && !queue.empty()) turns_.push_back(channel);
    next.more_available = !turns_.empty();
    if (!next.is_buffer() && std::holds_alternative<EndOfPartitionEvent>(next.event())) ++ended_;
    return next;
  }
  [[nodiscard]] bool is_finished() const override {
    return end_ == End::kWhenEmpty ? turns_.empty() : ended_ >= channel_count();
  }
  [[nodiscard]] bool is_available() const override { return !turns_.empty() || is_finished(); }
  void set_availability_listener(base::InplaceFunction<void()>) override {}

 private:
  std::vector<std::deque<std::variant<Buffer, RuntimeEvent>>> queues_;
  std::deque<ChannelIndex> turns_;
  Order order_;
  End end_;
  std::int32_t ended_ = 0;
};

struct Notification {
  bool is_trigger = false;
  CheckpointId id = kNoCheckpoint;
  std::int64_t timestamp_ms = 0;     // of a trigger
  AlignmentMetrics alignment;        // of a trigger
  CheckpointFailureReason reason{};  // of an abort
};

class NotingListener final : public CheckpointListener {
 public:
  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions&,
                                     const AlignmentMetrics& metrics) override {
    notes.push_back({true, meta.id, meta.timestamp_ms, metrics, {}});
  }
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) override {
    notes.push_back({false, id, 0, {}, reason});
  }
  [[nodiscard]] std::vector<Notification> take() { return std::exchange(notes, {}); }

  std::vector<Notification> notes;
};

}  // namespace tailrace::engine::test
