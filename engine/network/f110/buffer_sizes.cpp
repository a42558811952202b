// Flink 1.10 SingleInputGateFactory.createBufferPoolFactory, ResultPartitionFactory
// .createBufferPoolFactory.
#include "engine/network/buffer_sizes.hpp"

#include <limits>

#include "engine/network/network_config.hpp"

namespace tailrace::engine {

base::Result<GateBuffersSpec, std::string> gate_buffers_110(const NetworkConfig& config,
                                                            ResultPartitionType /*type*/,
                                                            std::int32_t channels) {
  const auto target =
      target_buffers(config.exclusive_per_channel, config.floating_per_gate, channels);
  if (!target) return base::Failure{target.error()};
  return GateBuffersSpec{.exclusive_per_channel = config.exclusive_per_channel,
                         .required_floating = 0,
                         .total_floating = config.floating_per_gate,
                         .target_total = target.value(),
                         .reserved_floating = 0};
}

BufferPoolSpec partition_buffers_110(const NetworkConfig& config, ResultPartitionType type,
                                     std::int32_t subpartitions) {
  BufferPoolSpec spec;
  spec.required = subpartitions + 1;
  spec.max =
      type == ResultPartitionType::PIPELINED_BOUNDED
          ? bounded_max(config.exclusive_per_channel, config.floating_per_gate, subpartitions)
          : std::numeric_limits<std::int32_t>::max();
  return spec;
}

}  // namespace tailrace::engine
