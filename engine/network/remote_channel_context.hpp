// What a remote channel is made of.
#pragma once

#include <cstdint>

#include "engine/ids.hpp"
#include "engine/network/netty_message.hpp"

namespace tailrace::engine {

class ConnectionManager;
class NetworkBufferPool;
class SingleInputGate;
struct InputChannelDescriptor;
struct NetworkConfig;

// Everything but the descriptor outlives the channel.
struct RemoteChannelContext {
  SingleInputGate& gate;
  ChannelIndex index = 0;
  const InputChannelDescriptor& descriptor;
  const NetworkConfig& config;
  InputChannelId id = 0;
  NetworkBufferPool& global;
  ConnectionManager& connections;
};

}  // namespace tailrace::engine
