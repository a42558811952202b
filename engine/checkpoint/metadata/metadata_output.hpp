// Writes the items of a `_metadata` file one after another.
//
// Java DataOutputStream (spec metadata-format.md 1).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace::engine::metadata {

// Small items gather in a chunk that stays in the processor's cache; the bytes behind it are written
// once, and never filled with zeroes before.
class MetadataOutput {
 public:
  void u8(std::uint8_t value) { *extend(1) = std::byte{value}; }
  template <typename Integer>
  void big_endian(Integer value) {
    put(extend(sizeof(Integer)), value);
  }
  void u16(std::uint16_t value) { big_endian(value); }
  void u32(std::uint32_t value) { big_endian(value); }
  void i32(std::int32_t value) { big_endian(value); }
  void i64(std::int64_t value) { big_endian(value); }
  void i64s(std::span<const std::int64_t> values) {
    for (; values.size() > kAtOnce; values = values.subspan(kAtOnce)) {
      some_i64s(values.first(kAtOnce));
    }
    some_i64s(values);
  }

  // Requires: below 2^31.
  void count(std::size_t count);
  void raw(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    if (bytes.size() > kChunk) return raw_behind_chunk(bytes);
    std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  void bytes32(std::span<const std::byte> bytes) {
    count(bytes.size());
    raw(bytes);
  }
  // Requires: below 64 KiB in Java's encoding.
  void utf(std::string_view text);

  [[nodiscard]] std::size_t size() const { return bytes_.size() + in_chunk_; }
  // For so many bytes in all.
  void make_room(std::size_t bytes) { bytes_.reserve(bytes); }
  // For `count` more items of about this size.
  void make_room(std::size_t count, std::size_t bytes_each);
  [[nodiscard]] std::vector<std::byte> take() {
    flush();
    return std::move(bytes_);
  }

 private:
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kAtOnce = kChunk / sizeof(std::int64_t);

  void encoded_utf(std::string_view encoded);
  void some_i64s(std::span<const std::int64_t> values) {
    std::byte* out = extend(values.size() * sizeof(std::int64_t));
    for (const std::int64_t value : values) out = put(out, value);
  }
  // Requires: at most kChunk.
  [[nodiscard]] std::byte* extend(std::size_t by) {
    if (by > kChunk - in_chunk_) flush();
    std::byte* const at = chunk_.data() + in_chunk_;
    in_chunk_ += by;
    return at;
  }
  void flush();
  void raw_behind_chunk(std::span<const std::byte> bytes);
  // Returns: behind the value.
  template <typename Integer>
  static std::byte* put(std::byte* out, Integer value) {
    auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    if constexpr (std::endian::native == std::endian::little) {
      if constexpr (sizeof(bits) == 2) bits = __builtin_bswap16(bits);
      if constexpr (sizeof(bits) == 4) bits = __builtin_bswap32(bits);
      if constexpr (sizeof(bits) == 8) bits = __builtin_bswap64(bits);
    }
    std::memcpy(out, &bits, sizeof(bits));
    return out + sizeof(bits);
  }

  std::vector<std::byte> bytes_;
  std::size_t in_chunk_ = 0;
  std::array<std::byte, kChunk> chunk_;
};

}  // namespace tailrace::engine::metadata
