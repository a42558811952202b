#include "engine/scheduling/failover_strategy.hpp"

#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

RestartPipelinedRegionFailoverStrategy::RestartPipelinedRegionFailoverStrategy(
    const JobGraph& graph)
    : regions_(compute_pipelined_regions(graph)) {
  for (const JobVertex& vertex : graph.vertices) {
    region_of_.emplace_back(static_cast<std::size_t>(vertex.parallelism));
  }
  for (std::size_t region = 0; region < regions_.size(); ++region) {
    for (const ExecutionVertexId id : regions_[region]) {
      region_of_[static_cast<std::size_t>(id.vertex)][static_cast<std::size_t>(id.subtask)] =
          region;
    }
  }
}

const std::vector<ExecutionVertexId>& RestartPipelinedRegionFailoverStrategy::tasks_needing_restart(
    ExecutionVertexId failed) const {
  const std::vector<std::size_t>& regions = region_of_[static_cast<std::size_t>(failed.vertex)];
  return regions_[regions[static_cast<std::size_t>(failed.subtask)]];
}

}  // namespace tailrace::engine
