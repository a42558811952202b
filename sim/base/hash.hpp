// The 64-bit hashes of the house: one running hash for traces, one over bytes.
//
// Same value on every compiler and byte order: words are fed field by field, never as memory images
// of structs. Not cryptographic.
#pragma once

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
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 8 && at + i < bytes.size(); ++i) {
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
      }
      add(word);
    }
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

inline std::uint64_t hash_bytes(std::string_view bytes) {
  RunningHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace tailrace::base
