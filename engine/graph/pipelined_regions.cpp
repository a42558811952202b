#include "engine/graph/pipelined_regions.hpp"

#include <cstddef>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

namespace tailrace::engine {
namespace {

using Subtasks = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

void add_edges(const JobEdge& edge, const JobGraph& graph, const std::vector<std::size_t>& offset,
               Subtasks& subtasks) {
  const std::int32_t producers =
      graph.vertices[static_cast<std::size_t>(edge.source_vertex)].parallelism;
  const std::int32_t consumers =
      graph.vertices[static_cast<std::size_t>(edge.target_vertex)].parallelism;
  const std::size_t first_producer = offset[static_cast<std::size_t>(edge.source_vertex)];
  const std::size_t first_consumer = offset[static_cast<std::size_t>(edge.target_vertex)];
  if (edge.pattern == DistributionPattern::ALL_TO_ALL) {
    // A star through consumer 0 and producer 0 connects the same subtasks as all pairs.
    for (std::int32_t producer = 0; producer < producers; ++producer) {
      boost::add_edge(first_producer + static_cast<std::size_t>(producer), first_consumer,
                      subtasks);
    }
    for (std::int32_t consumer = 1; consumer < consumers; ++consumer) {
      boost::add_edge(first_producer, first_consumer + static_cast<std::size_t>(consumer),
                      subtasks);
    }
    return;
  }
  for (std::int32_t consumer = 0; consumer < consumers; ++consumer) {
    for (const ConsumedSubpartition& channel :
         graph.edges->consumed_subpartitions(edge.pattern, producers, consumers, consumer)) {
      boost::add_edge(first_producer + static_cast<std::size_t>(channel.producer),
                      first_consumer + static_cast<std::size_t>(consumer), subtasks);
    }
  }
}

}  // namespace

std::vector<std::vector<ExecutionVertexId>> compute_pipelined_regions(const JobGraph& graph) {
  std::vector<std::size_t> offset;
  std::size_t count = 0;
  for (const JobVertex& vertex : graph.vertices) {
    offset.push_back(count);
    count += static_cast<std::size_t>(vertex.parallelism);
  }
  Subtasks subtasks(count);
  for (const JobVertex& vertex : graph.vertices) {
    for (const JobEdge& edge : vertex.outputs) add_edges(edge, graph, offset, subtasks);
  }
  // Components are numbered in the order in which their first subtask is met.
  std::vector<std::size_t> component(count);
  const auto regions =
      static_cast<std::size_t>(boost::connected_components(subtasks, component.data()));
  std::vector<std::vector<ExecutionVertexId>> result(regions);
  std::size_t at = 0;
  for (const JobVertex& vertex : graph.vertices) {
    for (std::int32_t subtask = 0; subtask < vertex.parallelism; ++subtask) {
      result[component[at++]].push_back({vertex.index, subtask});
    }
  }
  return result;
}

}  // namespace tailrace::engine
