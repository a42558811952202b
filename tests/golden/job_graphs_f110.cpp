// Replays golden/rescale/job_graphs_f110.jsonl: operator ids, chains, vertices and edges.
#include <map>
#include <set>
#include <vector>

#include "engine/graph/chaining.hpp"
#include "engine/graph/stream_graph_hasher.hpp"
#include "engine/graph/streaming_job_graph_generator.hpp"
#include "engine/task/stream_operator.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

class AnyFactory final : public StreamOperatorFactory {
 public:
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override { return nullptr; }
};

PartitionerKind partitioner_of(const std::string& name) {
  static const std::map<std::string, PartitionerKind> kKinds = {
      {"FORWARD", PartitionerKind::kForward},
      {"REBALANCE", PartitionerKind::kRebalance},
      {"RESCALE", PartitionerKind::kRescale},
      {"SHUFFLE", PartitionerKind::kShuffle},
      {"HASH", PartitionerKind::kHash},
      {"BROADCAST", PartitionerKind::kBroadcast},
      {"GLOBAL", PartitionerKind::kGlobal},
      // Chosen by a user's function; like all but forward and rescale it connects all to all.
      {"CUSTOM", PartitionerKind::kShuffle}};
  const auto found = kKinds.find(name);
  if (found == kKinds.end()) throw MalformedCase("unknown partitioner: " + name);
  return found->second;
}

OperatorId parse_id(const std::string& hex) {
  OperatorId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

StreamGraph graph_of(const Json& line) {
  StreamGraph graph;
  graph.max_parallelism = line.at("jobMaxP");
  graph.chaining_enabled = line.at("chaining");
  const auto factory = std::make_shared<const AnyFactory>();
  std::map<int, std::int32_t> index_of;
  for (const Json& recorded : line.at("streamNodes")) {
    StreamNode node;
    const Json& written = line.at("nodes").at(recorded.at("node").get<std::size_t>());
    node.has_uid = written.contains("uid") && written.at("uid").is_string();
    node.name = node.has_uid ? written.at("uid").get<std::string>()
                             : "node " + recorded.at("node").dump();  // names may repeat in Flink
    if (written.contains("uidHash") && written.at("uidHash").is_string()) {
      node.user_defined_id = parse_id(written.at("uidHash"));
    }
    node.parallelism = recorded.at("p");
    node.max_parallelism = recorded.at("maxP");
    node.slot_sharing_group = recorded.at("slotSharingGroup");
    const std::string strategy = recorded.at("strategy");
    node.chaining = strategy == "NEVER"  ? ChainingStrategy::NEVER
                    : strategy == "HEAD" ? ChainingStrategy::HEAD
                                         : ChainingStrategy::ALWAYS;
    node.factory = factory;
    index_of[recorded.at("node")] = static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back(node);
  }
  // Out-edges come in the order of their sources; the k-th edge between two nodes is also the k-th
  // in-edge from there.
  std::map<std::pair<int, int>, std::size_t> met;
  for (const Json& recorded : line.at("streamNodes")) {
    const int from = recorded.at("node");
    for (const Json& target : recorded.at("out")) {
      const int to = target;
      const Json& in =
          line.at("streamNodes").at(static_cast<std::size_t>(index_of.at(to))).at("in");
      std::size_t to_skip = met[{from, to}]++;
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (in.at(i).at("from") != from || to_skip-- > 0) continue;
        StreamEdge edge;
        edge.source = index_of.at(from);
        edge.target = index_of.at(to);
        edge.input = static_cast<std::int32_t>(i);
        edge.partitioner = partitioner_of(in.at(i).at("partitioner"));
        graph.edges.push_back(edge);
        break;
      }
    }
  }
  return graph;
}

Json describe(const JobGraph& graph, std::size_t at) {
  const JobVertex& vertex = graph.vertices[at];
  Json result{{"p", vertex.parallelism},
              {"maxP", vertex.max_parallelism_auto ? -1 : vertex.max_parallelism},
              {"dataSets", vertex.outputs.size()}};
  result["ops"] = Json::array();
  for (const OperatorId& id : vertex.operator_ids_tail_first) result.at("ops").push_back(id.hex());
  result["userIds"] = Json::array();
  for (const auto& id : vertex.user_defined_ids_tail_first) {
    result.at("userIds").push_back(id.has_value() ? Json(id->hex()) : Json());
  }
  std::multiset<std::string> inputs;
  for (const JobEdge& edge : vertex.inputs) {
    const JobVertex& from = graph.vertices[static_cast<std::size_t>(edge.source_vertex)];
    std::size_t data_set = 0;
    while (from.outputs[data_set].data_set != edge.data_set) ++data_set;
    inputs.insert(from.id.hex() + " " + std::to_string(data_set) + " " +
                  (edge.pattern == DistributionPattern::POINTWISE ? "POINTWISE" : "ALL_TO_ALL"));
  }
  result["in"] = inputs;
  return result;
}

