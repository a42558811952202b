// What the network stack does differently in the two generations, where it is small.
//
// Made by engine/generation.hpp; belongs to the settings of a process (NetworkConfig).
#pragma once

#include <cstddef>
#include <span>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/events.hpp"

namespace tailrace::engine {

struct NetworkSemantics {
  // Flink EventSerializer.
  EventBytes (*serialize_event)(const RuntimeEvent& event);
  // Requires: bytes that serialize_event made.
  RuntimeEvent (*parse_event)(std::span<const std::byte> bytes);
  // Whether a subpartition hands nothing out behind that event until its consumer resumes it (1.20
  // Buffer.DataType.isBlockingUpstream; spec barriers.md 1.1).
  bool (*blocks_upstream)(const RuntimeEvent& event);
  // Whether an event at the end of a queue tells that the buffer before it is complete (spec
  // barriers.md 6.3).
  bool event_completes_backlog;
  // Whether a producer tells its consumers when it has handed on what it had in flight, and waits
  // for them (spec barriers.md 5.11).
  bool announces_end_of_channel_state;
};

[[nodiscard]] const NetworkSemantics& network_semantics_110();
[[nodiscard]] const NetworkSemantics& network_semantics_120();

}  // namespace tailrace::engine
