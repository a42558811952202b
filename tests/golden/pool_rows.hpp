// Rows of golden/rows_barriers/barriers_rows_J_*.jsonl about buffer pools: scripts of pools on one
// global pool, and how many buffers gates and partitions ask for.
#pragma once

#include "engine/network/network_semantics.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_pool_row(const Json& line);
// Throws Difference, and MalformedCase for what it does not know.
void replay_pool_row(const Json& line, const engine::NetworkSemantics& semantics);

}  // namespace tailrace::golden
