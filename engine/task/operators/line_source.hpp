// A source of lines: reads partitions of a replayable log.
//
// Stands for Flink 1.10's legacy sources with offsets in operator state (spec rescale.md S-8.1).
// A fresh subtask i of P owns the partitions i, i + P, i + 2P, …; each partition and its position
// is one element of a SPLIT list state, so a rescale deals whole partitions out again.
#pragma once

#include <memory>

#include "engine/ports.hpp"
#include "engine/state/type_serializer.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Name of the list state; its elements are what encode_position makes.
inline constexpr const char* kLineSourceState = "source-positions";

struct PartitionPosition {
  std::int32_t partition = 0;
  std::int64_t position = 0;
};
// 4 + 8 bytes, big-endian.
[[nodiscard]] Bytes encode_position(const PartitionPosition& position);
[[nodiscard]] PartitionPosition decode_position(const Bytes& bytes);

// The log outlives every operator.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_line_source_factory(
    const ReplayableLog& log);

}  // namespace tailrace::engine
