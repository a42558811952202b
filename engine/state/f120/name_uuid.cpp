#include "engine/state/f120/name_uuid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tailrace::engine {
namespace {

using Block = std::array<std::uint8_t, 64>;
using Digest = std::array<std::uint8_t, 16>;

// RFC 1321, 3.4: floor(2^32 * abs(sin(i + 1))), written out because results must not hang on a
// mathematics library.
constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
// One row for each of the four rounds.
constexpr std::array<std::array<int, 4>, 4> kTurns = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

class Md5 {
 public:
  void add(const Block& block) {
    auto [a, b, c, d] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      std::uint32_t mixed = 0;
      std::size_t word = 0;
      switch (i / 16) {
        case 0:
          mixed = (b & c) | (~b & d);
          word = i;
          break;
        case 1:
          mixed = (d & b) | (~d & c);
          word = (5 * i + 1) % 16;
          break;
        case 2:
          mixed = b ^ c ^ d;
          word = (3 * i + 5) % 16;
          break;
        default:
          mixed = c ^ (b | ~d);
          word = (7 * i) % 16;
          break;
      }
      std::uint32_t little_endian = 0;
      for (std::size_t byte = 0; byte < 4; ++byte) {
        little_endian |= std::uint32_t{block[4 * word + byte]} << (8 * byte);
      }
      const std::uint32_t turned =
          std::rotl(a + mixed + kSines[i] + little_endian, kTurns[i / 16][i % 4]);
      a = d;
      d = c;
      c = b;
      b += turned;
    }
    state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
  }
  [[nodiscard]] Digest digest() const {
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
      digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (8 * (i % 4)));
    }
    return digest;
  }

 private:
  std::array<std::uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
};

Digest md5(std::string_view text) {
  Md5 md5;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  Block block{};
  while (text.size() >= block.size()) {
    std::copy_n(text.begin(), block.size(), block.begin());
    md5.add(block);
    text.remove_prefix(block.size());
  }
  // The end: a one bit, zeroes, and the length in the last eight bytes.
  constexpr std::size_t kLengthAt = 56;
  block.fill(0);
  std::copy(text.begin(), text.end(), block.begin());
  block[text.size()] = 0x80;
  if (text.size() >= kLengthAt) {
    md5.add(block);
    block.fill(0);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    block[kLengthAt + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  md5.add(block);
  return md5.digest();
}

}  // namespace

std::string name_uuid(std::string_view name) {
  Digest id = md5(name);
  id[6] = static_cast<std::uint8_t>((id[6] & 0x0F) | 0x30);  // version 3
  id[8] = static_cast<std::uint8_t>((id[8] & 0x3F) | 0x80);  // the variant of RFC 4122
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[id[i] >> 4];
    text += kDigits[id[i] & 15];
  }
  return text;
}

}  // namespace tailrace::engine
