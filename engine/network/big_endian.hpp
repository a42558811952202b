// Integers as Java's DataOutput writes them.
//
// The compilers of the house target little-endian machines.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tailrace::engine {

static_assert(std::endian::native == std::endian::little);

inline void put_int32(std::byte* at, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}
inline void put_int64(std::byte* at, std::uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(at, &value, sizeof value);
}
[[nodiscard]] inline std::uint32_t get_int32(const std::byte* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}
[[nodiscard]] inline std::uint64_t get_int64(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

}  // namespace tailrace::engine
