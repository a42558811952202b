// What the aligner of 1.10 promises, whatever arrives when.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/barrier/f110/cached_buffer_storage.hpp"
#include "engine/barrier/f110/checkpoint_barrier_aligner.hpp"
#include "engine/barrier/f110/checkpointed_input_gate.hpp"
#include "tests/engine/barrier/scripted_input.hpp"

namespace tailrace::engine::test {
namespace {

// A buffer's number tells its channel, its place in the channel and how many barriers went before.
struct Origin {
  std::int64_t channel;
  std::int64_t place;
  std::int64_t barriers_before;

  [[nodiscard]] std::int64_t packed() const {
    return (channel << 40) | (barriers_before << 20) | place;
  }
  static Origin unpack(std::int64_t number) {
    return {number >> 40, number & 0xFFFFF, (number >> 20) & 0xFFFFF};
  }
};

class Harness {
 public:
  Harness(std::int32_t channels, std::int64_t max_buffered_bytes)
      : gate(channels, ScriptedInputGate::Order::kChannelsInTurn,
             ScriptedInputGate::End::kAllPartitionsEnded),
        aligner(channels, listener, clock),
        storage(100, max_buffered_bytes),
        input(gate, aligner, storage),
        fed(static_cast<std::size_t>(channels)),
        barriers(static_cast<std::size_t>(channels)),
        seen(static_cast<std::size_t>(channels)) {}

  void feed_data(ChannelIndex channel) {
    const auto index = static_cast<std::size_t>(channel);
    gate.feed(channel, buffers.make(Origin{channel, fed[index]++, barriers[index]}.packed()));
  }
  void feed_barrier(ChannelIndex channel, CheckpointId id) {
    ++barriers[static_cast<std::size_t>(channel)];
    gate.feed(channel, RuntimeEvent(CheckpointBarrier{id, 0, {}}));
  }
  // Returns: whether there was anything. Checks what holds for any input.
  bool poll() {
    const auto item = input.poll_next();
    if (!item) return false;
    RC_ASSERT(!aligner.is_blocked(item->channel));
    if (!item->is_buffer()) return true;
    last = Origin::unpack(NumberedBuffers::number_of(std::get<Buffer>(item->item)));
    RC_ASSERT(last.channel == item->channel);
    // In the channel's order, and none is left out.
    RC_ASSERT(last.place == seen[static_cast<std::size_t>(last.channel)]++);
    return true;
  }

  ManualClock clock;
  NotingListener listener;
  NumberedBuffers buffers;
  ScriptedInputGate gate;
  f110::CheckpointBarrierAligner aligner;
  f110::CachedBufferStorage storage;
  f110::CheckpointedInputGate input;
  std::vector<std::int64_t> fed;       // buffers, by channel
  std::vector<std::int64_t> barriers;  // the same
  std::vector<std::int64_t> seen;      // buffers handed out, by channel
  Origin last{};                       // the buffer handed out last
};

// Every channel sends every barrier once: whatever the interleaving, a snapshot lies exactly between
// what went before its barriers and what came behind them.
RC_GTEST_PROP(ExactlyOnce, ASnapshotSeparatesWhatLiesBeforeItsBarriersFromWhatLiesBehind, ()) {
  const auto channels = *rc::gen::element(1, 2, 3, 5, 64);
  Harness harness(channels, -1);
  // Channels run ahead of one another by whole checkpoints.
  const auto script = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, channels), rc::gen::inRange(0, 6)));
  std::int64_t triggered = 0;
  const auto check = [&] {
    const bool something = harness.poll();
    for (const Notification& note : harness.listener.take()) {
      RC_ASSERT(note.is_trigger);
      RC_ASSERT(note.id == ++triggered);
    }
    // What has just come out belongs between the last snapshot and the next one.
    if (something) RC_ASSERT(harness.last.barriers_before == triggered);
    return something;
  };
  for (const auto& [channel, action] : script) {
    if (action == 0) {
      harness.feed_barrier(channel, harness.barriers[static_cast<std::size_t>(channel)] + 1);
    } else if (action <= 3) {
      harness.feed_data(channel);
    } else {
      check();
    }
  }
  // All channels catch up.
  const std::int64_t last = *std::max_element(harness.barriers.begin(), harness.barriers.end());
  for (ChannelIndex channel = 0; channel < channels; ++channel) {
    while (harness.barriers[static_cast<std::size_t>(channel)] < last) {
      harness.feed_barrier(channel, harness.barriers[static_cast<std::size_t>(channel)] + 1);
    }
  }
  while (check()) {
  }
  RC_ASSERT(triggered == last);
  RC_ASSERT(harness.seen == harness.fed);
  RC_ASSERT(harness.buffers.out() == 0);
}

// Barriers and cancel markers that no sender would send in this order: nothing is lost, nothing is
// reordered, and no checkpoint is heard of twice.
RC_GTEST_PROP(ExactlyOnce, NoScriptLosesReordersOrRepeatsAnything, ()) {
  const auto channels = *rc::gen::element(1, 2, 3, 64);
  const auto limit = *rc::gen::element<std::int64_t>(-1, 300, 1000);
  Harness harness(channels, limit);
  const auto script = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, channels), rc::gen::inRange(0, 20)));
  for (const auto& [channel, action] : script) {
    if (action < 4) {
      harness.feed_barrier(channel, 1 + action + harness.aligner.latest_checkpoint_id() / 2);
    } else if (action == 4) {
      harness.gate.feed(
          channel,
          RuntimeEvent(CancelCheckpointMarker{harness.aligner.latest_checkpoint_id() + 1}));
    } else if (action < 15) {
      harness.feed_data(channel);
    } else {
      harness.poll();
    }
  }
  for (ChannelIndex channel = 0; channel < channels; ++channel) {
    harness.gate.feed(channel, RuntimeEvent(EndOfPartitionEvent{}));
  }
  while (harness.poll()) {
  }
  RC_ASSERT(harness.input.is_finished());
  RC_ASSERT(harness.storage.is_empty());
  RC_ASSERT(harness.seen == harness.fed);
  RC_ASSERT(harness.buffers.out() == 0);
  CheckpointId latest = kNoCheckpoint;
  for (const Notification& note : harness.listener.notes) {
    RC_ASSERT(note.id > latest);
    latest = note.id;
  }
}

}  // namespace
}  // namespace tailrace::engine::test
