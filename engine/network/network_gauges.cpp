#include "engine/network/network_gauges.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

struct Usage {
  std::int32_t used = 0;
  std::int32_t total = 0;

  Usage& operator+=(const Usage& other) {
    used += other.used;
    total += other.total;
    return *this;
  }
  // Flink's Float.
  [[nodiscard]] float fraction() const {
    return total == 0 ? 0.0F : static_cast<float>(used) / static_cast<float>(total);
  }
};

Usage exclusive_of(const SingleInputGate& gate) {
  Usage usage;
  for (ChannelIndex i = 0; i < gate.channel_count(); ++i) {
    const InputChannel::BufferUsage channel = gate.channel(i).buffer_usage();
    usage +=
        {std::max(0, channel.initial_credit - channel.exclusive_available), channel.initial_credit};
  }
  return usage;
}

Usage floating_of(const SingleInputGate& gate) {
  const LocalBufferPool* pool = gate.buffer_pool();
  if (pool == nullptr) return {};
  // What a channel has taken and not filled yet is still there for the taking.
  std::int32_t available = 0;
  for (ChannelIndex i = 0; i < gate.channel_count(); ++i) {
    available += gate.channel(i).buffer_usage().floating_available;
  }
  return {std::max(0, pool->used_segments() - available), pool->size()};
}

}  // namespace

float in_pool_usage(InputGates gates) {
  Usage usage;
  for (const auto& gate : gates) {
    usage += floating_of(*gate);
    usage += exclusive_of(*gate);
  }
  return usage.fraction();
}

float input_exclusive_buffers_usage(InputGates gates) {
  Usage usage;
  for (const auto& gate : gates) usage += exclusive_of(*gate);
  return usage.fraction();
}

float input_floating_buffers_usage(InputGates gates) {
  Usage usage;
  for (const auto& gate : gates) usage += floating_of(*gate);
  return usage.fraction();
}

std::int32_t input_queue_length(InputGates gates) {
  std::int32_t length = 0;
  for (const auto& gate : gates) {
    for (ChannelIndex i = 0; i < gate->channel_count(); ++i) {
      length += gate->channel(i).buffer_usage().queued;
    }
  }
  return length;
}

float out_pool_usage(ResultPartitions partitions) {
  Usage usage;
  for (const auto& partition : partitions) {
    if (partition->is_released()) continue;
    const LocalBufferPool& pool = std::as_const(*partition).buffer_pool();
    usage += {pool.used_segments(), pool.size()};
  }
  return usage.fraction();
}

std::int32_t output_queue_length(ResultPartitions partitions) {
  std::int32_t length = 0;
  for (const auto& partition : partitions) {
    for (std::int32_t i = 0; i < partition->subpartition_count(); ++i) {
      length += partition->queued_buffers(i);
    }
  }
  return length;
}

std::int64_t estimated_time_to_consume_buffers_ms(
    std::span<const BufferDebloater* const> debloaters) {
  TAILRACE_ASSERT(!debloaters.empty());
  base::Duration longest = debloaters.front()->last_estimated_time_to_consume();
  for (const BufferDebloater* debloater : debloaters) {
    longest = std::max(longest, debloater->last_estimated_time_to_consume());
  }
  return longest.millis_truncated();
}

}  // namespace tailrace::engine
