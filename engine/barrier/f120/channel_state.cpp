#include "engine/barrier/f120/channel_state.hpp"

#include <cstddef>
#include <utility>

namespace tailrace::engine::f120 {

ChannelState::ChannelState(CheckpointableInputs& inputs)
    : inputs_(inputs),
      blocked_(static_cast<std::size_t>(inputs.channel_count())),
      announced_(static_cast<std::size_t>(inputs.channel_count())) {}

void ChannelState::block_channel(ChannelIndex channel) {
  inputs_.block_consumption(channel);
  if (std::exchange(blocked_[index(channel)], std::uint8_t{1}) == 0) ++blocked_count_;
}

void ChannelState::channel_finished(ChannelIndex channel) {
  if (std::exchange(blocked_[index(channel)], std::uint8_t{0}) != 0) --blocked_count_;
  remove_seen_announcement(channel);
}

void ChannelState::prioritize_all_announcements() {
  for (ChannelIndex channel = 0; channel < inputs_.channel_count(); ++channel) {
    const std::optional<std::int32_t>& number = announced_[index(channel)];
    if (number) inputs_.convert_to_priority_event(channel, *number);
  }
  for (auto& number : announced_) number.reset();
}

void ChannelState::unblock_all_channels() {
  for (ChannelIndex channel = 0; blocked_count_ > 0; ++channel) {
    if (std::exchange(blocked_[index(channel)], std::uint8_t{0}) == 0) continue;
    --blocked_count_;
    inputs_.resume_consumption(channel);
  }
}

void ChannelState::clear_announcements() {
  TAILRACE_ASSERT(blocked_count_ == 0);
  for (auto& number : announced_) number.reset();
}

}  // namespace tailrace::engine::f120
