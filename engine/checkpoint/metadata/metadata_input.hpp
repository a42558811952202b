// Reads the items of a `_metadata` file one after another, safe on hostile bytes.
//
// Java DataInputStream (spec metadata-format.md 1 and 12). The first error sticks: what is read after
// it is zero or empty, and whoever loops asks ok().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"

namespace tailrace::engine::metadata {

class MetadataInput {
 public:
  explicit MetadataInput(std::span<const std::byte> bytes) : bytes_(bytes), end_(bytes.size()) {}

  [[nodiscard]] bool ok() const { return error_.message.empty(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return end_ - position_; }
  [[nodiscard]] const MetadataError& error() const { return error_; }
  [[nodiscard]] bool at_end() const { return position_ == end_; }

  // `offset`: where the bad item starts.
  void fail(std::size_t offset, std::string message);

  template <typename Integer>
  Integer big_endian() {
    if (!need(sizeof(Integer))) return 0;
    std::make_unsigned_t<Integer> bits = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      bits = static_cast<std::make_unsigned_t<Integer>>(
          (static_cast<std::uint64_t>(bits) << 8) |
          std::to_integer<std::uint64_t>(bytes_[position_ + i]));
    }
    position_ += sizeof(Integer);
    return static_cast<Integer>(bits);
  }
  std::uint8_t u8() { return big_endian<std::uint8_t>(); }
  std::uint16_t u16() { return big_endian<std::uint16_t>(); }
  std::uint32_t u32() { return big_endian<std::uint32_t>(); }
  std::int32_t i32() { return big_endian<std::int32_t>(); }
  std::int64_t i64() { return big_endian<std::int64_t>(); }

  // Numbers that must not be below `lowest`.
  std::int32_t i32_from(std::int32_t lowest, const char* what);
  std::int64_t i64_from(std::int64_t lowest, const char* what);
  // One byte, or four, that are 0 or 1.
  bool bool8(const char* what);
  bool flag32(const char* what);

  // A number of items of at least `smallest` bytes each, which therefore fit.
  std::size_t count(std::size_t smallest, const char* what);
  std::span<const std::byte> raw(std::size_t length);
  std::vector<std::byte> bytes32(const char* what);
  std::string utf();
  std::vector<std::int64_t> offsets(std::size_t number, std::int64_t lowest);

  // Lets the input end `length` bytes from here until `leave` gets what this returned.
  // Requires: length <= remaining().
  [[nodiscard]] std::size_t enter(std::size_t length);
  void leave(std::size_t outer_end) { end_ = outer_end; }

 private:
  bool need(std::size_t length);

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::size_t end_;
  MetadataError error_;
};

}  // namespace tailrace::engine::metadata
