#include "engine/graph/chaining.hpp"

#include <algorithm>

namespace tailrace::engine {

StreamTopology::StreamTopology(const StreamGraph& graph)
    : graph_(graph), out_(graph.nodes.size()), in_(graph.nodes.size()) {
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    out_[static_cast<std::size_t>(graph.edges[i].source)].push_back(static_cast<std::int32_t>(i));
    in_[static_cast<std::size_t>(graph.edges[i].target)].push_back(static_cast<std::int32_t>(i));
  }
  for (std::vector<std::int32_t>& edges : in_) {
    std::stable_sort(edges.begin(), edges.end(), [&graph](std::int32_t a, std::int32_t b) {
      return graph.edges[static_cast<std::size_t>(a)].input <
             graph.edges[static_cast<std::size_t>(b)].input;
    });
  }
}

PartitionerKind StreamTopology::partitioner(std::int32_t edge) const {
  const StreamEdge& e = graph_.edges[static_cast<std::size_t>(edge)];
  if (!e.default_partitioner) return e.partitioner;
  return default_partitioner(graph_.nodes[static_cast<std::size_t>(e.source)].parallelism,
                             graph_.nodes[static_cast<std::size_t>(e.target)].parallelism);
}

bool StreamTopology::is_chainable(std::int32_t edge) const {
  const StreamEdge& e = graph_.edges[static_cast<std::size_t>(edge)];
  const StreamNode& up = graph_.nodes[static_cast<std::size_t>(e.source)];
  const StreamNode& down = graph_.nodes[static_cast<std::size_t>(e.target)];
  return in_edges(e.target).size() == 1 && graph_.chaining_enabled && up.factory != nullptr &&
         down.factory != nullptr && up.slot_sharing_group == down.slot_sharing_group &&
         down.chaining == ChainingStrategy::ALWAYS && up.chaining != ChainingStrategy::NEVER &&
         partitioner(edge) == PartitionerKind::kForward && up.parallelism == down.parallelism;
}

}  // namespace tailrace::engine
