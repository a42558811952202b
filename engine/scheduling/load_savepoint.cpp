#include "engine/scheduling/load_savepoint.hpp"

#include "engine/checkpoint/checkpoints.hpp"

namespace tailrace::engine {

base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
    JobId job, const std::string& path, const std::vector<std::byte>& metadata,
    const JobGraph& graph, bool allow_non_restored_state) {
  Checkpoints::OperatorToVertex operators;
  for (const JobVertex& vertex : graph.vertices) {
    const Checkpoints::Vertex target{vertex.max_parallelism, vertex.max_parallelism_auto};
    for (const OperatorId& id : vertex.operator_ids_tail_first) operators[id] = target;
    for (const std::optional<OperatorId>& id : vertex.user_defined_ids_tail_first) {
      if (id.has_value()) operators[*id] = target;
    }
  }
  return Checkpoints::load_and_validate_checkpoint(job, operators, metadata, path,
                                                   allow_non_restored_state);
}

}  // namespace tailrace::engine
