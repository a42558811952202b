// Rows C-91 to C-102 of golden/rows_coordinator/rows_10_7_*: scripts of the task side of checkpoints.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_task_row(const Json& line);
// Throws Difference, and MalformedCase for what it does not know.
void replay_task_row(const Json& line);

}  // namespace tailrace::golden
