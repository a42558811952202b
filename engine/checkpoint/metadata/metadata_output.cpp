#include "engine/checkpoint/metadata/metadata_output.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::metadata {

void MetadataOutput::count(std::size_t count) {
  TAILRACE_ASSERT(count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  i32(static_cast<std::int32_t>(count));
}

void MetadataOutput::utf(std::string_view text) {
  // Both encodings are the same for what most names consist of.
  const bool plain = std::none_of(text.begin(), text.end(), [](char unit) {
    return unit == 0 || static_cast<unsigned char>(unit) >= 0xF0;
  });
  if (plain) return encoded_utf(text);
  encoded_utf(to_modified_utf8(text));
}

void MetadataOutput::make_room(std::size_t count, std::size_t bytes_each) {
  constexpr std::size_t kMostAtOnce = std::size_t{16} << 20;  // the first may be the odd one
  const std::size_t wanted = std::min(count * (bytes_each + bytes_each / 8), kMostAtOnce);
  const std::size_t room = bytes_.capacity() - bytes_.size();
  // At least twice of what there is, as without this: else many small items cost a copy each.
  if (wanted > room) bytes_.reserve(std::max(bytes_.size() + wanted, 2 * bytes_.capacity()));
}

void MetadataOutput::encoded_utf(std::string_view encoded) {
  TAILRACE_ASSERT_MSG(encoded.size() <= std::numeric_limits<std::uint16_t>::max(),
                      std::string(encoded));
  u16(static_cast<std::uint16_t>(encoded.size()));
  raw(std::as_bytes(std::span(encoded)));
}

}  // namespace tailrace::engine::metadata
