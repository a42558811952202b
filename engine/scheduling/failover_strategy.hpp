// Which subtasks restart when one fails.
//
// Flink 1.10 RestartPipelinedRegionFailoverStrategy (spec rescale.md S-6.3) over pipelined edges
// alone: regions have no edges between them, so the failed subtask's region is all that restarts.
#pragma once

#include <vector>

#include "engine/graph/pipelined_regions.hpp"

namespace tailrace::engine {

class RestartPipelinedRegionFailoverStrategy {
 public:
  explicit RestartPipelinedRegionFailoverStrategy(const JobGraph& graph);

  // Ascending. Requires: `failed` is a subtask of the job.
  [[nodiscard]] const std::vector<ExecutionVertexId>& tasks_needing_restart(
      ExecutionVertexId failed) const;

 private:
  std::vector<std::vector<ExecutionVertexId>> regions_;
  std::vector<std::vector<std::size_t>> region_of_;  // by vertex and subtask
};

}  // namespace tailrace::engine
