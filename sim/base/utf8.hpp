// UTF-8 as Java's strings see it: UTF-16 units.
//
// One set of rules for hashing, for streams and for the wire; were there two, a key could change its
// key group on the way. Surrogates that are encoded one by one stay units, C0 80 is U+0000 (modified
// UTF-8), and any byte that starts nothing well-formed is one U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tailrace::base {

struct CodePoint {
  std::uint32_t code;  // a surrogate if one was encoded on its own
  std::size_t bytes;   // that it takes, at least 1
};

// The code point at the start. Requires: not empty.
[[nodiscard]] constexpr CodePoint decode_utf8(std::string_view text) {
  const auto at = [text](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;  // 0 continues nothing
  };
  const auto continues = [&at](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const auto tail = [&at](std::size_t i) { return at(i) & 0x3FU; };

  const std::uint32_t first = at(0);
  if (first < 0x80) return {first, 1};
  if (first == 0xC0 && at(1) == 0x80) return {0, 2};
  if (first >= 0xC2 && first <= 0xDF && continues(1)) return {(first & 0x1FU) << 6 | tail(1), 2};
  if ((first & 0xF0U) == 0xE0U && continues(1) && continues(2)) {
    const std::uint32_t code = (first & 0x0FU) << 12 | tail(1) << 6 | tail(2);
    if (code >= 0x800) return {code, 3};
  }
  if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    const std::uint32_t code = (first & 0x07U) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4};
  }
  return {0xFFFD, 1};
}

// Calls `unit(std::uint32_t)` for each UTF-16 unit.
template <typename Unit>
constexpr void for_each_utf16_unit(std::string_view text, Unit unit) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    if (point.code < 0x10000) {
      unit(point.code);
    } else {
      unit(0xD800U + ((point.code - 0x10000U) >> 10));
      unit(0xDC00U + ((point.code - 0x10000U) & 0x3FFU));
    }
  }
}

// A lone surrogate is encoded like any other code point below U+10000.
inline void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
    return;
  }
  if (code < 0x800) {
    put(0xC0U | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0U | code >> 12);
    } else {
      put(0xF0U | code >> 18);
      put(0x80U | (code >> 12 & 0x3FU));
    }
    put(0x80U | (code >> 6 & 0x3FU));
  }
  put(0x80U | (code & 0x3FU));
}

}  // namespace tailrace::base
