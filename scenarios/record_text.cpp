#include "scenarios/record_text.hpp"

#include <charconv>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// Of a string's length on the wire, which counts one more than its characters.
std::int64_t length_bytes(std::int64_t characters) {
  std::int64_t bytes = 1;
  for (std::int64_t rest = (characters + 1) / 128; rest > 0; rest /= 128) ++bytes;
  return bytes;
}

}  // namespace

std::int64_t text_units(std::int64_t wire_bytes) {
  TAILRACE_ASSERT(wire_bytes >= kBytesBesideText + 2);
  const std::int64_t rest = wire_bytes - kBytesBesideText;
  std::int64_t characters = rest - 1;
  while (characters + length_bytes(characters) > rest) --characters;
  return characters;
}

std::string filled_text(std::int64_t wire_bytes, char fill) {
  const std::int64_t characters = text_units(wire_bytes);
  std::string text(static_cast<std::size_t>(characters), fill);
  if (kBytesBesideText + length_bytes(characters) + characters < wire_bytes) {
    text.back() = '\xc3';  // U+00E4, one character of two bytes here and there
    text += '\xa4';
  }
  return text;
}

void put_key(std::string& text, std::int64_t key) {
  char* const end = text.data() + text.size();
  const auto [digits_end, error] = std::to_chars(text.data(), end, key);
  TAILRACE_ASSERT(error == std::errc() && key >= 0);
  if (digits_end != end) *digits_end = ' ';
}

}  // namespace tailrace::scenarios
