// How many segments gates and partitions ask for (spec barriers.md 6.1).
//
// Flink 1.20 GateBuffersSpec, InputGateSpecUtils, NettyShuffleUtils; 1.10 ResultPartitionFactory and
// SingleInputGateFactory. The rules of a generation are in NetworkSemantics.
#pragma once

#include <cstdint>
#include <string>

#include "engine/network/local_buffer_pool.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

struct NetworkConfig;

// Flink ResultPartitionType, as far as it decides about buffers.
enum class ResultPartitionType : std::uint8_t { BLOCKING, PIPELINED, PIPELINED_BOUNDED };

struct GateBuffersSpec {
  std::int32_t exclusive_per_channel = 0;  // of remote channels, straight from the global pool
  std::int32_t required_floating = 0;
  std::int32_t total_floating = 0;
  std::int32_t target_total = 0;  // exclusive and floating together
  // Of the required ones, those that are there before the gate takes anything else. 0: the floating
  // pool is made after the exclusive segments have been taken.
  std::int32_t reserved_floating = 0;
};

// Errors: Flink refuses to make such a gate; the text says it in its words.
using GateBuffersRule = base::Result<GateBuffersSpec, std::string> (*)(const NetworkConfig& config,
                                                                       ResultPartitionType type,
                                                                       std::int32_t channels);
// The result may be one that no pool can be made of.
using PartitionBuffersRule = BufferPoolSpec (*)(const NetworkConfig& config,
                                                ResultPartitionType type,
                                                std::int32_t subpartitions);

base::Result<GateBuffersSpec, std::string> gate_buffers_110(const NetworkConfig& config,
                                                            ResultPartitionType type,
                                                            std::int32_t channels);
base::Result<GateBuffersSpec, std::string> gate_buffers_120(const NetworkConfig& config,
                                                            ResultPartitionType type,
                                                            std::int32_t channels);
BufferPoolSpec partition_buffers_110(const NetworkConfig& config, ResultPartitionType type,
                                     std::int32_t subpartitions);
BufferPoolSpec partition_buffers_120(const NetworkConfig& config, ResultPartitionType type,
                                     std::int32_t subpartitions);

// The wish of a gate whose channels all get `exclusive_per_channel`, beyond any memory: then an error.
base::Result<std::int32_t, std::string> target_buffers(std::int32_t exclusive_per_channel,
                                                       std::int32_t floating,
                                                       std::int32_t channels);
// The most that a bounded partition may have, cut off where numbers end.
std::int32_t bounded_max(std::int32_t exclusive_per_channel, std::int32_t floating,
                         std::int32_t subpartitions);

}  // namespace tailrace::engine
