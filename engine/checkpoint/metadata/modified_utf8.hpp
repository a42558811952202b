// Java's string encoding inside data streams.
//
// Java DataOutput.writeUTF, DataInput.readUTF (spec metadata-format.md 1). Our own strings are UTF-8;
// an unpaired surrogate half is kept as its own three bytes, so that it survives a round trip.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tailrace::engine {

// Requires: `utf8` is UTF-8.
[[nodiscard]] std::string to_modified_utf8(std::string_view utf8);
// None: malformed.
[[nodiscard]] std::optional<std::string> from_modified_utf8(std::string_view bytes);

}  // namespace tailrace::engine
