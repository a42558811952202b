// The gauges of a task that read its network stack, under Flink's names.
//
// Flink 1.10 and 1.20 NettyShuffleMetricFactory and the gauges that it registers for a task
// (`Shuffle.Netty.Input.Buffers.*`, `Shuffle.Netty.Output.Buffers.*`); estimatedTimeToConsumeBuffersMs
// is of 1.20. The numbers of one gate, debloatedBufferSize among them, are its BufferDebloater's.
// All are pure functions of what is there right now.
// Units: buffers; a usage is a fraction, 0 if there is nothing to use.
// Cost: O(channels) for inputs, O(subpartitions) for outputs; no allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace tailrace::engine {

class BufferDebloater;
class ResultPartition;
class SingleInputGate;

using InputGates = std::span<const std::unique_ptr<SingleInputGate>>;
using ResultPartitions = std::span<const std::unique_ptr<ResultPartition>>;

// Exclusive and floating buffers together: what is not there for the taking of what there is. Local
// channels have none.
[[nodiscard]] float in_pool_usage(InputGates gates);
[[nodiscard]] float input_exclusive_buffers_usage(InputGates gates);
[[nodiscard]] float input_floating_buffers_usage(InputGates gates);
// Buffers and events; of a local channel those that its sender has queued.
[[nodiscard]] std::int32_t input_queue_length(InputGates gates);

// More than 1 with overdraft buffers, or after the pool has shrunk. Released partitions do not count.
[[nodiscard]] float out_pool_usage(ResultPartitions partitions);
[[nodiscard]] std::int32_t output_queue_length(ResultPartitions partitions);

// The slowest gate's. Requires: one at least, none null.
[[nodiscard]] std::int64_t estimated_time_to_consume_buffers_ms(
    std::span<const BufferDebloater* const> debloaters);

}  // namespace tailrace::engine
