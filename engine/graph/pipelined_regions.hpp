// Groups of subtasks that fail and restart together.
//
// Flink 1.10 PipelinedRegionComputeUtil (spec rescale.md S-6.1, S-6.2): all our edges are
// pipelined, so a region is a connected component of the subtasks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graph/job_graph.hpp"

namespace tailrace::engine {

// A subtask by vertex index and subtask index; ordered by both.
struct ExecutionVertexId {
  std::int32_t vertex = 0;
  std::int32_t subtask = 0;

  friend constexpr auto operator<=>(const ExecutionVertexId&, const ExecutionVertexId&) = default;
};

// Each region's subtasks ascending; regions ordered by their first subtask.
[[nodiscard]] std::vector<std::vector<ExecutionVertexId>> compute_pipelined_regions(
    const JobGraph& graph);

}  // namespace tailrace::engine
