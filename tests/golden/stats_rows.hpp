// Rows of table 10.8 that call one class directly: the parallelism of restored state, the history,
// a summary, the acknowledgements of a vertex (C-114, C-116, C-118, C-119). For both generations.
#pragma once

#include "engine/checkpoint/stats/checkpoint_stats_traits.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether a row is one of these, by the shape of its steps.
[[nodiscard]] bool is_direct_row(const Json& line);
// Throws Difference where we part from the recording, MalformedCase for a step or a claim of an
// unknown kind. Requires: is_direct_row(line).
void replay_direct_row(const Json& line, const engine::CheckpointStatsTraits& traits);

}  // namespace tailrace::golden
