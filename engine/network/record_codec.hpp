// Records as bytes: length 4, tag 1, timestamp 8, value (spec barriers.md 6.2).
//
// Flink StreamElementSerializer over StringSerializer or TupleSerializer<String, Long>. The length
// counts what follows it. A string is its number of UTF-16 code units plus one, then each unit, all
// as variable-length integers of 7 bits a byte, lowest first (Flink StringValue.writeString).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/network/big_endian.hpp"
#include "engine/record.hpp"

namespace tailrace::engine {

inline constexpr std::size_t kLengthBytes = 4;
// Flink StreamElementSerializer.TAG_REC_WITH_TIMESTAMP.
inline constexpr std::byte kTagRecordWithTimestamp{0};
// Length, tag, timestamp, the longest string length, a long.
inline constexpr std::size_t kRecordOverheadMax = kLengthBytes + 1 + 8 + 5 + 8;

// Bytes of whole stream elements on the wire, for a value of that many bytes: length, tag, and what
// StreamElementSerializer writes of the element (spec barriers.md 6.2).
inline constexpr std::size_t kTagBytes = 1;
inline constexpr std::size_t kTimestampBytes = 8;
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t value, bool with_timestamp) {
  return kLengthBytes + kTagBytes + (with_timestamp ? kTimestampBytes : 0) + value;
}
inline constexpr std::size_t kWatermarkBytes = kLengthBytes + kTagBytes + kTimestampBytes;
// An int.
inline constexpr std::size_t kWatermarkStatusBytes = kLengthBytes + kTagBytes + 4;
// When it was emitted, the operator's id, the subtask.
inline constexpr std::size_t kLatencyMarkerBytes =
    kLengthBytes + kTagBytes + kTimestampBytes + 16 + 4;

[[nodiscard]] inline bool is_ascii(const char* text, std::size_t size) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  std::uint64_t seen = 0;
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text + at, sizeof word);
    seen |= word;
  }
  for (; at < size; ++at) seen |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at]));
  return (seen & kHighBits) == 0;
}

inline std::byte* put_varint(std::byte* at, std::uint32_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::byte>(value);
  return at;
}

// Writes the whole record. Requires: record.text is ASCII and there is room for its size and
// kRecordOverheadMax. Returns: the end of what was written.
inline std::byte* put_ascii_record(std::byte* at, const Record& record, RecordType type) {
  std::byte* const start = at;
  at[kLengthBytes] = kTagRecordWithTimestamp;
  put_int64(at + kLengthBytes + 1, static_cast<std::uint64_t>(record.created.ns));
  at = put_varint(at + kLengthBytes + 9, static_cast<std::uint32_t>(record.text.size()) + 1);
  if (!record.text.empty()) std::memcpy(at, record.text.data(), record.text.size());
  at += record.text.size();
  if (type == RecordType::kStringLong) {
    put_int64(at, static_cast<std::uint64_t>(record.number));
    at += 8;
  }
  put_int32(start,
            static_cast<std::uint32_t>(at - start) - static_cast<std::uint32_t>(kLengthBytes));
  return at;
}

// Appends the whole record, whatever its text. Malformed UTF-8 is read as
// java_string_hash reads it: text and hash survive the way.
void append_record(std::vector<std::byte>& out, const Record& record, RecordType type);

// Reads what follows the length. `text` points into `payload` if it is ASCII, else into `scratch`.
// Requires: bytes that one of the functions above made.
[[nodiscard]] Record parse_record(std::span<const std::byte> payload, RecordType type,
                                  std::string& scratch);

}  // namespace tailrace::engine
