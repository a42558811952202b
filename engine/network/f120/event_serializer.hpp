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
// Requires: bytes that serialize_event made.
// Of an event that a receiver makes itself: its used part alone, where a sender sends its allocation.
[[nodiscard]] EventBytes serialize_event_at_receiver(const RuntimeEvent& event);
[[nodiscard]] RuntimeEvent parse_event(std::span<const std::byte> bytes);

}  // namespace tailrace::engine::f120
