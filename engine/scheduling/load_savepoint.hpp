// Loading a savepoint for a job graph: what both generations do alike.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/graph/job_graph.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// See CheckpointingFactory::load_savepoint.
[[nodiscard]] base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
    JobId job, const std::string& path, const std::vector<std::byte>& metadata,
    const JobGraph& graph, bool allow_non_restored_state);

}  // namespace tailrace::engine
