// Whether what had finished at a checkpoint may have finished in the job that starts from it.
//
// Flink 1.20 VertexFinishedStateChecker (spec coordinator.md ).
#pragma once

#include <optional>
#include <string>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/graph/job_graph.hpp"

namespace tailrace::engine {

// All operators of a vertex must be equally far: running, partly finished, or fully finished. Who
// has fully finished needs fully finished predecessors; who has partly finished needs them over
// all-to-all edges, and over point-wise ones predecessors that have finished at least in part.
// Returns: what is wrong with the first vertex that breaks this; none: nothing.
[[nodiscard]] std::optional<std::string> validate_operators_finished_state(
    const JobGraph& graph, const OperatorStates& states);

}  // namespace tailrace::engine
