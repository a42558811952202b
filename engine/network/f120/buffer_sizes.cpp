// Flink 1.20 InputGateSpecUtils.createGateBuffersSpec, NettyShuffleUtils
// .getMinMaxNetworkBuffersPerResultPartition, ResultPartitionFactory.createBufferPoolFactory.
#include "engine/network/buffer_sizes.hpp"

#include <algorithm>
#include <limits>

#include "engine/network/network_config.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink 1.20 InputGateSpecUtils.DEFAULT_MAX_REQUIRED_BUFFERS_PER_GATE_FOR_BATCH and _FOR_STREAM.
constexpr std::int32_t kMaxRequiredForBatch = 1000;
constexpr std::int32_t kMaxRequiredForStream = std::numeric_limits<std::int32_t>::max();

}  // namespace

base::Result<GateBuffersSpec, std::string> gate_buffers_120(const NetworkConfig& config,
                                                            ResultPartitionType type,
                                                            std::int32_t channels) {
  TAILRACE_ASSERT(channels > 0);
  const auto target =
      target_buffers(config.exclusive_per_channel, config.floating_per_gate, channels);
  if (!target) return base::Failure{target.error()};
  const std::int32_t cap = config.required_buffers_per_gate_max.value_or(
      type == ResultPartitionType::BLOCKING ? kMaxRequiredForBatch : kMaxRequiredForStream);
  const std::int32_t required = std::min(cap, config.exclusive_per_channel * channels + 1);
  if (required < 1) return base::Failure<std::string>{"Require at least 1 buffer per gate."};

  GateBuffersSpec spec;
  // One of the required ones floats; the others are shared out evenly.
  spec.exclusive_per_channel = std::min(config.exclusive_per_channel, (required - 1) / channels);
  const std::int32_t exclusive = spec.exclusive_per_channel * channels;
  spec.required_floating = required - exclusive;
  spec.total_floating = target.value() - exclusive;
  spec.target_total = target.value();
  spec.reserved_floating = 1;
  if (spec.required_floating > spec.total_floating) {
    return base::Failure<std::string>{"Wrong number of floating buffers."};
  }
  return spec;
}

BufferPoolSpec partition_buffers_120(const NetworkConfig& config, ResultPartitionType type,
                                     std::int32_t subpartitions) {
  BufferPoolSpec spec;
  spec.required = subpartitions + 1;
  spec.max = type == ResultPartitionType::PIPELINED_BOUNDED
                 ? std::max(spec.required, bounded_max(config.exclusive_per_channel,
                                                       config.floating_per_gate, subpartitions))
                 : std::numeric_limits<std::int32_t>::max();
  spec.subpartitions = subpartitions;
  spec.max_buffers_per_channel = config.max_buffers_per_channel;
  // Nothing waits for the consumer of a blocking partition.
  spec.max_overdraft_buffers =
      type == ResultPartitionType::BLOCKING ? 0 : config.max_overdraft_buffers_per_gate;
  return spec;
}

}  // namespace tailrace::engine
