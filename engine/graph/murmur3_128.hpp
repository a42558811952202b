// MurmurHash3 x64 128, seed 0: what Flink derives operator ids with (spec rescale.md S-1.4, S-1.5).
//
// Flink 1.10 StreamGraphHasherV2 uses Guava's Hashing.murmur3_128(0); the sixteen result bytes are
// h1 and h2 in little-endian order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tailrace::engine {

[[nodiscard]] std::array<std::uint8_t, 16> murmur3_128(std::string_view bytes);

}  // namespace tailrace::engine
