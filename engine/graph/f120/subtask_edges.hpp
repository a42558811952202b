// How the subtasks of two vertices are connected.
//
// Flink 1.20 VertexInputInfoComputationUtils (spec rescale.md S-5.1, S-5.2). Integer arithmetic
// alone, where 1.10 rounds in floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/consumed_subpartition.hpp"
#include "engine/graph/job_graph.hpp"

namespace tailrace::engine::f120 {

// The channels of `consumer`'s gate, in the gate's order (ascending producers).
// Requires: producers, consumers >= 1; 0 <= consumer < consumers.
[[nodiscard]] std::vector<ConsumedSubpartition> consumed_subpartitions(DistributionPattern pattern,
                                                                       std::int32_t producers,
                                                                       std::int32_t consumers,
                                                                       std::int32_t consumer);

// How many subpartitions each producer's partition has: its consumers.
[[nodiscard]] std::vector<std::int32_t> subpartition_counts(DistributionPattern pattern,
                                                            std::int32_t producers,
                                                            std::int32_t consumers);

}  // namespace tailrace::engine::f120
