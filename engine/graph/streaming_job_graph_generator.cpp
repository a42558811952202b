#include "engine/graph/streaming_job_graph_generator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "engine/graph/chaining.hpp"
#include "engine/graph/max_parallelism.hpp"
#include "engine/graph/stream_graph_hasher.hpp"

namespace tailrace::engine {
namespace {

using Topology = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// Ids of `count` nodes so that every edge goes forward; none if there is a cycle. Depth first
// search from the last node to the first, edges from the last to the first, and the result
// reversed: so the first source and its first branches come first.
std::optional<std::vector<std::int32_t>> topological_order(
    std::size_t count, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges) {
  Topology topology(count);
  const auto flipped = [count](std::int32_t node) {
    return count - 1 - static_cast<std::size_t>(node);
  };
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
    boost::add_edge(flipped(edge->first), flipped(edge->second), topology);
  }
  std::vector<std::size_t> reversed;
  try {
    boost::topological_sort(topology, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    return std::nullopt;
  }
  std::vector<std::int32_t> order;
  order.reserve(count);
  for (auto node = reversed.rbegin(); node != reversed.rend(); ++node) {
    order.push_back(static_cast<std::int32_t>(count - 1 - *node));
  }
  return order;
}

bool is_max_parallelism(std::int32_t value) {
  return value >= 1 && value <= kUpperBoundMaxParallelism;
}

std::string check_node(const StreamNode& node) {
  const std::string who = "operator '" + node.name + "': ";
  if (node.parallelism < 1 || node.parallelism > kUpperBoundMaxParallelism) {
    return who + "parallelism " + std::to_string(node.parallelism) + " is not in 1.." +
           std::to_string(kUpperBoundMaxParallelism);
  }
  if (node.max_parallelism != -1 && !is_max_parallelism(node.max_parallelism)) {
    return who + "max parallelism " + std::to_string(node.max_parallelism) + " is not in 1.." +
           std::to_string(kUpperBoundMaxParallelism);
  }
  return {};
}

// The first thing that is wrong with the graph by itself, or nothing.
std::string check(const StreamGraph& graph) {
  if (graph.nodes.empty()) return "the job has no operators";
  if (graph.max_parallelism != -1 && !is_max_parallelism(graph.max_parallelism)) {
    return "pipeline.max-parallelism " + std::to_string(graph.max_parallelism) + " is not in 1.." +
           std::to_string(kUpperBoundMaxParallelism);
  }
  std::map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (std::string problem = check_node(graph.nodes[i]); !problem.empty()) return problem;
    if (!names.emplace(graph.nodes[i].name, i).second) {
      return "two operators are named '" + graph.nodes[i].name + "': names must be unique";
    }
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  const auto node_count = static_cast<std::int32_t>(graph.nodes.size());
  for (const StreamEdge& edge : graph.edges) {
    if (edge.source < 0 || edge.source >= node_count || edge.target < 0 ||
        edge.target >= node_count) {
      return "an edge leads from or to an operator that does not exist";
    }
    edges.emplace_back(edge.source, edge.target);
    const StreamNode& up = graph.nodes[static_cast<std::size_t>(edge.source)];
    const StreamNode& down = graph.nodes[static_cast<std::size_t>(edge.target)];
    if (!edge.default_partitioner && edge.partitioner == PartitionerKind::kForward &&
        up.parallelism != down.parallelism) {
      return "forward edge from '" + up.name + "' (parallelism " + std::to_string(up.parallelism) +
             ") to '" + down.name + "' (parallelism " + std::to_string(down.parallelism) +
             "): forward needs equal parallelisms; use rebalance, rescale, hash or broadcast";
    }
  }
  if (!topological_order(graph.nodes.size(), edges)) {
    return "the job graph has a cycle: operators must not feed themselves, directly or through "
           "others";
  }
  return {};
}

class Generator {
 public:
  Generator(const StreamGraph& graph, std::vector<OperatorId> ids)
      : graph_(graph), topology_(graph), ids_(std::move(ids)), vertex_of_(graph.nodes.size(), -1) {}

  JobGraph run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto node = static_cast<std::int32_t>(i);
      if (topology_.in_edges(node).empty()) create_chain(node);
    }
    sort();
    job_.name = graph_.job_name;
    return std::move(job_);
  }

