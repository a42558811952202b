// Writes the items of a `_metadata` file one after another.
//
// Java DataOutputStream (spec metadata-format.md 1).
#pragma once

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
    std::byte* out = extend(values.size() * sizeof(std::int64_t));
    for (const std::int64_t value : values) out = put(out, value);
  }

  // Requires: below 2^31.
  void count(std::size_t count);
  void raw(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  void bytes32(std::span<const std::byte> bytes) {
    count(bytes.size());
    raw(bytes);
  }
  // Requires: below 64 KiB in Java's encoding.
  void utf(std::string_view text);

  [[nodiscard]] std::size_t size() const { return size_; }
  // For so many bytes in all.
  void make_room(std::size_t bytes) {
    if (bytes > bytes_.size()) bytes_.resize(bytes);
  }
  // For `count` more items of about this size.
  void make_room(std::size_t count, std::size_t bytes_each);
  [[nodiscard]] std::vector<std::byte> take() {
    bytes_.resize(std::exchange(size_, 0));
    return std::move(bytes_);
  }

 private:
  void encoded_utf(std::string_view encoded);
  // Room is made for many items at once, which costs less than growing with each.
  [[nodiscard]] std::byte* extend(std::size_t by) {
    if (by > bytes_.size() - size_) grow(by);
    std::byte* const at = bytes_.data() + size_;
    size_ += by;
    return at;
  }
  void grow(std::size_t by);
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
  std::size_t size_ = 0;  // what is behind it has not been written yet
};

}  // namespace tailrace::engine::metadata
