// Reading and writing the bytes of state streams.
//
// Flink DataOutputView, DataInputView with StringValue's encoding (spec state.md 0): integers are
// big-endian two's complement, UTF is java.io.DataOutput's, a string is length + 1 and then its
// UTF-16 units, all as 7-bit groups with the low one first.
//
// Strings are UTF-8 in memory. What is not well-formed there is written as U+FFFD, as Java's decoder
// would have read it; surrogates encoded one by one (three bytes) survive a round trip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::engine {

// A stream that is not what it should be: Flink's IllegalStateException or IOException at a restore.
// Thrown and caught inside engine/state; at the door of the room it is an error string.
class RestoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class DataOutputView {
 public:
  [[nodiscard]] std::int64_t position() const { return static_cast<std::int64_t>(size_); }

  void write_bool(bool value) { *grow(1) = std::byte{value}; }
  void write_short(std::int16_t value) { write_big_endian(static_cast<std::uint16_t>(value)); }
  void write_int(std::int32_t value) { write_big_endian(static_cast<std::uint32_t>(value)); }
  void write_long(std::int64_t value) { write_big_endian(static_cast<std::uint64_t>(value)); }
  void write_bytes(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }
  // Modified UTF-8 behind a length of two bytes. Requires: at most 65535 bytes.
  void write_utf(std::string_view text);
  // Flink's StringSerializer.
  void write_string(std::string_view utf8);

  // Leaves the view empty.
  [[nodiscard]] std::vector<std::byte> take();

 private:
  template <typename U>
  void write_big_endian(U value) {
    std::byte* at = grow(sizeof(U));
    for (std::size_t i = sizeof(U); i-- > 0; value = static_cast<U>(value >> 7 >> 1)) {
      at[i] = static_cast<std::byte>(value & 0xFFU);
    }
  }
  void write_variable_length(std::uint32_t value);
  // Makes room for `count` more bytes and returns the first of them.
  std::byte* grow(std::size_t count) {
    if (buffer_.size() - size_ < count) enlarge(count);
    std::byte* at = buffer_.data() + size_;
    size_ += count;
    return at;
  }
  void enlarge(std::size_t count);

  std::vector<std::byte> buffer_;  // its size is the capacity; size_ bytes are written
  std::size_t size_ = 0;
};

// Borrows the bytes. Every read beyond their end throws RestoreError.
class DataInputView {
 public:
  explicit DataInputView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::int64_t position() const { return static_cast<std::int64_t>(position_); }
  // Errors: RestoreError outside the stream.
  void seek(std::int64_t position);

  [[nodiscard]] bool read_bool() { return read_big_endian<std::uint8_t>() != 0; }
  [[nodiscard]] std::int16_t read_short() {
    return static_cast<std::int16_t>(read_big_endian<std::uint16_t>());
  }
  [[nodiscard]] std::int32_t read_int() {
    return static_cast<std::int32_t>(read_big_endian<std::uint32_t>());
  }
  [[nodiscard]] std::int64_t read_long() {
    return static_cast<std::int64_t>(read_big_endian<std::uint64_t>());
  }
  [[nodiscard]] std::span<const std::byte> read_bytes(std::size_t count);
  [[nodiscard]] std::string read_utf();
  // Appends to nothing: `text` is replaced, so that its capacity serves again.
  void read_string(std::string& text);

 private:
  template <typename U>
  U read_big_endian() {
    U value = 0;
    for (const std::byte byte : read_bytes(sizeof(U))) {
      value = static_cast<U>(static_cast<U>(value << 7 << 1) | std::to_integer<U>(byte));
    }
    return value;
  }
  std::uint32_t read_variable_length();

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace tailrace::engine
