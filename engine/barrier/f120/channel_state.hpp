// Which channels a handler has blocked, and on which a barrier is announced.
//
// Flink 1.20 ChannelState (spec barriers.md 5.4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/barrier/f120/checkpointable_input.hpp"

namespace tailrace::engine::f120 {

class ChannelState {
 public:
  explicit ChannelState(CheckpointableInputs& inputs);

  [[nodiscard]] CheckpointableInputs& inputs() { return inputs_; }
  [[nodiscard]] bool is_blocked(ChannelIndex channel) const {
    return blocked_[index(channel)] != 0;
  }

  void block_channel(ChannelIndex channel);
  // Nothing will be resumed or overtaken there any more.
  void channel_finished(ChannelIndex channel);
  void add_seen_announcement(ChannelIndex channel, std::int32_t sequence_number) {
    announced_[index(channel)] = sequence_number;
  }
  void remove_seen_announcement(ChannelIndex channel) { announced_[index(channel)].reset(); }

  // The announced barriers overtake; forgets them.
  void prioritize_all_announcements();
  // Cost: O(channel count), as the one above; no allocation.
  void unblock_all_channels();
  // Requires: nothing is blocked.
  void clear_announcements();

 private:
  [[nodiscard]] std::size_t index(ChannelIndex channel) const {
    TAILRACE_ASSERT(0 <= channel && channel < inputs_.channel_count());
    return static_cast<std::size_t>(channel);
  }

  CheckpointableInputs& inputs_;
  std::vector<std::uint8_t> blocked_;  // by channel
  std::int32_t blocked_count_ = 0;
  std::vector<std::optional<std::int32_t>> announced_;  // by channel: sequence number
};

}  // namespace tailrace::engine::f120
