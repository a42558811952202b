// Rows C-108 and C-109 of golden/rows_coordinator/rows_10_7_f120: the end of a stop with savepoint.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_stop_row(const Json& line);
// Throws Difference, and MalformedCase for what it does not know.
void replay_stop_row(const Json& line);

}  // namespace tailrace::golden