// The program as its author wrote it, before Flink made a stream graph of it.
StreamGraph program_of(const Json& line) {
  StreamGraph graph;
  graph.max_parallelism = line.at("jobMaxP");
  graph.chaining_enabled = line.at("chaining");
  const auto factory = std::make_shared<const AnyFactory>();
  std::vector<std::int32_t> in_edges;
  for (const Json& written : line.at("nodes")) {
    const auto& kind = written.at("kind").get_ref<const std::string&>();
    const bool is_keyed = kind.starts_with("KEYED_");
    const auto index = static_cast<std::int32_t>(graph.nodes.size());
    StreamNode node;
    node.has_uid = written.contains("uid") && written.at("uid").is_string();
    node.uid = node.has_uid ? written.at("uid").get<std::string>() : "";
    // An empty uid of ours stands for the name.
    if (!node.has_uid || !node.uid.empty()) node.name = "node " + std::to_string(index);
    const auto p = written.value("p", std::int32_t{-1});
    node.parallelism = kind == "SOURCE" ? 1 : p == -1 ? line.at("defaultP").get<int>() : p;
    node.factory = factory;
    graph.nodes.push_back(node);
    in_edges.push_back(0);
    for (const Json& input : written.value("inputs", Json::array())) {
      for (const Json& from : input) {
        StreamEdge edge;
        edge.source = from.at("from");
        edge.target = index;
        edge.input = in_edges.back()++;
        edge.default_partitioner = !is_keyed && !from.contains("partitioner");
        if (is_keyed) {
          edge.partitioner = PartitionerKind::kHash;  // keyBy comes last
        } else if (!edge.default_partitioner) {
          edge.partitioner = partitioner_of(from.at("partitioner"));
        }
        graph.edges.push_back(edge);
      }
    }
  }
  return graph;
}

void replay_job_graph(const Json& line) {
  // Flink refuses some programs before there is a stream graph.
  const auto program = generate_unchecked_job_graph(program_of(line));
  if (line.contains("error")) {
    if (program.ok()) throw Difference("job graph", line.at("error").dump(), "no error");
    return;
  }
  if (!program.ok()) throw Difference("job graph", "no error", program.error());
  const StreamGraph stream = graph_of(line);
  const auto ids = generate_operator_ids(stream);
  if (!ids.ok()) throw Difference("operator ids", "no error", ids.error());
  const StreamTopology topology(stream);
  for (std::size_t i = 0; i < stream.nodes.size(); ++i) {
    const Json& recorded = line.at("streamNodes").at(i);
    expect_equal("hash of node " + std::to_string(i), recorded.at("hash"), ids.value()[i].hex());
    const auto& in_edges = topology.in_edges(static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k < in_edges.size(); ++k) {
      expect_equal("chainable", recorded.at("in").at(k).at("chainable"),
                   topology.is_chainable(in_edges[k]));
    }
  }
  const auto job = generate_unchecked_job_graph(stream);
  if (!job.ok()) throw Difference("job graph", "no error", job.error());
  std::map<std::string, Json> expected;
  std::map<std::string, int> recorded_group;  // by id of the vertex
  for (const Json& vertex : line.at("vertices")) {
    Json want{
        {"p", vertex.at("p")}, {"maxP", vertex.at("maxP")}, {"dataSets", vertex.at("dataSets")}};
    want["ops"] = Json::array();
    want["userIds"] = Json::array();
    for (const Json& op : vertex.at("ops")) {
      want.at("ops").push_back(op.at("id"));
      want.at("userIds").push_back(op.contains("userId") ? op.at("userId") : Json());
    }
    std::multiset<std::string> inputs;
    for (const Json& in : vertex.at("in")) {
      inputs.insert(
          line.at("vertices").at(in.at("from").get<std::size_t>()).at("id").get<std::string>() +
          " " + in.at("dataSet").dump() + " " + in.at("pattern").get<std::string>());
    }
    want["in"] = inputs;
    expected[vertex.at("id")] = want;
    recorded_group[vertex.at("id")] = vertex.at("group");
  }
  expect_equal("number of vertices", expected.size(), job.value().vertices.size());
  std::set<std::int32_t> seen;
  std::map<int, std::string> name_of_group;
  std::set<std::string> group_names;
  for (std::size_t i = 0; i < job.value().vertices.size(); ++i) {
    const JobVertex& vertex = job.value().vertices[i];
    const std::string id = vertex.id.hex();
    if (!expected.contains(id)) throw Difference("vertices", "no " + id, "one");
    expect_equal("vertex " + id, expected[id], describe(job.value(), i));
    const auto [group, is_new] =
        name_of_group.emplace(recorded_group.at(id), vertex.slot_sharing_group);
    expect_equal("slot sharing group of " + id, group->second, vertex.slot_sharing_group);
    if (is_new)
      expect_equal("a group of its own: " + id, true,
                   group_names.insert(vertex.slot_sharing_group).second);
    // Topological order.
    for (const JobEdge& edge : vertex.inputs) {
      if (!seen.contains(edge.source_vertex))
        throw Difference("order of vertices", "inputs first", id);
    }
    seen.insert(vertex.index);
  }
}

const Registration kJobGraphs("rescale/job_graphs_f110.jsonl", &replay_job_graph);

}  // namespace
}  // namespace tailrace::golden
