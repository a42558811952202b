// The 64-bit hashes of the house: one running hash for traces, one over bytes.
//
// Same value on every compiler and byte order: words are fed field by field, never as memory images
// of structs. Not cryptographic.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tailrace::base {

// 64 x 64 -> 128 bit product folded by xor: one multiplication mixes all bits of both words.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A running hash. Order matters; each word costs one multiplication.
class RunningHash {
 public:
  constexpr void add(std::uint64_t word) {
    state_ =
        mix(state_ ^ word ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL) + 0x2545f4914f6cdd1dULL;
  }
  constexpr void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  constexpr void add(std::uint32_t word) { add(static_cast<std::uint64_t>(word)); }
  constexpr void add(std::int32_t word) { add(static_cast<std::int64_t>(word)); }

  // Length first, then the bytes in little-endian words, the last one padded with zeros.
  void add(std::string_view bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) add(little_endian_word(bytes.data() + at));
    if (at == bytes.size()) return;
    // Short texts are the usual case: the rest without a loop over its bytes.
    const char* const rest = bytes.data() + at;
    const std::size_t left = bytes.size() - at;
    if (left >= 4) {
      const std::uint64_t low = little_endian_half(rest);
      const std::uint64_t high = little_endian_half(rest + left - 4);
      add(low | high << (8 * (left - 4)));
    } else {
      const auto byte = [rest](std::size_t i) {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
      };
      add(byte(0) | byte(left / 2) | byte(left - 1));
    }
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  static std::uint64_t little_endian_word(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }
  static std::uint64_t little_endian_half(const char* at) {
    std::uint32_t half;
    std::memcpy(&half, at, sizeof half);
    return std::endian::native == std::endian::little ? half : __builtin_bswap32(half);
  }

  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

inline std::uint64_t hash_bytes(std::string_view bytes) {
  RunningHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace tailrace::base
