#include "engine/checkpoint/metadata/metadata_output.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::metadata {

namespace {

// Nearly all names are, and eight letters at once are quickly looked at.
bool is_ascii_without_zero(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const auto is_plain = [](std::uint64_t letters) {
    // The second term has the high bit of each letter that is zero, if none has its own.
    return ((letters | (letters - kOnes)) & kHighBits) == 0;
  };
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t letters = 0;
    std::memcpy(&letters, text.data(), sizeof(letters));
    if (!is_plain(letters)) return false;
  }
  std::uint64_t rest = kOnes;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  return is_plain(rest);
}

}  // namespace

void MetadataOutput::count(std::size_t count) {
  TAILRACE_ASSERT(count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  i32(static_cast<std::int32_t>(count));
}

void MetadataOutput::utf(std::string_view text) {
  // Both encodings are the same for what most names consist of.
  if (is_ascii_without_zero(text)) return encoded_utf(text);
  const bool plain = std::none_of(text.begin(), text.end(), [](char unit) {
    return unit == 0 || static_cast<unsigned char>(unit) >= 0xF0;
  });
  if (plain) return encoded_utf(text);
  encoded_utf(to_modified_utf8(text));
}

void MetadataOutput::make_room(std::size_t count, std::size_t bytes_each) {
  constexpr std::size_t kMostAtOnce = std::size_t{16} << 20;  // the first may be the odd one
  const std::size_t wanted = std::min(count * (bytes_each + bytes_each / 8), kMostAtOnce);
  // At least twice of what there is, as without this: else many small items cost a copy each.
  if (size() + wanted > bytes_.capacity()) {
    bytes_.reserve(std::max(size() + wanted, 2 * bytes_.capacity()));
  }
}

void MetadataOutput::flush() {
  bytes_.insert(bytes_.end(), chunk_.begin(),
                chunk_.begin() + static_cast<std::ptrdiff_t>(std::exchange(in_chunk_, 0)));
}

void MetadataOutput::raw_behind_chunk(std::span<const std::byte> bytes) {
  flush();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void MetadataOutput::encoded_utf(std::string_view encoded) {
  TAILRACE_ASSERT_MSG(encoded.size() <= std::numeric_limits<std::uint16_t>::max(),
                      std::string(encoded));
  u16(static_cast<std::uint16_t>(encoded.size()));
  raw(std::as_bytes(std::span(encoded)));
}

}  // namespace tailrace::engine::metadata
