// What the rows do not show of the aligner of 1.10: time, the order of release and notice, width.
#include <deque>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_aligner.hpp"
#include "engine/barrier/f110/checkpointed_input_gate.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/barrier/counting_allocator.hpp"
#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {
namespace {

using f110::CheckpointBarrierAligner;
using Reason = CheckpointFailureReason;

CheckpointBarrier barrier(CheckpointId id) {
  return {id, 10 * id, {}};
}

// Notes whether channel 0 was blocked while it was told.
class LookingListener final : public CheckpointListener {
 public:
  const CheckpointBarrierAligner* aligner = nullptr;
  std::vector<bool> blocked_when_told;

  void trigger_checkpoint_on_barrier(const CheckpointMetaData&, const CheckpointOptions&,
                                     const AlignmentMetrics&) override {
    blocked_when_told.push_back(aligner->is_blocked(0));
  }
  void abort_checkpoint_on_barrier(CheckpointId, CheckpointFailureReason) override {
    blocked_when_told.push_back(aligner->is_blocked(0));
  }
};

TEST(CheckpointBarrierAligner, AlignsFromTheFirstToTheLastBarrierOf64Channels) {
  ManualClock clock;
  NotingListener listener;
  CheckpointBarrierAligner aligner(64, listener, clock);
  for (ChannelIndex channel = 0; channel < 63; ++channel) {
    EXPECT_FALSE(aligner.process_barrier(barrier(1), channel, 0));
    EXPECT_TRUE(aligner.is_blocked(channel));
    EXPECT_FALSE(aligner.is_blocked(63));
    clock.advance(Duration::micros(1));
    EXPECT_EQ(aligner.alignment_duration(), Duration::micros(channel + 1));
  }
  ASSERT_TRUE(listener.notes.empty());

  EXPECT_TRUE(aligner.process_barrier(barrier(1), 63, 4096));
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_EQ(listener.notes[0].id, 1);
  EXPECT_EQ(listener.notes[0].timestamp_ms, 10);
  EXPECT_EQ(listener.notes[0].alignment.bytes_buffered, 4096);
  EXPECT_EQ(listener.notes[0].alignment.duration_ns, 63'000);
  for (ChannelIndex channel = 0; channel < 64; ++channel) {
    EXPECT_FALSE(aligner.is_blocked(channel));
  }
  clock.advance(Duration::seconds(1));
  EXPECT_EQ(aligner.alignment_duration(), Duration::micros(63));  // of the last one
}

TEST(CheckpointBarrierAligner, TakesAnAlignmentThatBeginsAtTimeZeroForRunning) {
  ManualClock clock;
  NotingListener listener;
  CheckpointBarrierAligner aligner(2, listener, clock);
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  clock.advance(Duration::millis(3));
  EXPECT_TRUE(aligner.process_barrier(barrier(1), 1, 0));
  EXPECT_EQ(listener.notes.at(0).alignment.duration_ns, 3'000'000);
}

TEST(CheckpointBarrierAligner, ReleasesBeforeItTriggersCancelsOrHitsTheLimit) {
  ManualClock clock;
  LookingListener listener;
  CheckpointBarrierAligner aligner(2, listener, clock);
  listener.aligner = &aligner;
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  EXPECT_TRUE(aligner.process_barrier(barrier(1), 1, 0));
  EXPECT_FALSE(aligner.process_barrier(barrier(2), 0, 0));
  EXPECT_TRUE(aligner.process_cancellation_barrier({2}));
  EXPECT_FALSE(aligner.process_barrier(barrier(3), 0, 0));
  aligner.checkpoint_size_limit_exceeded();
  EXPECT_EQ(listener.blocked_when_told, std::vector<bool>({false, false, false}));
}

TEST(CheckpointBarrierAligner, TellsOfASubsumedOrEndedCheckpointBeforeItReleases) {
  ManualClock clock;
  LookingListener listener;
  CheckpointBarrierAligner aligner(3, listener, clock);
  listener.aligner = &aligner;
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  EXPECT_TRUE(aligner.process_barrier(barrier(2), 1, 0));
  EXPECT_FALSE(aligner.process_barrier(barrier(2), 0, 0));
  EXPECT_TRUE(aligner.process_end_of_partition());
  EXPECT_EQ(listener.blocked_when_told, std::vector<bool>({true, true}));
}

TEST(CheckpointBarrierAligner, ForgetsTheAlignmentTimeWhenANewerCheckpointIsCancelled) {
  ManualClock clock;
  NotingListener listener;
  CheckpointBarrierAligner aligner(2, listener, clock);
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  clock.advance(Duration::millis(5));
  EXPECT_TRUE(aligner.process_cancellation_barrier({1}));
  EXPECT_EQ(aligner.alignment_duration(), Duration::millis(5));  // of the aborted one: kept
  EXPECT_FALSE(aligner.process_cancellation_barrier({2}));
  EXPECT_EQ(aligner.alignment_duration(), Duration{});
}

TEST(CheckpointBarrierAligner, DropsThePendingCheckpointSilentlyForANewerCancelMarker) {
  ManualClock clock;
  NotingListener listener;
  CheckpointBarrierAligner aligner(2, listener, clock);
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  EXPECT_TRUE(aligner.process_cancellation_barrier({2}));
  ASSERT_EQ(listener.notes.size(), 1U);
  EXPECT_EQ(listener.notes[0].id, 2);
  EXPECT_EQ(listener.notes[0].reason, Reason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER);
}

TEST(CheckpointBarrierAligner, DiesOfASecondBarrierOnABlockedChannel) {
  ManualClock clock;
  NotingListener listener;
  CheckpointBarrierAligner aligner(2, listener, clock);
  EXPECT_FALSE(aligner.process_barrier(barrier(1), 0, 0));
  EXPECT_THROW(static_cast<void>(aligner.process_barrier(barrier(1), 0, 0)),
               base::InvariantViolation);
}

// Checkpoint after checkpoint: each channel in turn gives its barrier and then a buffer, which has
// to wait, and nothing of this needs memory.
class EndlessGate final : public InputGate {
 public:
  explicit EndlessGate(std::int32_t channels) : channels_(channels) {
    for (std::int32_t i = 0; i < channels; ++i) segments_.emplace_back(bytes_, 8U).lend(recycler_);
  }
  [[nodiscard]] std::int32_t channel_count() const override { return channels_; }
  std::optional<BufferOrEvent> poll_next() override {
    const ChannelIndex channel = static_cast<ChannelIndex>(next_ / 2 % channels_);
    const CheckpointId id = 1 + next_ / 2 / channels_;
    const bool is_barrier = next_++ % 2 == 0;
    if (is_barrier) return BufferOrEvent{channel, RuntimeEvent(CheckpointBarrier{id, 0, {}}), true};
    return BufferOrEvent{channel, Buffer(segments_[static_cast<std::size_t>(channel)], 0, 8), true};
  }
  [[nodiscard]] bool is_finished() const override { return false; }
  [[nodiscard]] bool is_available() const override { return true; }
  void set_availability_listener(base::InplaceFunction<void()>) override {}

 private:
  class Recycler final : public BufferRecycler {
   public:
    void recycle(NetworkBuffer&) override {}
  };
  std::int32_t channels_;
  std::int64_t next_ = 0;
  std::byte bytes_[8] = {};
  Recycler recycler_;
  std::deque<NetworkBuffer> segments_;
};

class CountingListener final : public CheckpointListener {
 public:
  std::int64_t triggers = 0;
  void trigger_checkpoint_on_barrier(const CheckpointMetaData&, const CheckpointOptions&,
                                     const AlignmentMetrics&) override {
    ++triggers;
  }
  void abort_checkpoint_on_barrier(CheckpointId, CheckpointFailureReason) override {}
};

TEST(CheckpointedInputGate, AllocatesNothingOnceItsListsHaveGrown) {
  constexpr std::int32_t kChannels = 64;
  ManualClock clock;
  CountingListener listener;
  EndlessGate gate(kChannels);
  CheckpointBarrierAligner aligner(kChannels, listener, clock);
  f110::CachedBufferStorage storage(512, -1);
  f110::CheckpointedInputGate checkpointed(gate, aligner, storage);
  for (int i = 0; i < 4 * kChannels; ++i) static_cast<void>(checkpointed.poll_next());

  const std::size_t before = allocation_count();
  const std::int64_t triggers_before = listener.triggers;
  for (int i = 0; i < 100 * kChannels; ++i) static_cast<void>(checkpointed.poll_next());
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(listener.triggers, triggers_before + 100);
  EXPECT_GT(before, 0U) << "the counter counts";
}

}  // namespace
}  // namespace tailrace::engine::test
