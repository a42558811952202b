// Neighbours in a stream graph, and which edges become function calls.
//
// Flink 1.10 StreamingJobGraphGenerator.isChainable (spec rescale.md 1.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/graph/stream_graph.hpp"

namespace tailrace::engine {

// S-1.8: what an edge without a partitioner of its own gets.
[[nodiscard]] constexpr PartitionerKind default_partitioner(std::int32_t source_parallelism,
                                                            std::int32_t target_parallelism) {
  return source_parallelism == target_parallelism ? PartitionerKind::kForward
                                                  : PartitionerKind::kRebalance;
}

// Edges of each node by index into StreamGraph::edges. Borrows the graph.
// Requires: the ends of all edges are nodes of the graph.
class StreamTopology {
 public:
  explicit StreamTopology(const StreamGraph& graph);

  // In the graph's order.
  [[nodiscard]] const std::vector<std::int32_t>& out_edges(std::int32_t node) const {
    return out_[static_cast<std::size_t>(node)];
  }
  // By StreamEdge::input.
  [[nodiscard]] const std::vector<std::int32_t>& in_edges(std::int32_t node) const {
    return in_[static_cast<std::size_t>(node)];
  }
  // The partitioner in force: the edge's own, or the default.
  [[nodiscard]] PartitionerKind partitioner(std::int32_t edge) const;
  [[nodiscard]] bool is_chainable(std::int32_t edge) const;

 private:
  const StreamGraph& graph_;
  std::vector<std::vector<std::int32_t>> out_;
  std::vector<std::vector<std::int32_t>> in_;
};

}  // namespace tailrace::engine
