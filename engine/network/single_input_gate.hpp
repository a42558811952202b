// All channels of one input of a task.
//
// Flink SingleInputGate (spec barriers.md 5.7, 6.9). Channels with data stand in a FIFO, those with a
// priority event in front of the others; a poll takes one item of the first one and sends it to the
// end (of those like it) if it has more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/buffer_sizes.hpp"
#include "engine/network/channel_state_persister.hpp"
#include "engine/network/input_channel.hpp"
#include "engine/network/input_gate.hpp"
#include "engine/network/network_config.hpp"
#include "engine/network/prioritized_deque.hpp"
#include "engine/ports.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class BufferDebloater;
class ConnectionManager;
class GateDebloating;
class NetworkBufferPool;
class RemoteInputChannel;
class ResultPartitionManager;

class SingleInputGate final : public InputGate {
 public:
  // What the channels need; everything outlives the gate.
  struct Environment {
    const Ports& ports;
    const NetworkConfig& config;
    NetworkBufferPool& buffers;
    ConnectionManager& connections;
    const ResultPartitionManager& partitions;
    std::uint64_t& next_channel_id;
  };

  // `on_failure` runs at most once, in an event of its own: a connection broke, a partition never
  // appeared, buffers are missing. It may destroy the gate.
  SingleInputGate(const InputGateDescriptor& descriptor, const Environment& environment,
                  base::InplaceFunction<void(std::string)> on_failure);
  // Parts from the producers; buffers that somebody still holds find home on their own.
  ~SingleInputGate() override;

  // Starts to ask for the subpartitions. Once.
  void request_partitions();

  [[nodiscard]] std::int32_t channel_count() const override {
    return static_cast<std::int32_t>(channels_.size());
  }
  std::optional<BufferOrEvent> poll_next() override;
  [[nodiscard]] bool is_finished() const override { return unfinished_ == 0; }
  [[nodiscard]] bool is_available() const override { return is_finished() || !queue_.empty(); }
  [[nodiscard]] EndOfDataStatus end_of_data_status() const override {
    if (channels_without_end_of_data_ > 0) return EndOfDataStatus::kNotEndOfData;
    return drains_ ? EndOfDataStatus::kDrained : EndOfDataStatus::kStopped;
  }
  void set_availability_listener(base::InplaceFunction<void()> listener) override {
    on_available_ = std::move(listener);
  }

  void resume_consumption(ChannelIndex channel) override;
  // Asked before a channel is resumed; true: the task's thread is not there yet and calls again.
  void set_resume_deferral(base::InplaceFunction<bool(ChannelIndex)> defers) {
    defers_resume_ = std::move(defers);
  }
  void acknowledge_all_records_processed(ChannelIndex channel) override;

