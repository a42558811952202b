#include "engine/state/java_hash.hpp"

#include <bit>
#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

struct Decoded {
  std::uint32_t code_point;  // a surrogate if one was encoded on its own
  std::size_t length;        // bytes consumed, at least 1
};

// Decodes the sequence at the start of `bytes`. Requires: not empty.
Decoded decode(std::string_view bytes) {
  const auto at = [bytes](std::size_t i) -> std::uint32_t {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;  // 0 continues nothing
  };
  const auto continues = [&at](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };

  const std::uint32_t first = at(0);
  if (first < 0x80) return {first, 1};
  if (first == 0xC0 && at(1) == 0x80) return {0, 2};
  if (first >= 0xC2 && first <= 0xDF && continues(1)) {
    return {((first & 0x1FU) << 6) | (at(1) & 0x3FU), 2};
  }
  if ((first & 0xF0U) == 0xE0U && continues(1) && continues(2)) {
    const std::uint32_t code_point =
        ((first & 0x0FU) << 12) | ((at(1) & 0x3FU) << 6) | (at(2) & 0x3FU);
    if (code_point >= 0x800) return {code_point, 3};
  }
  if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    const std::uint32_t code_point = ((first & 0x07U) << 18) | ((at(1) & 0x3FU) << 12) |
                                     ((at(2) & 0x3FU) << 6) | (at(3) & 0x3FU);
    if (code_point >= 0x10000 && code_point <= 0x10FFFF) return {code_point, 4};
  }
  return {kReplacement, 1};
}

std::int32_t as_signed(std::uint32_t bits) {
  return static_cast<std::int32_t>(bits);
}

}  // namespace

std::int32_t java_string_hash(std::string_view utf8) {
  std::uint32_t hash = 0;
  std::size_t at = 0;
  while (at < utf8.size()) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    if (byte < 0x80) {  // almost every byte of almost every key
      hash = 31 * hash + byte;
      ++at;
      continue;
    }
    const Decoded decoded = decode(utf8.substr(at));
    at += decoded.length;
    if (decoded.code_point < 0x10000) {
      hash = 31 * hash + decoded.code_point;
    } else {
      const std::uint32_t offset = decoded.code_point - 0x10000;
      hash = 31 * hash + (0xD800U + (offset >> 10));
      hash = 31 * hash + (0xDC00U + (offset & 0x3FFU));
    }
  }
  return as_signed(hash);
}

std::int32_t java_string_hash(std::u16string_view units) {
  std::uint32_t hash = 0;
  for (const char16_t unit : units) hash = 31 * hash + unit;
  return as_signed(hash);
}

std::int32_t java_float_hash(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return as_signed(is_nan ? 0x7FC00000U : bits);
}

std::int32_t java_double_hash(double value) {
  return java_double_hash_of_bits(std::bit_cast<std::uint64_t>(value));
}

std::int32_t java_double_hash_of_bits(std::uint64_t bits) {
  const bool is_nan = (bits & 0x7FFFFFFFFFFFFFFFU) > 0x7FF0000000000000U;
  return java_long_hash(static_cast<std::int64_t>(is_nan ? 0x7FF8000000000000U : bits));
}

std::int32_t java_tuple_hash(std::span<const std::int32_t> field_hashes) {
  TAILRACE_ASSERT(!field_hashes.empty());
  auto hash = static_cast<std::uint32_t>(field_hashes.front());
  for (const std::int32_t field : field_hashes.subspan(1)) {
    hash = 31 * hash + static_cast<std::uint32_t>(field);
  }
  return as_signed(hash);
}

std::int32_t java_list_hash(std::span<const std::int32_t> element_hashes) {
  std::uint32_t hash = 1;
  for (const std::int32_t element : element_hashes) {
    hash = 31 * hash + static_cast<std::uint32_t>(element);
  }
  return as_signed(hash);
}

}  // namespace tailrace::engine
