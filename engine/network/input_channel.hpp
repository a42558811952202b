// One channel of a gate.
//
// Flink InputChannel. Most channels of a large job are idle most of the time, so that what is the
// same for all of a gate stays in the gate.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/network/buffer_consumer.hpp"
#include "engine/network/channel_state_writer.hpp"
#include "engine/network/events.hpp"
#include "engine/scheduling/deployment.hpp"

namespace tailrace::engine {

class SingleInputGate;

class InputChannel {
 public:
  struct BufferAndAvailability {
    NetworkItem item;
    bool more_available = false;
    DataType next = DataType::kNone;   // 1.20: of the item that the next poll gives
    std::int32_t sequence_number = 0;  // 1.20
  };

  // The gate outlives the channel.
  InputChannel(SingleInputGate& gate, ChannelIndex index, const InputChannelDescriptor& descriptor)
      : gate_(gate), descriptor_(descriptor), index_(index) {}
  virtual ~InputChannel() = default;
  InputChannel(const InputChannel&) = delete;
  InputChannel& operator=(const InputChannel&) = delete;

  // Once.
  virtual void request_subpartition() = 0;
  // Nothing: there is nothing right now, whatever was signalled.
  virtual std::optional<BufferAndAvailability> get_next_buffer() = 0;
  // 1.20: the producer, which an event has blocked, may go on. Requires: not released.
  virtual void resume_consumption() = 0;
  // 1.20: all records of the channel have been processed.
  virtual void acknowledge_all_records_processed() = 0;
  // Parts from the producer and gives back all buffers that the task does not hold. Repeatable.
  virtual void release_all_resources() = 0;
  [[nodiscard]] virtual bool is_released() const = 0;

  // 1.20, unaligned checkpoints: InputGate has the same for all channels.
  [[nodiscard]] virtual std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& /*barrier*/) {
    return std::nullopt;
  }
  virtual void checkpoint_stopped(CheckpointId /*id*/) {}
  virtual void convert_to_priority_event(std::int32_t /*sequence_number*/) {}

  // 1.20, debloating: the producer's buffers shall have that size. Requires: not released.
  virtual void announce_buffer_size(std::int32_t /*bytes*/) {}
  // Buffers between the producer's queue and the task, as debloating counts them.
  [[nodiscard]] virtual std::int32_t buffers_in_use() const { return queued_buffers(); }

  // What has arrived and has not been polled; a local channel reads the sender's queue.
  [[nodiscard]] virtual std::int64_t queued_bytes() const { return 0; }
  [[nodiscard]] virtual std::int32_t queued_buffers() const { return 0; }

  // What the gauges of a task read (network_gauges.hpp). The first three are of a remote channel.
  struct BufferUsage {
    std::int32_t initial_credit = 0;  // how many exclusive buffers it has
    std::int32_t exclusive_available = 0;
    std::int32_t floating_available = 0;
    std::int32_t queued = 0;  // buffers and events; of a local channel: in the sender's queue
  };
  [[nodiscard]] virtual BufferUsage buffer_usage() const = 0;

  [[nodiscard]] ChannelIndex index() const { return index_; }
  [[nodiscard]] const InputChannelDescriptor& descriptor() const { return descriptor_; }

  // The gate's business alone.
  struct GateState {
    // Of the last priority event that was polled. The lowest: none yet.
    std::int32_t last_priority_sequence_number = std::numeric_limits<std::int32_t>::min();
    bool is_queued = false;     // in the gate's queue
    bool has_priority = false;  // in the priority part of it
    bool ended = false;         // its EndOfPartitionEvent has been polled
  };
  GateState gate_state;

 protected:
  // Follows the wait before the last request by that before the next one, at first 0.
  // Returns: false if the largest wait has been tried already.
  [[nodiscard]] bool increase_backoff(base::Duration& wait) const;
  [[nodiscard]] SingleInputGate& gate() const { return gate_; }

 private:
  SingleInputGate& gate_;
  InputChannelDescriptor descriptor_;
  ChannelIndex index_;
};

}  // namespace tailrace::engine
