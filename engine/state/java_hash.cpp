#include "engine/state/java_hash.hpp"

#include <bit>
#include <cstddef>

#include "sim/base/assert.hpp"
#include "sim/base/utf8.hpp"

namespace tailrace::engine {
namespace {

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
    const base::CodePoint point = base::decode_utf8(utf8.substr(at));
    base::for_each_utf16_unit(utf8.substr(at, point.bytes),
                              [&hash](std::uint32_t unit) { hash = 31 * hash + unit; });
    at += point.bytes;
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
