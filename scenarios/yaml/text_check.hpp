// Refuses what is no text before a YAML parser sees it.
#pragma once

#include <cstdint>
#include <string_view>

#include "scenarios/diagnostics.hpp"

namespace tailrace::scenarios::yaml {

// Valid UTF-8 (no surrogates, no overlong forms) and no control characters but tab and line ends.
// Errors: the first offence is reported with its position, and the answer is false.
[[nodiscard]] bool check_text(std::string_view text, std::int32_t source, Diagnostics& diagnostics);

}  // namespace tailrace::scenarios::yaml
