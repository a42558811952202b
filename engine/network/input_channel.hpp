// One channel of a gate.
//
// Flink 1.10 InputChannel.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/network_config.hpp"
#include "engine/scheduling/deployment.hpp"

namespace tailrace::engine {

class InputChannel {
 public:
  struct BufferAndAvailability {
    NetworkItem item;
    bool more_available = false;
    DataType next = DataType::kNone;   // 1.20: of the item that the next poll gives
    std::int32_t sequence_number = 0;  // 1.20
  };

  InputChannel(ChannelIndex index, const InputChannelDescriptor& descriptor,
               const NetworkConfig& config)
      : index_(index),
        descriptor_(descriptor),
        initial_backoff_(config.partition_request_backoff_initial),
        max_backoff_(config.partition_request_backoff_max) {}
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

  bool is_queued = false;  // in the gate's FIFO; the gate's business alone

 protected:
  // The wait before the next request. Nothing: the largest wait has been tried already.
  std::optional<base::Duration> increase_backoff() {
    if (initial_backoff_ <= base::Duration{0}) return std::nullopt;
    if (backoff_ == base::Duration{0}) {
      backoff_ = initial_backoff_;
    } else if (backoff_ < max_backoff_) {
      backoff_ = backoff_ * 2 < max_backoff_ ? backoff_ * 2 : max_backoff_;
    } else {
      return std::nullopt;
    }
    return backoff_;
  }

 private:
  ChannelIndex index_;
  InputChannelDescriptor descriptor_;
  base::Duration initial_backoff_;
  base::Duration max_backoff_;
  base::Duration backoff_{};
};

}  // namespace tailrace::engine
