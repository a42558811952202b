// The fields of messages, for those who write and read frames: netty_message.cpp and the formats of
// the two generations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/network/big_endian.hpp"
#include "engine/network/netty_message.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

inline constexpr std::uint32_t kMessageMagic = 0xBADC0FFE;  // Flink NettyMessage.MAGIC_NUMBER
inline constexpr std::size_t kFrameHeaderBytes = 9;
inline constexpr std::size_t kMessageIdBytes = 16;  // Flink AbstractID

class MessageWriter {
 public:
  // Writes the header of the frame. Requires: the message has its final size.
  MessageWriter(WireMessage& message, MessageKind kind) : at_(message.data()) {
    int32(static_cast<std::int32_t>(message.size()));
    put_int32(at_, kMessageMagic);
    at_ += 4;
    byte(static_cast<std::uint8_t>(kind));
  }
  void byte(std::uint8_t value) { *at_++ = static_cast<std::byte>(value); }
  void int32(std::int32_t value) {
    put_int32(at_, static_cast<std::uint32_t>(value));
    at_ += 4;
  }
  void int64(std::uint64_t value) {
    put_int64(at_, value);
    at_ += 8;
  }
  void zeros(std::size_t count) {
    std::memset(at_, 0, count);
    at_ += count;
  }
  void channel(InputChannelId id) {
    int64(0);
    int64(id);
  }
  void bytes(std::span<const std::byte> payload) {
    if (!payload.empty()) std::memcpy(at_, payload.data(), payload.size());
  }

 private:
  std::byte* at_;
};

class MessageReader {
 public:
  // Requires: a message of that kind, which MessageWriter wrote.
  MessageReader(const WireMessage& message, MessageKind kind) : bytes_(message.bytes()) {
    TAILRACE_ASSERT(kind_of(message) == kind);
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(bytes_[at_++]); }
  std::int32_t int32() {
    at_ += 4;
    return static_cast<std::int32_t>(get_int32(bytes_.data() + at_ - 4));
  }
  std::uint64_t int64() {
    at_ += 8;
    return get_int64(bytes_.data() + at_ - 8);
  }
  void skip(std::size_t count) { at_ += count; }
  InputChannelId channel() {
    skip(8);
    return int64();
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_.subspan(at_); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = kFrameHeaderBytes;
};

}  // namespace tailrace::engine
