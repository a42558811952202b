// Rows of golden/rows_barriers/barriers_rows_I_f120.jsonl about writing.
#pragma once

#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Of those with a `segment`. Throws Difference, and MalformedCase for what it does not know.
void replay_writing_row(const Json& line);

}  // namespace tailrace::golden
