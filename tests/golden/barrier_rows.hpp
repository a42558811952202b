// Rows C-103 to C-107 of golden/rows_coordinator/rows_10_7_*: scripts of a barrier handler.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_barrier_row(const Json& line);
// Throws Difference, and MalformedCase for what it does not know.
void replay_barrier_row(const Json& line);

}  // namespace tailrace::golden
