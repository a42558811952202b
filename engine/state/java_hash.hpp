// The hash codes that Java gives to keys: they decide which subtask owns which key.
//
// java.lang.String.hashCode and its like (spec rescale.md 2.3). All arithmetic wraps at 32 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tailrace::engine {

// Hash of a string given in UTF-8: over its UTF-16 code units, so that a supplementary character
// counts as two.
//
// Also takes what Java writes but UTF-8 forbids: surrogates encoded one by one (three bytes each)
// count as the unit that they encode, and C0 80 as U+0000 (modified UTF-8). Any other byte that
// starts no well-formed sequence counts as one U+FFFD.
// Cost: O(bytes), no allocation.
[[nodiscard]] std::int32_t java_string_hash(std::string_view utf8);
[[nodiscard]] std::int32_t java_string_hash(std::u16string_view units);

// Integer, Short and Byte are their own hash; a Character is its code unit.
[[nodiscard]] constexpr std::int32_t java_char_hash(char16_t unit) {
  return static_cast<std::int32_t>(unit);
}

[[nodiscard]] constexpr std::int32_t java_long_hash(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits ^ (bits >> 32)));
}

[[nodiscard]] constexpr std::int32_t java_boolean_hash(bool value) {
  return value ? 1231 : 1237;
}

// By bits: -0.0 differs from 0.0, all NaNs are one.
[[nodiscard]] std::int32_t java_float_hash(float value);
[[nodiscard]] std::int32_t java_double_hash(double value);
// The same from raw bits, for which no register may quieten a NaN on the way.
[[nodiscard]] std::int32_t java_double_hash_of_bits(std::uint64_t bits);

[[nodiscard]] constexpr std::int32_t java_uuid_hash(std::uint64_t most, std::uint64_t least) {
  return java_long_hash(static_cast<std::int64_t>(most ^ least));
}

// Flink TupleN: starts at the first field, so a Tuple1 hashes as its field. A null field counts 0.
// Requires: at least one field.
[[nodiscard]] std::int32_t java_tuple_hash(std::span<const std::int32_t> field_hashes);
// java.util.List and Arrays.hashCode: starts at 1.
[[nodiscard]] std::int32_t java_list_hash(std::span<const std::int32_t> element_hashes);

}  // namespace tailrace::engine
