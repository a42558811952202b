#include "engine/rescale/java_hash_map.hpp"

namespace tailrace::engine {

std::uint32_t java_hash_of_text(std::string_view utf8) {
  std::uint32_t hash = 0;
  const auto byte = [utf8](std::size_t at) {
    return at < utf8.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(utf8[at])) : 0U;
  };
  for (std::size_t at = 0; at < utf8.size();) {
    const std::uint32_t lead = byte(at);
    if (lead < 0x80) {
      hash = hash * 31 + lead;
      at += 1;
    } else if (lead < 0xe0) {
      hash = hash * 31 + (((lead & 0x1f) << 6) | (byte(at + 1) & 0x3f));
      at += 2;
    } else if (lead < 0xf0) {
      // Lone surrogates arrive here, too: Java strings may hold them.
      hash = hash * 31 +
             (((lead & 0x0f) << 12) | ((byte(at + 1) & 0x3f) << 6) | (byte(at + 2) & 0x3f));
      at += 3;
    } else {
      const std::uint32_t point = ((lead & 0x07) << 18) | ((byte(at + 1) & 0x3f) << 12) |
                                  ((byte(at + 2) & 0x3f) << 6) | (byte(at + 3) & 0x3f);
      hash = hash * 31 + (0xd800 + ((point - 0x10000) >> 10));
      hash = hash * 31 + (0xdc00 + ((point - 0x10000) & 0x3ff));
      at += 4;
    }
  }
  return hash;
}

}  // namespace tailrace::engine
