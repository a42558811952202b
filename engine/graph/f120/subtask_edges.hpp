// How the subtasks of two vertices are connected.
//
// Flink 1.20 VertexInputInfoComputationUtils (spec rescale.md S-5.1, S-5.2). Integer arithmetic
// alone, where 1.10 rounds in floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/subtask_edges.hpp"

namespace tailrace::engine::f120 {

// See SubtaskEdges.
[[nodiscard]] std::vector<ConsumedSubpartition> consumed_subpartitions(DistributionPattern pattern,
                                                                       std::int32_t producers,
                                                                       std::int32_t consumers,
                                                                       std::int32_t consumer);
[[nodiscard]] std::vector<std::int32_t> subpartition_counts(DistributionPattern pattern,
                                                            std::int32_t producers,
                                                            std::int32_t consumers);

}  // namespace tailrace::engine::f120
