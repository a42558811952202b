// From yaml-cpp's events to our tree.
#pragma once

#include <cstdint>
#include <string_view>

#include "scenarios/diagnostics.hpp"
#include "scenarios/yaml/node.hpp"

namespace tailrace::scenarios::yaml {

// Requires: `text` has passed check_text. See parse() in load.hpp for what is an error.
[[nodiscard]] Node build_tree(std::string_view text, std::int32_t source, Diagnostics& diagnostics);

}  // namespace tailrace::scenarios::yaml
