// All inputs of a task behind one handler, as the task gets them.
#include "engine/barrier/checkpointed_inputs.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/generation.hpp"
#include "engine/scheduling/deployment.hpp"
#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {
namespace {

class NotingObserver final : public BarrierObserver {
 public:
  std::vector<std::pair<ChannelIndex, CheckpointId>> processed;
  void on_barrier_processed(ChannelIndex channel, CheckpointId id) override {
    processed.emplace_back(channel, id);
  }
};

class Inputs : public testing::Test {
 protected:
  void make(const std::vector<std::int32_t>& channels, CheckpointingMode mode,
            std::int64_t max_buffered_bytes = -1) {
    observers.resize(channels.size());
    std::vector<InputToCheckpoint> to_checkpoint;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      gates.push_back(
          std::make_unique<ScriptedInputGate>(channels[i], ScriptedInputGate::Order::kArrival,
                                              ScriptedInputGate::End::kAllPartitionsEnded));
      to_checkpoint.push_back({gates.back().get(), &observers[i]});
    }
    inputs = make_checkpointed_inputs(
        Generation::kFlink110, to_checkpoint,
        {.mode = mode, .page_bytes = 512, .max_buffered_bytes = max_buffered_bytes}, listener,
        clock);
  }
  void data(std::size_t gate, ChannelIndex channel, std::int64_t number) {
    gates[gate]->feed(channel, buffers.make(number));
  }
  void barrier(std::size_t gate, ChannelIndex channel, CheckpointId id) {
    gates[gate]->feed(channel, RuntimeEvent(CheckpointBarrier{id, 0, {}}));
  }
  void end(std::size_t gate, ChannelIndex channel) {
    gates[gate]->feed(channel, RuntimeEvent(EndOfPartitionEvent{}));
  }
  // The number of the buffer, "E" for an end of partition, "-" for nothing.
  std::string poll(std::int32_t gate) {
    const auto item = inputs->input(gate).poll_next();
    if (!item) return "-";
    if (!item->is_buffer()) return "E";
    return std::to_string(NumberedBuffers::number_of(std::get<Buffer>(item->item)));
  }

  ManualClock clock;
  NotingListener listener;
  NumberedBuffers buffers;
  std::vector<NotingObserver> observers;
  std::vector<std::unique_ptr<ScriptedInputGate>> gates;
  std::unique_ptr<CheckpointedInputs> inputs;  // goes first: it holds buffers
};

// Row B7.
TEST_F(Inputs, ReleaseWhatIsStoredForOneGateWithTheLastBarrierOnAnother) {
  make({1, 1}, CheckpointingMode::EXACTLY_ONCE);
  barrier(0, 0, 1);
  data(0, 0, 10);
  barrier(1, 0, 1);
  data(1, 0, 20);
  EXPECT_EQ(poll(0), "-");
  EXPECT_TRUE(inputs->is_blocked(0, 0));
  EXPECT_FALSE(inputs->is_blocked(1, 0));
  EXPECT_FALSE(inputs->input(0).is_available());

  clock.advance(Duration::millis(2));
  EXPECT_EQ(poll(1), "20");
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_EQ(listener.notes[0].alignment.bytes_buffered, 512);
  EXPECT_EQ(listener.notes[0].alignment.duration_ns, 2'000'000);
  EXPECT_TRUE(inputs->input(0).is_available());  // from the storage: its gate is dry
  EXPECT_EQ(poll(0), "10");
}

// Row B9.
TEST_F(Inputs, LoseTheAlignmentSilentlyWhenABlockedGateEnds) {
  make({1, 2}, CheckpointingMode::EXACTLY_ONCE);
  barrier(0, 0, 1);
  end(0, 0);
  EXPECT_EQ(poll(0), "E");
  EXPECT_FALSE(inputs->input(0).is_finished());
  EXPECT_EQ(poll(0), "-");
  EXPECT_TRUE(inputs->input(0).is_finished());

  barrier(1, 0, 1);
  barrier(1, 1, 1);
  data(1, 0, 20);
  EXPECT_EQ(poll(1), "20");
  EXPECT_TRUE(listener.notes.empty());
  EXPECT_EQ(inputs->latest_checkpoint_id(), 1);
}

TEST_F(Inputs, ShareTheLimitOfWhatIsStored) {
  make({1, 1, 1}, CheckpointingMode::EXACTLY_ONCE, 1024);
  for (const std::size_t gate : {0U, 1U}) {
    barrier(gate, 0, 1);
    data(gate, 0, 10);
    EXPECT_EQ(poll(static_cast<std::int32_t>(gate)), "-");
  }
  EXPECT_TRUE(listener.notes.empty());
  data(1, 0, 11);
  EXPECT_EQ(poll(1), "10");
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_EQ(listener.notes[0].reason,
            CheckpointFailureReason::CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED);
}

TEST_F(Inputs, TellTheObserverOfEveryBarrierWithTheChannelOfItsGate) {
  make({2, 2}, CheckpointingMode::EXACTLY_ONCE);
  barrier(0, 1, 1);
  barrier(1, 0, 1);
  barrier(1, 0, 1);  // stored, and ignored in the end
  EXPECT_EQ(poll(0), "-");
  EXPECT_EQ(poll(1), "-");
  barrier(1, 1, 1);
  barrier(0, 0, 1);
  EXPECT_EQ(poll(1), "-");
  EXPECT_EQ(poll(0), "-");
  EXPECT_EQ(poll(1), "-");
  using Processed = std::vector<std::pair<ChannelIndex, CheckpointId>>;
  EXPECT_EQ(observers[0].processed, Processed({{1, 1}, {0, 1}}));
  EXPECT_EQ(observers[1].processed, Processed({{0, 1}, {1, 1}, {0, 1}}));
}

TEST_F(Inputs, SayWhetherMoreIsAvailableWhenTheyReplay) {
  make({2}, CheckpointingMode::EXACTLY_ONCE);
  barrier(0, 0, 1);
  data(0, 0, 1);
  data(0, 0, 2);
  barrier(0, 1, 1);
  const auto first = inputs->input(0).poll_next();
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->more_available);
}

TEST_F(Inputs, HoldNothingBackWithAtLeastOnceOver128Channels) {
  make({64, 64}, CheckpointingMode::AT_LEAST_ONCE);
  for (const std::int32_t gate : {0, 1}) {
    for (ChannelIndex channel = 0; channel < 64; ++channel) {
      EXPECT_TRUE(listener.notes.empty());
      barrier(static_cast<std::size_t>(gate), channel, 1);
      data(static_cast<std::size_t>(gate), channel, channel);
      EXPECT_EQ(poll(gate), std::to_string(channel));
    }
  }
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_TRUE(listener.notes[0].is_trigger);
  EXPECT_EQ(listener.notes[0].alignment.bytes_buffered, 0);
  EXPECT_EQ(inputs->alignment_duration(), Duration{});
}

TEST_F(Inputs, GiveBackStoredBuffersWhenTheTaskDropsThem) {
  make({2}, CheckpointingMode::EXACTLY_ONCE);
  barrier(0, 0, 1);
  data(0, 0, 1);
  EXPECT_EQ(poll(0), "-");
  EXPECT_EQ(buffers.out(), 1);
  inputs.reset();
  EXPECT_EQ(buffers.out(), 0);
}

}  // namespace
}  // namespace tailrace::engine::test
