// What a remote channel is made of.
#pragma once

#include <cstdint>

#include "engine/ids.hpp"
#include "engine/network/netty_message.hpp"

namespace tailrace::engine {

class SingleInputGate;
struct InputChannelDescriptor;

// The gate outlives the channel.
struct RemoteChannelContext {
  SingleInputGate& gate;
  ChannelIndex index = 0;
  const InputChannelDescriptor& descriptor;
  InputChannelId id = 0;
};

}  // namespace tailrace::engine
