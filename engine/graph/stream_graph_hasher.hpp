// Gives every operator of a stream graph its id.
//
// Flink 1.10 StreamGraphHasherV2 (spec rescale.md S-1.4, S-1.5): from the uid where there is one,
// else from the shape of the graph around the operator.
#pragma once

#include <string>
#include <vector>

#include "engine/graph/stream_graph.hpp"
#include "engine/ids.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// ids[i] belongs to graph.nodes[i].
// Requires: the graph has no cycle and its edges have valid ends.
// Errors: two operators with the same uid.
[[nodiscard]] base::Result<std::vector<OperatorId>, std::string> generate_operator_ids(
    const StreamGraph& graph);

}  // namespace tailrace::engine
