#include "engine/network/union_input_gate.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::engine {
namespace {

// A gate that gives what it was told to. Items are events; their checkpoint id tells them apart.
class FakeGate final : public InputGate {
 public:
  explicit FakeGate(std::int32_t channels) : channels_(channels) {}

  void arrive(ChannelIndex channel, CheckpointId id) {
    const bool was_available = is_available();
    add(channel, CancelCheckpointMarker{id});
    if (!was_available && listener_) listener_();
  }
  // The last item of its last channel: the gate is finished once it is polled.
  void arrive_end(ChannelIndex channel) {
    const bool was_available = is_available();
    add(channel, EndOfPartitionEvent{});
    if (!was_available && listener_) listener_();
  }
  // Says that it has something although it has not: a channel's signal may be stale.
  void signal_for_nothing() { listener_(); }

  [[nodiscard]] std::int32_t channel_count() const override { return channels_; }
  std::optional<BufferOrEvent> poll_next() override {
    if (items_.empty()) return std::nullopt;
    BufferOrEvent item = std::move(items_.front());
    items_.pop_front();
    if (std::holds_alternative<EndOfPartitionEvent>(item.event())) finished_ = true;
    return item;
  }
  [[nodiscard]] bool is_finished() const override { return finished_; }
  [[nodiscard]] bool is_available() const override { return !items_.empty() || finished_; }
  void set_availability_listener(base::InplaceFunction<void()> listener) override {
    listener_ = std::move(listener);
  }

 private:
  template <typename Event>
  void add(ChannelIndex channel, const Event& event) {
    BufferOrEvent& added = items_.emplace_back();
    added.channel = channel;
    added.item.emplace<RuntimeEvent>(event);  // in place: g++ 12 warns of moves of a variant in one
  }

  std::int32_t channels_;
  std::deque<BufferOrEvent> items_;
  bool finished_ = false;
  base::InplaceFunction<void()> listener_;
};

// "channel:id" of everything that the gate gives, "end" for the end of a partition.
std::vector<std::string> drain(InputGate& gate) {
  std::vector<std::string> items;
  while (std::optional<BufferOrEvent> item = gate.poll_next()) {
    const auto* marker = std::get_if<CancelCheckpointMarker>(&item->event());
    items.push_back(std::to_string(item->channel) + ':' +
                    (marker == nullptr ? "end" : std::to_string(marker->id)));
    EXPECT_EQ(item->more_available, gate.is_available() && !gate.is_finished());
  }
  return items;
}
using Items = std::vector<std::string>;

TEST(UnionInputGate, CountsChannelsOnAcrossItsGates) {
  FakeGate a(2);
  FakeGate b(3);
  FakeGate c(1);
  UnionInputGate gate({&a, &b, &c});
  EXPECT_EQ(gate.channel_count(), 6);
  a.arrive(1, 10);
  b.arrive(0, 20);
  b.arrive(2, 21);
  c.arrive(0, 30);
  EXPECT_EQ(drain(gate), (Items{"1:10", "2:20", "5:30", "4:21"}));
}

TEST(UnionInputGate, AGateThatHasMoreGoesToTheEndOfTheQueue) {
  FakeGate a(1);
  FakeGate b(1);
  UnionInputGate gate({&a, &b});
  for (CheckpointId id = 1; id <= 4; ++id) a.arrive(0, id);
  for (CheckpointId id = 11; id <= 12; ++id) b.arrive(0, id);
  EXPECT_EQ(drain(gate), (Items{"0:1", "1:11", "0:2", "1:12", "0:3", "0:4"}));
}

TEST(UnionInputGate, ReadsWhatItsGatesHadBefore) {
  FakeGate a(1);
  FakeGate b(1);
  b.arrive(0, 7);
  UnionInputGate gate({&a, &b});
  EXPECT_TRUE(gate.is_available());
  EXPECT_EQ(drain(gate), Items{"1:7"});
  EXPECT_FALSE(gate.is_available());
}

TEST(UnionInputGate, TellsItsListenerWhenItTurnsAvailableOnly) {
  FakeGate a(1);
  FakeGate b(1);
  UnionInputGate gate({&a, &b});
  std::int32_t told = 0;
  gate.set_availability_listener([&told] { ++told; });
  a.arrive(0, 1);
  b.arrive(0, 2);
  a.arrive(0, 3);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(drain(gate), (Items{"0:1", "1:2", "0:3"}));
  b.arrive(0, 4);
  EXPECT_EQ(told, 2);
}

TEST(UnionInputGate, AStaleSignalGivesNothingAndHidesNothing) {
  FakeGate a(1);
  FakeGate b(1);
  UnionInputGate gate({&a, &b});
  a.signal_for_nothing();
  b.arrive(0, 5);
  EXPECT_EQ(drain(gate), Items{"1:5"});
  a.arrive(0, 6);
  EXPECT_EQ(drain(gate), Items{"0:6"});
}

TEST(UnionInputGate, IsFinishedWhenAllItsGatesAre) {
  FakeGate a(1);
  FakeGate b(1);
  UnionInputGate gate({&a, &b});
  a.arrive(0, 1);
  a.arrive_end(0);
  EXPECT_EQ(drain(gate), (Items{"0:1", "0:end"}));
  EXPECT_FALSE(gate.is_finished());
  EXPECT_FALSE(gate.is_available());  // the finished gate has nothing more to give

  b.arrive(0, 2);
  EXPECT_EQ(drain(gate), Items{"1:2"});
  b.arrive_end(0);
  EXPECT_EQ(drain(gate), Items{"1:end"});
  EXPECT_TRUE(gate.is_finished());
  EXPECT_TRUE(gate.is_available());
  EXPECT_FALSE(gate.poll_next().has_value());
}

}  // namespace
}  // namespace tailrace::engine
