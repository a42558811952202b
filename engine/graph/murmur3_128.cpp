#include "engine/graph/murmur3_128.hpp"

#include <bit>
#include <cstddef>

namespace tailrace::engine {
namespace {

// Austin Appleby's MurmurHash3_x64_128 constants.
constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;

std::uint64_t load_little_endian(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

constexpr std::uint64_t mix_k1(std::uint64_t k) {
  return std::rotl(k * kC1, 31) * kC2;
}
constexpr std::uint64_t mix_k2(std::uint64_t k) {
  return std::rotl(k * kC2, 33) * kC1;
}

constexpr std::uint64_t finalise(std::uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33;
  return k;
}

}  // namespace

std::array<std::uint8_t, 16> murmur3_128(std::string_view bytes) {
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;
  const std::size_t length = bytes.size();
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    h1 ^= mix_k1(load_little_endian(bytes.substr(0, 8)));
    h1 = std::rotl(h1, 27) + h2;
    h1 = h1 * 5 + 0x52dce729;
    h2 ^= mix_k2(load_little_endian(bytes.substr(8, 8)));
    h2 = std::rotl(h2, 31) + h1;
    h2 = h2 * 5 + 0x38495ab5;
  }
  if (bytes.size() > 8) h2 ^= mix_k2(load_little_endian(bytes.substr(8)));
  if (!bytes.empty()) h1 ^= mix_k1(load_little_endian(bytes.substr(0, 8)));

  h1 ^= length;
  h2 ^= length;
  h1 += h2;
  h2 += h1;
  h1 = finalise(h1);
  h2 = finalise(h2);
  h1 += h2;
  h2 += h1;

  std::array<std::uint8_t, 16> result{};
  for (std::size_t i = 0; i < 8; ++i) {
    result[i] = static_cast<std::uint8_t>(h1 >> (8 * i));
    result[8 + i] = static_cast<std::uint8_t>(h2 >> (8 * i));
  }
  return result;
}

}  // namespace tailrace::engine
