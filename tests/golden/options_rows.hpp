// Rows of golden/rows_barriers/barriers_rows_L.jsonl about checkpoint options and their barriers: L17 to
// L22, and what kind of item and how many bytes an event is.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_options_row(const Json& line);
// Throws Difference, and MalformedCase for what it does not know.
void replay_options_row(const Json& line);

}  // namespace tailrace::golden
