// The reading end of the network as the rest of a task sees it.
//
// Flink 1.10 InputGate, BufferOrEvent.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/ids.hpp"
#include "engine/network/buffer.hpp"
#include "engine/network/events.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

struct BufferOrEvent {
  ChannelIndex channel = 0;
  std::variant<Buffer, RuntimeEvent> item;
  bool more_available = false;  // the gate has more right now
  bool has_priority = false;    // 1.20: the item overtook others
  // 1.20: the next item has priority, too; of a union: of the same gate.
  bool more_priority_events = false;

  [[nodiscard]] bool is_buffer() const { return item.index() == 0; }
  [[nodiscard]] const RuntimeEvent& event() const { return std::get<1>(item); }
};

// Flink 1.20 PullingAsyncDataInput.EndOfDataStatus: whether every channel has delivered EndOfData,
// and whether all of them said that the job drains.
enum class EndOfDataStatus : std::uint8_t { kNotEndOfData, kDrained, kStopped };

class InputGate {
 public:
  virtual ~InputGate() = default;

  [[nodiscard]] virtual std::int32_t channel_count() const = 0;
  // Never waits. Nothing: no channel has anything right now, or the gate is finished.
  virtual std::optional<BufferOrEvent> poll_next() = 0;
  // Every channel has delivered its EndOfPartitionEvent.
  [[nodiscard]] virtual bool is_finished() const = 0;
  // 1.20.
  [[nodiscard]] virtual EndOfDataStatus end_of_data_status() const {
    return EndOfDataStatus::kNotEndOfData;
  }
  // Whether poll_next would give something now. A finished gate counts as available.
  [[nodiscard]] virtual bool is_available() const = 0;
  // 1.20: the sender of that channel, which stopped behind an aligned barrier, may go on.
  virtual void resume_consumption(ChannelIndex /*channel*/) {}
  // 1.20: every record of that channel has been processed (Flink acknowledgeAllRecordsProcessed).
  virtual void acknowledge_all_records_processed(ChannelIndex /*channel*/) {}
  // 1.20, unaligned (Flink CheckpointableInput). From now on what arrives before the barrier of a
  // channel is channel state of this checkpoint.
  // Returns: why it cannot be; then the checkpoint is aborted.
  [[nodiscard]] virtual std::optional<CheckpointFailureReason> checkpoint_started(
      const CheckpointBarrier& /*barrier*/) {
    return std::nullopt;
  }
  virtual void checkpoint_stopped(CheckpointId /*id*/) {}
  // The barrier with that sequence number, which was announced, overtakes what is queued before it.
  virtual void convert_to_priority_event(ChannelIndex /*channel*/,
                                         std::int32_t /*sequence_number*/) {}
  // Whether the next poll gives an item with priority.
  [[nodiscard]] virtual bool is_priority_event_available() const { return false; }
  // Runs whenever that becomes so; set once. It must only take a note, never poll.
  virtual void set_priority_listener(base::InplaceFunction<void()> /*listener*/) {}
  // Runs whenever the gate turns from not available to available; set once, before the first poll.
  // Called from inside network events: it must only take a note (schedule the task), never poll.
  virtual void set_availability_listener(base::InplaceFunction<void()> listener) = 0;
};

}  // namespace tailrace::engine
