// Channels of the two kinds that the rows of spec barriers.md 10.8 have, in one gate: R, a remote one
// that announces and keeps channel state, and L, a plain queue that does neither (Flink 1.20
// TestInputChannel). A gate of the engine has no L.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/golden/barriers_f120_setup.hpp"

namespace tailrace::golden::barriers_f120 {

// Which buffers of a channel belong to the channel state of which checkpoint (spec barriers.md 5.7,
// Flink 1.20 ChannelStatePersister).
class Persister {
 public:
  // Returns: whether the barrier counts.
  bool barrier_seen(CheckpointId id);
  // Returns: false if a newer barrier is in already.
  [[nodiscard]] bool start(CheckpointId id);
  void stop(CheckpointId id);
  [[nodiscard]] bool is_pending() const { return status_ == Status::kPending; }
  [[nodiscard]] CheckpointId last_seen() const { return last_seen_; }

 private:
  enum class Status : std::uint8_t { kCompleted, kPending, kReceived };
  Status status_ = Status::kCompleted;
  CheckpointId last_seen_ = kNoCheckpoint;
};

class MixedGate final : public ScriptedGate120 {
 public:
  // `kinds`: R or L for each channel. Throws MalformedCase for another letter.
  MixedGate(const std::string& kinds, Events& events);

  void receive(ChannelIndex channel, Item item) override;
  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return ended_ >= channel_count(); }
  [[nodiscard]] bool is_available() const override { return !turns_.empty() || is_finished(); }

  std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override;

  [[nodiscard]] bool has_priority() const override { return priority_turns_ > 0; }
  [[nodiscard]] bool polled_priority() const override { return polled_priority_; }
  [[nodiscard]] std::int32_t outstanding() const override { return 0; }  // it has no segments
  void close() override {
    for (Channel& channel : channels_) channel.queue.clear();
  }

 private:
  struct Queued {
    Item item;
    std::int32_t sequence_number;
  };
  struct Channel {
    bool remote = false;
    std::deque<Queued> queue;
    std::size_t priority = 0;  // length of the priority part
    std::int32_t next_sequence_number = 0;
    Persister persister;
    CheckpointId last_barrier = kNoCheckpoint;
    std::optional<std::int32_t> last_barrier_number;
    std::int32_t last_polled_priority = -1;
    bool ended = false;
  };

  Channel& at(ChannelIndex channel) { return channels_[checked(channel)]; }
  void persist(CheckpointId id, ChannelIndex channel, const std::vector<std::int64_t>& numbers);
  void add_priority(ChannelIndex channel, Queued queued);
  void signal_priority(ChannelIndex channel, std::int32_t sequence_number);
  void signal_data(ChannelIndex channel);

  std::vector<Channel> channels_;
  std::deque<ChannelIndex> turns_;
  std::size_t priority_turns_ = 0;
  std::int32_t ended_ = 0;
  bool polled_priority_ = false;
};

}  // namespace tailrace::golden::barriers_f120
