// Writes the items of a `_metadata` file one after another.
//
// Java DataOutputStream (spec metadata-format.md 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace::engine::metadata {

class MetadataOutput {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
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
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void bytes32(std::span<const std::byte> bytes) {
    count(bytes.size());
    raw(bytes);
  }
  // Requires: below 64 KiB in Java's encoding.
  void utf(std::string_view text);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  // For `count` more items of about this size.
  void make_room(std::size_t count, std::size_t bytes_each);
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void encoded_utf(std::string_view encoded);
  [[nodiscard]] std::byte* extend(std::size_t by) {
    bytes_.resize(bytes_.size() + by);
    return bytes_.data() + (bytes_.size() - by);
  }
  // Returns: behind the value.
  template <typename Integer>
  static std::byte* put(std::byte* out, Integer value) {
    const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    for (int shift = 8 * (static_cast<int>(sizeof(Integer)) - 1); shift >= 0; shift -= 8) {
      *out++ = static_cast<std::byte>((bits >> shift) & 0xFF);
    }
    return out;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace tailrace::engine::metadata
