// Names of channels inside a task, as channel state uses them.
#pragma once

#include <compare>
#include <cstdint>

namespace tailrace::engine {

// Flink 1.20 InputChannelInfo: gate and channel within the gate.
struct InputChannelInfo {
  std::int32_t gate = 0;
  std::int32_t channel = 0;
  friend auto operator<=>(const InputChannelInfo&, const InputChannelInfo&) = default;
};

// Flink 1.20 ResultSubpartitionInfo.
struct ResultSubpartitionInfo {
  std::int32_t partition = 0;
  std::int32_t subpartition = 0;
  friend auto operator<=>(const ResultSubpartitionInfo&, const ResultSubpartitionInfo&) = default;
};

}  // namespace tailrace::engine
