// How the subtasks of two vertices are connected.
//
// Flink 1.10 ExecutionVertex.connectSource (spec rescale.md S-5.1, S-5.3). Pointwise connections
// with parallelisms that do not divide each other follow 32-bit floating point, rounding included:
// its quotients and products are exact IEEE operations, so the result is the same everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/subtask_edges.hpp"

namespace tailrace::engine::f110 {

// See SubtaskEdges.
[[nodiscard]] std::vector<ConsumedSubpartition> consumed_subpartitions(DistributionPattern pattern,
                                                                       std::int32_t producers,
                                                                       std::int32_t consumers,
                                                                       std::int32_t consumer);
[[nodiscard]] std::vector<std::int32_t> subpartition_counts(DistributionPattern pattern,
                                                            std::int32_t producers,
                                                            std::int32_t consumers);

}  // namespace tailrace::engine::f110
