#include "engine/checkpoint/metadata/metadata_output.hpp"

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
  const std::string encoded = to_modified_utf8(text);
  TAILRACE_ASSERT_MSG(encoded.size() <= std::numeric_limits<std::uint16_t>::max(),
                      std::string(text));
  u16(static_cast<std::uint16_t>(encoded.size()));
  raw(std::as_bytes(std::span(encoded)));
}

}  // namespace tailrace::engine::metadata
