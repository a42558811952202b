#include "engine/checkpoint/metadata/modified_utf8.hpp"

#include <cstdint>

namespace tailrace::engine {
namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

char to_char(std::uint32_t byte) {
  return static_cast<char>(static_cast<unsigned char>(byte));
}

// One UTF-16 unit in one to three bytes; as UTF-8 has it too, for what is no surrogate.
void append_unit(std::string& out, std::uint32_t unit) {
  if (unit < 0x80) {
    out += to_char(unit);
  } else if (unit < 0x800) {
    out += to_char(0xC0 | (unit >> 6));
    out += to_char(0x80 | (unit & 0x3F));
  } else {
    out += to_char(0xE0 | (unit >> 12));
    out += to_char(0x80 | ((unit >> 6) & 0x3F));
    out += to_char(0x80 | (unit & 0x3F));
  }
}

void append_pair(std::string& out, std::uint32_t high, std::uint32_t low) {
  const std::uint32_t point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  out += to_char(0xF0 | (point >> 18));
  out += to_char(0x80 | ((point >> 12) & 0x3F));
  out += to_char(0x80 | ((point >> 6) & 0x3F));
  out += to_char(0x80 | (point & 0x3F));
}

bool is_high_half(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_half(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

}  // namespace

std::string to_modified_utf8(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const std::uint32_t lead = byte_at(utf8, at);
    if (lead == 0) {
      out += to_char(0xC0);
      out += to_char(0x80);
    } else if (lead < 0xF0 || at + 3 >= utf8.size()) {
      out += utf8[at];
    } else {
      const std::uint32_t point = ((lead & 0x07) << 18) | ((byte_at(utf8, at + 1) & 0x3F) << 12) |
                                  ((byte_at(utf8, at + 2) & 0x3F) << 6) |
                                  (byte_at(utf8, at + 3) & 0x3F);
      append_unit(out, 0xD800 + ((point - 0x10000) >> 10));
      append_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
      at += 3;
    }
  }
  return out;
}

std::optional<std::string> from_modified_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  std::uint32_t high = 0;  // a high half that waits for its low half; 0: none
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint32_t lead = byte_at(bytes, at);
    const std::size_t length = lead < 0x80          ? 1
                               : (lead >> 5) == 0x6 ? 2
                               : (lead >> 4) == 0xE ? 3
                                                    : 0;
    if (length == 0 || bytes.size() - at < length) return std::nullopt;
    std::uint32_t unit = length == 1 ? lead : length == 2 ? lead & 0x1F : lead & 0x0F;
    for (std::size_t i = 1; i < length; ++i) {
      const std::uint32_t next = byte_at(bytes, at + i);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      unit = (unit << 6) | (next & 0x3F);
    }
    at += length;
    if (high != 0 && is_low_half(unit)) {
      append_pair(out, high, unit);
      high = 0;
      continue;
    }
    if (high != 0) append_unit(out, high);
    high = 0;
    if (is_high_half(unit)) {
      high = unit;
    } else {
      append_unit(out, unit);
    }
  }
  if (high != 0) append_unit(out, high);
  return out;
}

}  // namespace tailrace::engine