  // The first channel that refuses ends it.
  [[nodiscard]] std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& barrier) override;
  void checkpoint_stopped(CheckpointId id) override;
  void convert_to_priority_event(ChannelIndex channel, std::int32_t sequence_number) override;
  // Flink's flag: true from the first priority event in the queue to the poll that takes the last.
  [[nodiscard]] bool is_priority_event_available() const override { return priority_available_; }
  void set_priority_listener(base::InplaceFunction<void()> listener) override {
    on_priority_available_ = std::move(listener);
  }
  // Who takes what of the channels belongs to a checkpoint; `gate` is this gate's index in its task.
  // The writer outlives the gate. Before the requests.
  void set_channel_state_writer(ChannelStateWriter& writer, std::int32_t gate) {
    channel_state_ = &writer;
    index_in_task_ = gate;
  }

  // 1.20, debloating: once a period, on the task's thread. Nothing if it is off, or the gate has
  // finished.
  void trigger_debloating();
  // Null: debloating is off.
  [[nodiscard]] const BufferDebloater* debloater() const;
  void announce_buffer_size(std::int32_t bytes);
  [[nodiscard]] std::int32_t buffers_in_use() const;

  // The receiver's queue; 0 for a local channel, whose queue is the sender's.
  [[nodiscard]] std::int64_t queued_bytes(ChannelIndex channel) const {
    return channels_[static_cast<std::size_t>(channel)]->queued_bytes();
  }
  // The same in items, events included.
  [[nodiscard]] std::int32_t queued_buffers(ChannelIndex channel) const {
    return channels_[static_cast<std::size_t>(channel)]->queued_buffers();
  }
  [[nodiscard]] bool is_local(ChannelIndex channel) const {
    return channels_[static_cast<std::size_t>(channel)]->descriptor().producer == self_;
  }
  [[nodiscard]] const InputChannel& channel(ChannelIndex channel) const {
    return *channels_[static_cast<std::size_t>(channel)];
  }

  // Channels with data, first one first, and how many of them have a priority event.
  [[nodiscard]] std::vector<ChannelIndex> queued_channels() const;
  [[nodiscard]] std::size_t priority_channels() const { return queue_.num_priority_elements(); }
  [[nodiscard]] bool has_failed() const { return failed_; }

  // For the channels. The channel has data.
  void queue_channel(InputChannel& channel);
  // It has a priority event with that number. Ignored if that one or a later one has been polled.
  void notify_priority_event(InputChannel& channel, std::int32_t sequence_number);
  // It has one, whatever has been polled.
  void notify_priority_event_force(InputChannel& channel);
  void fail(const std::string& reason);
  // Floating buffers. Not to be used before the gate has asked its channels to request.
  [[nodiscard]] LocalBufferPool* buffer_pool() { return pool_; }
  [[nodiscard]] const LocalBufferPool* buffer_pool() const { return pool_; }
  // What the channels share.
  [[nodiscard]] const NetworkConfig& config() const { return environment_.config; }
  [[nodiscard]] const NetworkSemantics& semantics() const { return *environment_.config.semantics; }
  [[nodiscard]] NetworkBufferPool& global_pool() { return environment_.buffers; }
  [[nodiscard]] ConnectionManager& connections() { return environment_.connections; }
  [[nodiscard]] const ResultPartitionManager& partitions() const { return environment_.partitions; }
  [[nodiscard]] ChannelStateTarget channel_state_target(ChannelIndex channel) const {
    return {channel_state_, {index_in_task_, channel}};
  }
  template <typename F>
  void schedule(Duration delay, F callback) {
    environment_.ports.timers->schedule(delay, lifeline_.bind(std::move(callback)));
  }

 private:
  [[nodiscard]] bool is_remote(const InputChannel& channel) const {
    return channel.descriptor().producer != self_;
  }
  void set_up();
  // False: the gate has failed.
  bool create_buffer_pool();
  // The exclusive segments, and in 1.20 a floating one. False: not all are here.
  bool take_guaranteed_segments();
  void assign_segments();
  void start_requests();
  void queue(InputChannel& channel, bool priority);
  // Returns: false if it stands there already, or has ended.
  bool queue_silently(InputChannel& channel, bool priority);
  void on_end_of_partition(InputChannel& channel);
  void on_end_of_data(const EndOfData& end);

  Environment environment_;
  ProcessId self_;
  std::vector<std::unique_ptr<InputChannel>> channels_;
  GateBuffersSpec spec_;
  PrioritizedDeque<InputChannel*> queue_;
  std::unique_ptr<GateDebloating> debloating_;
  LocalBufferPool* pool_ = nullptr;
  ChannelStateWriter* channel_state_ = nullptr;
  std::int32_t index_in_task_ = 0;
  std::int32_t unfinished_;
  std::int32_t channels_without_end_of_data_;
  bool drains_ = true;
  bool priority_available_ = false;
  // Exclusive segments that are guaranteed and not yet assigned.
  std::int32_t missing_exclusive_ = 0;
  bool is_set_up_ = false;
  bool requested_ = false;
  bool failed_ = false;
  base::InplaceFunction<void(std::string)> on_failure_;
  base::InplaceFunction<bool(ChannelIndex)> defers_resume_;
  base::InplaceFunction<void()> on_available_;
  base::InplaceFunction<void()> on_priority_available_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
