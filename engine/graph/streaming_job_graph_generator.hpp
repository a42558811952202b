// Turns the author's graph into the graph that is scheduled: chains operators, gives ids.
//
// Flink 1.10 StreamingJobGraphGenerator (spec rescale.md 1.2, 1.3, S-2.7). Pure function of its
// input.
#pragma once

#include <string>

#include "engine/graph/job_graph.hpp"
#include "engine/graph/stream_graph.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Vertices come out in topological order, sources in the author's order first. Max parallelisms
// are resolved (operator's, else job's, else derived from the parallelism).
// Errors, each with the operators' names and a way out: no operator, an edge to nowhere, a cycle, a
// name or an id used twice, a parallelism or max parallelism out of range, an explicit forward edge
// between different parallelisms, a parallelism above the max parallelism.
[[nodiscard]] base::Result<JobGraph, std::string> generate_job_graph(const StreamGraph& graph);
// The same without the last error: Flink accepts such a graph here and refuses it when the job
// starts.
[[nodiscard]] base::Result<JobGraph, std::string> generate_unchecked_job_graph(
    const StreamGraph& graph);

}  // namespace tailrace::engine
