// The reading end of a task of 1.20 as the recordings describe it: a gate with remote channels, the
// barrier handler, and the mailbox that serves them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/partition_request_client.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "engine/network/result_partition_manager.hpp"
#include "engine/network/single_input_gate.hpp"
#include "tests/engine/barrier/scripted_input.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden::barriers_f120 {

using namespace engine;

// Buffers with exactly the recorded size, whose first bytes are a number. Those that are too small for
// one count as number 0.
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

// A gate whose channels a script feeds, as a gate to read and as an input to checkpoint. Notes what
// the handler blocks and resumes; who sends is the script's business.
class ScriptedGate120 : public InputGate, public f120::CheckpointableInput {
 public:
  explicit ScriptedGate120(std::int32_t channels, Events& events)
      : events_(events), handler_blocked_(static_cast<std::size_t>(channels)) {}

  // The item has arrived.
  virtual void receive(ChannelIndex channel, Item item) = 0;
  [[nodiscard]] virtual bool has_priority() const = 0;
  // Whether the item of the last poll had priority.
  [[nodiscard]] virtual bool polled_priority() const = 0;
  // Segments that are not in the pool.
  [[nodiscard]] virtual std::int32_t outstanding() const = 0;
  // Everything that holds a buffer goes.
  virtual void close() = 0;

  [[nodiscard]] std::int32_t channel_count() const override {
    return static_cast<std::int32_t>(handler_blocked_.size());
  }
  void set_availability_listener(base::InplaceFunction<void()>) override {}
  void block_consumption(ChannelIndex channel) override;
  void resume_consumption(ChannelIndex channel) override;
  std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override = 0;
  void checkpoint_stopped(CheckpointId id) override = 0;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override = 0;

  [[nodiscard]] Json handler_blocked() const;
  // Channels to resume since the last call, in order.
  [[nodiscard]] std::vector<ChannelIndex> take_resumed() { return std::exchange(resumed_, {}); }

 protected:
  // Throws MalformedCase for a channel that is not there.
  [[nodiscard]] std::size_t checked(ChannelIndex channel) const;

  Events& events_;

 private:
  std::vector<std::uint8_t> handler_blocked_;
  std::vector<ChannelIndex> resumed_;
};

// The engine's gate with remote channels. What arrives comes over the wire.
class RemoteGate final : public ScriptedGate120, private ConnectionManager {
 public:
  RemoteGate(std::int32_t channels, Events& events);
  ~RemoteGate() override;

  void receive(ChannelIndex channel, Item item) override;

  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return gate_->is_finished(); }
  [[nodiscard]] bool is_available() const override { return gate_->is_available(); }

  std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override;

  [[nodiscard]] bool has_priority() const override { return gate_->is_priority_event_available(); }
  [[nodiscard]] bool polled_priority() const override { return polled_priority_; }
  [[nodiscard]] std::int32_t outstanding() const override { return pool_.outstanding_segments(); }
  void close() override { gate_.reset(); }

 private:
  // Says what is kept.
  class Persisted final : public ChannelStateWriter {
   public:
    explicit Persisted(Events& events) : events_(events) {}
    void start(CheckpointId, const CheckpointOptions&) override {}
    void add_input_data(CheckpointId id, InputChannelInfo channel, std::int32_t,
                        std::vector<Buffer> data) override;
    void add_output_data(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                         std::vector<Buffer>) override {}
    void add_output_data_future(CheckpointId, ResultSubpartitionInfo, std::int32_t,
                                std::shared_ptr<ChannelStateDataFuture>) override {}
    void finish_input(CheckpointId) override {}
    void finish_output(CheckpointId) override {}
    void abort(CheckpointId) override {}
    void close() override {}

   private:
    Events& events_;
  };
  class NoSink final : public MessageSink {
   public:
    void send(WireMessageHandle, bool) override {}
    [[nodiscard]] bool is_writable() const override { return false; }
  };
  class NoTimers final : public Timers {
   public:
    TimerId schedule(Duration, Callback) override { return TimerId{1}; }
    void cancel(TimerId) override {}
  };

  PartitionRequestClient& create_partition_request_client(ProcessId, std::int32_t) override {
    return client_;
  }
  void close_channel(PartitionRequestClient&, const RemoteInputChannel& channel) override {
    client_.close(channel);
  }

  const NetworkSemantics& semantics_ = network_semantics_120();
  NetworkConfig config_;
  Ports ports_;
  NoTimers timers_;
  NetworkBufferPool pool_;
  ResultPartitionManager partitions_;
  std::uint64_t next_channel_id_ = 0;
  WirePool wire_;
  NoSink sink_;
  PartitionRequestClient client_{sink_, wire_, semantics_};
  Persisted persisted_;
  std::unique_ptr<SingleInputGate> gate_;
  std::vector<InputChannelId> ids_;
  std::vector<std::int32_t> sequence_numbers_;
  bool polled_priority_ = false;
};

// One task: gate, handler, clock, timers, and what it is told.
class BarrierTask120 final : public CheckpointListener,
                             public f120::InputsCheckpointInitializer,
                             public Timers {
 public:
  enum class Kind : std::uint8_t { kAligned, kUnaligned, kAlternating, kTracker };
  using MakeGate = std::function<std::unique_ptr<ScriptedGate120>(Events&)>;
  BarrierTask120(Kind kind, const MakeGate& make_gate, bool after_finish);
  // With a RemoteGate.
  BarrierTask120(Kind kind, std::int32_t channels, bool after_finish);
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
    CheckpointOptions options;
  };

  test::ManualClock clock;
  SizedBuffers buffers;
  Events events;
  std::vector<Trigger> triggers;
  // Called when the task hears of an abort.
  std::function<void(CheckpointId)> on_abort;
  std::unique_ptr<ScriptedGate120> gate;
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
