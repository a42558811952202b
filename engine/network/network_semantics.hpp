// What the network stack does differently in the two generations, where it is small.
//
// Made by engine/generation.hpp; belongs to the settings of a process (NetworkConfig).
#pragma once

#include <cstddef>
#include <span>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/data_type.hpp"
#include "engine/network/events.hpp"

namespace tailrace::engine {

struct NetworkSemantics {
  // Flink EventSerializer.
  EventBytes (*serialize_event)(const RuntimeEvent& event);
  // Requires: bytes that serialize_event made.
  RuntimeEvent (*parse_event)(std::span<const std::byte> bytes);
  // What a queue does with that event (1.20 EventSerializer.getDataType; spec barriers.md 1.1).
  // `priority`: its sender wants it to overtake.
  DataType (*data_type_of)(const RuntimeEvent& event, bool priority);
  // Whether an event at the end of a queue tells that the buffer before it is complete (spec
  // barriers.md 6.3).
  bool event_completes_backlog;
  // Whether a subpartition signals a reader that is new and finds items; if not, the reader looks.
  bool signals_new_reader;
  // Whether a buffer that continues a record is filled before it is queued (spec barriers.md 6.2).
  bool fills_continuations_first;
  // Whether a producer tells its consumers when it has handed on what it had in flight, and waits
  // for them (spec barriers.md 5.11).
  bool announces_end_of_channel_state;
};

[[nodiscard]] const NetworkSemantics& network_semantics_110();
[[nodiscard]] const NetworkSemantics& network_semantics_120();

}  // namespace tailrace::engine
