// Events as bytes.
//
// Flink 1.20 EventSerializer (sizes: spec barriers.md 6.6). Everything is big-endian.
#pragma once

#include <cstddef>
#include <span>

#include "engine/network/buffer_consumer.hpp"
#include "engine/network/events.hpp"

namespace tailrace::engine::f120 {

[[nodiscard]] EventBytes serialize_event(const RuntimeEvent& event);
// Of an event that a receiver makes by itself, an announcement or a barrier that it moves forward:
// only the part of the buffer that is used, where a sender sends all of it.
[[nodiscard]] EventBytes serialize_event_at_receiver(const RuntimeEvent& event);
// Requires: bytes that one of these made.
[[nodiscard]] RuntimeEvent parse_event(std::span<const std::byte> bytes);

}  // namespace tailrace::engine::f120
