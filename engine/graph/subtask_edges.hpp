// How the subtasks of two vertices are connected, as either generation counts it.
//
// Made by engine/generation.hpp; belongs to the job graph, since both ends of an edge must count
// alike.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/consumed_subpartition.hpp"

namespace tailrace::engine {

enum class DistributionPattern : std::uint8_t { ALL_TO_ALL, POINTWISE };

struct SubtaskEdges {
  // The channels of `consumer`'s gate, in the gate's order (ascending producers).
  // Requires: producers, consumers >= 1; 0 <= consumer < consumers.
  std::vector<ConsumedSubpartition> (*consumed_subpartitions)(DistributionPattern pattern,
                                                              std::int32_t producers,
                                                              std::int32_t consumers,
                                                              std::int32_t consumer);
  // How many subpartitions each producer's partition has: its consumers.
  std::vector<std::int32_t> (*subpartition_counts)(DistributionPattern pattern,
                                                   std::int32_t producers, std::int32_t consumers);
};

[[nodiscard]] const SubtaskEdges& subtask_edges_110();
[[nodiscard]] const SubtaskEdges& subtask_edges_120();

}  // namespace tailrace::engine
