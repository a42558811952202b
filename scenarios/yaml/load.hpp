// Reads YAML into our own tree, strictly.
//
// yaml-cpp does the syntax; its own node tree is not used, because it keeps duplicate keys, ignores
// merge keys, takes a binary file for one scalar, reads only the first document and shares what
// aliases name. Here each of these is an error or works. Nothing that a file can hold crashes or
// takes more than the stated limits (node.hpp).
#pragma once

#include <string>
#include <string_view>

#include "scenarios/diagnostics.hpp"
#include "scenarios/position.hpp"
#include "scenarios/yaml/node.hpp"

namespace tailrace::scenarios::yaml {

// The text of a regular file of at most `max_bytes`.
// Errors: reported at `where`, and the answer is empty: there is no such file, it is no regular
// file, it cannot be read, it is too large.
[[nodiscard]] std::string read_text_file(const std::string& path, std::int64_t max_bytes,
                                         Position where, Diagnostics& diagnostics);

// The tree of a text. Positions carry `source`.
// Errors: reported, and the answer is a null node: no document, a second document, not UTF-8,
// control characters, broken syntax, tags, unknown anchors, duplicate keys, keys that are no
// scalars, merges of what is no mapping, one of the limits exceeded.
[[nodiscard]] Node parse(std::string_view text, std::int32_t source, Diagnostics& diagnostics);

}  // namespace tailrace::scenarios::yaml
