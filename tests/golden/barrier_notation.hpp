// Items in the notation of spec barriers.md 10.1: `b0`, `#1@0`, `#1T100~7@0`, `x1@0`, `E0`, `A1T100@0`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tailrace::golden {

struct NotedItem {
  enum class Kind : std::uint8_t { kBuffer, kBarrier, kAnnouncement, kCancel, kEndOfPartition };
  // Of a barrier, and of the one that is announced.
  enum class Mode : std::uint8_t {
    kAligned,
    kTimeoutable,    // T
    kForcedAligned,  // F
    kUnaligned,      // U
    kSavepoint,      // S
  };

  Kind kind = Kind::kBuffer;
  std::int32_t channel = 0;  // -1: the token names none
  std::int64_t checkpoint = 0;
  Mode mode = Mode::kAligned;
  std::int64_t timeout_ms = 0;  // of T and F
  std::int64_t age_ms = 0;      // how long before now the checkpoint was started
};

// Throws MalformedCase for what is not an item. The channel may be left out where all are meant.
NotedItem parse_item(std::string_view token);

}  // namespace tailrace::golden
