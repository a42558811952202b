// How a restored subtask takes over buffers in flight of another parallelism.
//
// Flink 1.20 InflightDataRescalingDescriptor (spec rescale.md S-3.33). One entry for each gate of the
// head of the chain, or for each partition of its tail; no entries at all: nothing was rescaled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailrace::engine {

// A channel of old, whose records arrive through a channel of today (S-4.6).
struct VirtualChannel {
  std::int32_t old_subtask = 0;
  std::int32_t old_channel = 0;
  // Its records also arrive elsewhere: only those pass that the partitioner sends here (S-4.7).
  bool filtered = false;
  friend bool operator==(const VirtualChannel&, const VirtualChannel&) = default;
};

struct InflightDataRescaling {
  // NO_STATE: nothing was in flight there.
  enum class Type : std::uint8_t { NO_STATE, IDENTITY, RESCALING };

  Type type = Type::NO_STATE;
  std::vector<std::int32_t> old_subtasks;  // whose data this subtask takes over
  // From each channel to those of old; empty at the end may be left out.
  std::vector<std::vector<std::int32_t>> channel_mapping;
  bool mapping_is_identity = true;
  // Old subtasks that several new ones take over.
  std::vector<std::int32_t> ambiguous_subtasks;

  [[nodiscard]] std::vector<VirtualChannel> virtual_channels(std::int32_t channel) const {
    std::vector<VirtualChannel> result;
    const auto index = static_cast<std::size_t>(channel);
    if (index >= channel_mapping.size()) return result;
    for (const std::int32_t subtask : old_subtasks) {
      const bool filtered = std::find(ambiguous_subtasks.begin(), ambiguous_subtasks.end(),
                                      subtask) != ambiguous_subtasks.end();
      for (const std::int32_t old : channel_mapping[index]) {
        result.push_back({subtask, old, filtered});
      }
    }
    return result;
  }
};
using InflightDataRescalingDescriptor = std::vector<InflightDataRescaling>;

// Where a piece of that old channel goes: S-4.3, S-4.5. Of `entry` null or without rescaling: to the
// same channel.
[[nodiscard]] inline std::vector<std::int32_t> new_channels_of(const InflightDataRescaling* entry,
                                                               std::int32_t old_channel) {
  if (entry == nullptr || entry->type != InflightDataRescaling::Type::RESCALING) {
    return {old_channel};
  }
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < entry->channel_mapping.size(); ++i) {
    const auto& olds = entry->channel_mapping[i];
    if (std::find(olds.begin(), olds.end(), old_channel) != olds.end()) {
      result.push_back(static_cast<std::int32_t>(i));
    }
  }
  return result;
}

}  // namespace tailrace::engine
