// The reading end of a task of 1.20 as the recordings describe it: senders that stop behind aligned
// barriers, channels and a gate with priority parts, and the mailbox that serves them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/barrier/f120/checkpoint_barrier_tracker.hpp"
#include "engine/barrier/f120/checkpointed_input_gate.hpp"
#include "engine/barrier/f120/single_checkpoint_barrier_handler.hpp"
#include "tests/engine/barrier/scripted_input.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden::barriers_f120 {

using namespace engine;

// Buffers with exactly the recorded size; a number in front of their bytes.
class SizedBuffers final : public BufferRecycler {
 public:
  Buffer make(std::int64_t number, std::uint32_t size);
  static std::int64_t number_of(const Buffer& buffer);
  void recycle(NetworkBuffer&) override { --out_; }
  [[nodiscard]] std::int64_t out() const { return out_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> bytes_;
  std::deque<NetworkBuffer> segments_;  // they never move
  std::int64_t out_ = 0;
};

// Adds events to the step under way.
struct Events {
  Json out = Json::array();
  void add(Json event) { out.push_back(std::move(event)); }
};

using Item = std::variant<Buffer, RuntimeEvent>;

// Whether the sender of the item stops behind it.
[[nodiscard]] bool blocks_sender(const Item& item);

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

enum class ChannelKind : std::uint8_t {
  kRemote,
  kPlain,  // announces nothing and keeps no channel state
};

// Channels and their gate, as a gate to read and as an input to checkpoint.
class PriorityGate final : public InputGate, public f120::CheckpointableInput {
 public:
  PriorityGate(std::vector<ChannelKind> kinds, Events& events);

  // The item has arrived.
  void receive(ChannelIndex channel, Item item);

  [[nodiscard]] std::int32_t channel_count() const override {
    return static_cast<std::int32_t>(channels_.size());
  }
  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return ended_ >= channel_count(); }
  [[nodiscard]] bool is_available() const override { return !turns_.empty() || is_finished(); }
  void set_availability_listener(base::InplaceFunction<void()>) override {}

  void block_consumption(ChannelIndex channel) override;
  void resume_consumption(ChannelIndex channel) override;
  std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override;

  [[nodiscard]] bool has_priority() const { return priority_turns_ > 0; }
  // Whether the item of the last poll had priority.
  [[nodiscard]] bool polled_priority() const { return polled_priority_; }
  [[nodiscard]] Json handler_blocked() const;
  // Channels to resume since the last call, in order.
  [[nodiscard]] std::vector<ChannelIndex> take_resumed() { return std::exchange(resumed_, {}); }

 private:
  struct Queued {
    Item item;
    std::int32_t sequence_number;
  };
  struct Channel {
    ChannelKind kind;
    std::deque<Queued> queue;
    std::size_t priority = 0;  // length of the priority part
    std::int32_t next_sequence_number = 0;
    Persister persister;
    CheckpointId last_barrier = kNoCheckpoint;
    std::optional<std::int32_t> last_barrier_number;
    std::int32_t last_polled_priority = -1;
    bool ended = false;
    bool handler_blocked = false;
  };

  Channel& at(ChannelIndex channel);
  void persist(CheckpointId id, ChannelIndex channel, const std::vector<std::int64_t>& numbers);
  void add_priority(ChannelIndex channel, Queued queued);
  void signal_priority(ChannelIndex channel, std::int32_t sequence_number);
  void signal_data(ChannelIndex channel);

  std::vector<Channel> channels_;
  std::deque<ChannelIndex> turns_;
  std::size_t priority_turns_ = 0;
  std::int32_t ended_ = 0;
  bool polled_priority_ = false;
  std::vector<ChannelIndex> resumed_;
  Events& events_;
};

// One task: gate, handler, clock, timers, and what it is told.
class BarrierTask120 final : public CheckpointListener,
                             public f120::InputsCheckpointInitializer,
                             public Timers {
 public:
  enum class Kind : std::uint8_t { kAligned, kUnaligned, kAlternating, kTracker };
  BarrierTask120(Kind kind, std::vector<ChannelKind> channels, bool after_finish);
  ~BarrierTask120();

  void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                     const CheckpointOptions& options,
                                     const AlignmentMetrics& metrics) override;
  void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) override;
  void alignment_ended(CheckpointId id, const AlignmentMetrics& metrics) override;
  std::optional<CheckpointFailureReason> init_inputs_checkpoint(
      CheckpointId id, const CheckpointOptions& options) override;
  TimerId schedule(Duration delay, Callback callback) override;
  void cancel(TimerId timer) override;

  // Runs the next timer that is due at `until` or before, at its time. Returns: whether there was
  // one.
  bool run_timer(Time until);
  // Everything that holds a buffer goes.
  void expect_all_buffers_come_back();

  struct Trigger {
    CheckpointId id;
    AlignmentMetrics metrics;
  };

  test::ManualClock clock;
  SizedBuffers buffers;
  Events events;
  std::vector<Trigger> triggers;
  std::unique_ptr<PriorityGate> gate;
  std::unique_ptr<f120::CheckpointableInputs> inputs;
  std::unique_ptr<f120::CheckpointBarrierHandler> handler;
  std::unique_ptr<f120::CheckpointedInputGate> input;

 private:
  struct Timer {
    std::uint64_t number;
    Time due;
    Callback callback;
  };
  std::vector<Timer> timers_;
  std::uint64_t next_timer_ = 0;
};

// An item of a recording; a barrier was started at `started_ms`.
[[nodiscard]] Item item_of(const Json& item, std::int64_t started_ms, Duration timeout,
                           std::int64_t number, SizedBuffers& buffers);
// Members of a poll event.
[[nodiscard]] std::string kind_of(const RuntimeEvent& event);
[[nodiscard]] std::optional<CheckpointId> checkpoint_of(const RuntimeEvent& event);

}  // namespace tailrace::golden::barriers_f120
