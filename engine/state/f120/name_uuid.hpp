// The UUID that Java makes of a name.
//
// java.util.UUID.nameUUIDFromBytes: version 3, of the MD5 digest (RFC 4122, RFC 1321).
#pragma once

#include <string>
#include <string_view>

namespace tailrace::engine {

// In text: 36 characters, lower case. Cost: O(name), allocates nothing but the text.
[[nodiscard]] std::string name_uuid(std::string_view name);

}  // namespace tailrace::engine