 private:
  // Builds the chain of head `head` after all chains behind it, so that Flink's order of connecting
  // (which is the order of the gates) comes out.
  void create_chain(std::int32_t head) {
    if (vertex_of_[static_cast<std::size_t>(head)] >= 0) return;
    JobVertex vertex;
    std::vector<std::int32_t> transitive_out_edges;
    vertex.name = extend_chain(head, vertex, transitive_out_edges);

    const StreamNode& node = graph_.nodes[static_cast<std::size_t>(head)];
    vertex.id = ids_[static_cast<std::size_t>(head)];
    vertex.parallelism = node.parallelism;
    const std::int32_t configured =
        node.max_parallelism != -1 ? node.max_parallelism : graph_.max_parallelism;
    vertex.max_parallelism_auto = configured == -1;
    vertex.max_parallelism =
        configured == -1 ? default_max_parallelism(node.parallelism) : configured;
    vertex.slot_sharing_group = node.slot_sharing_group;
    vertex.index = static_cast<std::int32_t>(job_.vertices.size());
    vertex_of_[static_cast<std::size_t>(head)] = vertex.index;

    std::map<std::int32_t, std::int32_t> output_of;  // stream edge -> index into outputs
    for (const std::int32_t edge : transitive_out_edges) {
      output_of[edge] = static_cast<std::int32_t>(vertex.outputs.size());
      connect(edge, vertex);
    }
    for (ChainedOperator& chained : vertex.chain) {
      const std::vector<std::int32_t>& edges = topology_.out_edges(chained.stream_node);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (!chained.outs[i].chained) chained.outs[i].target = output_of.at(edges[i]);
      }
    }
    job_.vertices.push_back(std::move(vertex));
  }

  // Returns: the name of the chain from `node` on.
  std::string extend_chain(std::int32_t node, JobVertex& vertex,
                           std::vector<std::int32_t>& transitive_out_edges) {
    const StreamNode& stream_node = graph_.nodes[static_cast<std::size_t>(node)];
    const std::size_t position = vertex.chain.size();
    vertex.chain.push_back(ChainedOperator{
        ids_[static_cast<std::size_t>(node)], node, stream_node.name, stream_node.factory, {}});
    const std::vector<std::int32_t>& edges = topology_.out_edges(node);
    vertex.chain[position].outs.resize(edges.size());

    std::vector<std::string> chained_names;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!topology_.is_chainable(edges[i])) continue;
      const auto target = static_cast<std::int32_t>(vertex.chain.size());
      vertex.chain[position].outs[i] = ChainedOperator::Out{true, target};
      chained_names.push_back(extend_chain(graph_.edges[static_cast<std::size_t>(edges[i])].target,
                                           vertex, transitive_out_edges));
    }
    for (const std::int32_t edge : edges) {
      if (topology_.is_chainable(edge)) continue;
      transitive_out_edges.push_back(edge);
      create_chain(graph_.edges[static_cast<std::size_t>(edge)].target);
    }
    vertex.operator_ids_tail_first.push_back(ids_[static_cast<std::size_t>(node)]);
    vertex.user_defined_ids_tail_first.push_back(stream_node.user_defined_id);
    return chain_name(stream_node.name, chained_names);
  }

  static std::string chain_name(const std::string& name, const std::vector<std::string>& chained) {
    if (chained.empty()) return name;
    if (chained.size() == 1) return name + " -> " + chained.front();
    std::string joined = name + " -> (";
    for (std::size_t i = 0; i < chained.size(); ++i) {
      if (i > 0) joined += ", ";
      joined += chained[i];
    }
    return joined + ")";
  }

  void connect(std::int32_t edge, JobVertex& source) {
    const StreamEdge& stream_edge = graph_.edges[static_cast<std::size_t>(edge)];
    const std::int32_t target = vertex_of_[static_cast<std::size_t>(stream_edge.target)];
    TAILRACE_ASSERT(target >= 0);  // chains behind an edge are built before it is connected
    JobVertex& target_vertex = job_.vertices[static_cast<std::size_t>(target)];
    JobEdge job_edge;
    job_edge.source_vertex = source.index;
    job_edge.target_vertex = target;
    job_edge.target_input = static_cast<std::int32_t>(target_vertex.inputs.size());
    job_edge.partitioner = topology_.partitioner(edge);
    job_edge.pattern = job_edge.partitioner == PartitionerKind::kForward ||
                               job_edge.partitioner == PartitionerKind::kRescale
                           ? DistributionPattern::POINTWISE
                           : DistributionPattern::ALL_TO_ALL;
    job_edge.type_number = stream_edge.type_number;
    job_edge.type = stream_edge.type;
    job_edge.buffer_timeout =
        graph_.nodes[static_cast<std::size_t>(stream_edge.source)].buffer_timeout;
    source.outputs.push_back(job_edge);
    target_vertex.inputs.push_back(job_edge);
  }

  // Chains were built from the back; the job wants them from the front, and data sets numbered.
  void sort() {
    std::vector<std::int32_t> by_head(job_.vertices.size());
    for (std::size_t i = 0; i < by_head.size(); ++i) by_head[i] = static_cast<std::int32_t>(i);
    std::sort(by_head.begin(), by_head.end(),
              [this](std::int32_t a, std::int32_t b) { return head(a) < head(b); });
    std::vector<std::int32_t> rank(by_head.size());
    for (std::size_t i = 0; i < by_head.size(); ++i) {
      rank[static_cast<std::size_t>(by_head[i])] = static_cast<std::int32_t>(i);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;
    for (const std::int32_t vertex : by_head) {
      for (const JobEdge& edge : job_.vertices[static_cast<std::size_t>(vertex)].outputs) {
        edges.emplace_back(rank[static_cast<std::size_t>(edge.source_vertex)],
                           rank[static_cast<std::size_t>(edge.target_vertex)]);
      }
    }
    const auto order = topological_order(by_head.size(), edges);
    TAILRACE_ASSERT(order.has_value());

    std::vector<std::int32_t> new_index(by_head.size());
    std::vector<JobVertex> sorted;
    sorted.reserve(by_head.size());
    for (const std::int32_t position : *order) {
      const std::int32_t old = by_head[static_cast<std::size_t>(position)];
      new_index[static_cast<std::size_t>(old)] = static_cast<std::int32_t>(sorted.size());
      sorted.push_back(std::move(job_.vertices[static_cast<std::size_t>(old)]));
    }
    std::vector<std::uint8_t> overtaking(sorted.size(), 1);  // barriers may overtake before it
    std::int32_t data_set = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i].index = static_cast<std::int32_t>(i);
      for (JobEdge& edge : sorted[i].outputs) {
        edge.data_set = data_set++;
        edge.source_vertex = new_index[static_cast<std::size_t>(edge.source_vertex)];
        edge.target_vertex = new_index[static_cast<std::size_t>(edge.target_vertex)];
        if (edge.pattern == DistributionPattern::POINTWISE ||
            edge.partitioner == PartitionerKind::kBroadcast) {
          overtaking[static_cast<std::size_t>(edge.target_vertex)] = 0;
        }
      }
    }
    for (JobVertex& vertex : sorted) {
      for (JobEdge& edge : vertex.outputs) {
        edge.supports_unaligned_checkpoints =
            overtaking[static_cast<std::size_t>(edge.target_vertex)] != 0;
        sorted[static_cast<std::size_t>(edge.target_vertex)]
            .inputs[static_cast<std::size_t>(edge.target_input)] = edge;
      }
    }
    job_.vertices = std::move(sorted);
  }

  [[nodiscard]] std::int32_t head(std::int32_t vertex) const {
    return job_.vertices[static_cast<std::size_t>(vertex)].chain.front().stream_node;
  }

  const StreamGraph& graph_;
  StreamTopology topology_;
  std::vector<OperatorId> ids_;
  std::vector<std::int32_t> vertex_of_;  // by head node; -1: not a head, or not built yet
  JobGraph job_;
};

}  // namespace

base::Result<JobGraph, std::string> generate_job_graph(const StreamGraph& graph) {
  base::Result<JobGraph, std::string> job = generate_unchecked_job_graph(graph);
  if (!job.ok()) return job;
  for (const JobVertex& vertex : job.value().vertices) {
    if (vertex.parallelism > vertex.max_parallelism) {
      return base::Failure{"vertex '" + vertex.name + "': parallelism " +
                           std::to_string(vertex.parallelism) + " is above its max parallelism " +
                           std::to_string(vertex.max_parallelism)};
    }
  }
  return job;
}

base::Result<JobGraph, std::string> generate_unchecked_job_graph(const StreamGraph& graph) {
  if (std::string problem = check(graph); !problem.empty()) return base::Failure{problem};
  base::Result<std::vector<OperatorId>, std::string> ids = generate_operator_ids(graph);
  if (!ids) return base::Failure{ids.error()};
  return Generator(graph, std::move(ids).value()).run();
}

}  // namespace tailrace::engine
