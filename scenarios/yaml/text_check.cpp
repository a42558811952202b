#include "scenarios/yaml/text_check.hpp"

#include <string>

namespace tailrace::scenarios::yaml {
namespace {

// Length of the UTF-8 sequence at `at`, or 0 if there is no valid one (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xbf; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (lead == 0xed && byte(1) > 0x9f) return 0;  // surrogate
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (lead == 0xf0 && byte(1) < 0x90) return 0;  // overlong
    if (lead == 0xf4 && byte(1) > 0x8f) return 0;  // beyond U+10FFFF
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string hex(unsigned byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

}  // namespace

bool check_text(std::string_view text, std::int32_t source, Diagnostics& diagnostics) {
  Position here{source, 1, 1};
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n') {
      ++here.line;
      here.column = 1;
      ++at;
      continue;
    }
    if ((byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7f) {
      diagnostics.error(here, "the byte " + hex(byte) + " is no text: is this a binary file?");
      return false;
    }
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      diagnostics.error(here,
                        "the byte " + hex(byte) + " is not valid UTF-8: is this a binary file?");
      return false;
    }
    at += length;
    ++here.column;
  }
  return true;
}

}  // namespace tailrace::scenarios::yaml
