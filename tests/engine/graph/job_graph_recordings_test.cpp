// Replays golden/rescale/job_graphs_f110.jsonl and, where it has pipelined edges alone,
// golden/rescale/regions.jsonl.
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "engine/graph/chaining.hpp"
#include "engine/graph/pipelined_regions.hpp"
#include "engine/graph/stream_graph_hasher.hpp"
#include "engine/graph/streaming_job_graph_generator.hpp"
#include "engine/task/stream_operator.hpp"
#include "tests/engine/rescale/replay_recording.hpp"

namespace tailrace::engine {
namespace {

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
  return kKinds.at(name);
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
  graph.max_parallelism = line["jobMaxP"];
  graph.chaining_enabled = line["chaining"];
  const auto factory = std::make_shared<const AnyFactory>();
  std::map<int, std::int32_t> index_of;
  for (const Json& recorded : line["streamNodes"]) {
    StreamNode node;
    const Json& written = line["nodes"][recorded["node"].get<std::size_t>()];
    node.has_uid = written.contains("uid") && written["uid"].is_string();
    node.name = node.has_uid ? written["uid"].get<std::string>()
                             : "node " + recorded["node"].dump();  // names may repeat in Flink
    if (written.contains("uidHash") && written["uidHash"].is_string()) {
      node.user_defined_id = parse_id(written["uidHash"]);
    }
    node.parallelism = recorded["p"];
    node.max_parallelism = recorded["maxP"];
    node.slot_sharing_group = recorded["slotSharingGroup"];
    const std::string strategy = recorded["strategy"];
    node.chaining = strategy == "NEVER"  ? ChainingStrategy::NEVER
                    : strategy == "HEAD" ? ChainingStrategy::HEAD
                                         : ChainingStrategy::ALWAYS;
    node.factory = factory;
    index_of[recorded["node"]] = static_cast<std::int32_t>(graph.nodes.size());
    graph.nodes.push_back(node);
  }
  // Out-edges come in the order of their sources; the k-th edge between two nodes is also the k-th
  // in-edge from there.
  std::map<std::pair<int, int>, std::size_t> met;
  for (const Json& recorded : line["streamNodes"]) {
    const int from = recorded["node"];
    for (const Json& target : recorded["out"]) {
      const int to = target;
      const Json& in = line["streamNodes"][static_cast<std::size_t>(index_of.at(to))]["in"];
      std::size_t to_skip = met[{from, to}]++;
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i]["from"] != from || to_skip-- > 0) continue;
        StreamEdge edge;
        edge.source = index_of.at(from);
        edge.target = index_of.at(to);
        edge.input = static_cast<std::int32_t>(i);
        edge.partitioner = partitioner_of(in[i]["partitioner"]);
        graph.edges.push_back(edge);
        break;
      }
    }
  }
  return graph;
}

Json describe(const JobGraph& graph, std::size_t at, const StreamGraph& stream) {
  const JobVertex& vertex = graph.vertices[at];
  Json result{{"p", vertex.parallelism}, {"dataSets", vertex.outputs.size()}};
  result["ops"] = Json::array();
  for (const OperatorId& id : vertex.operator_ids_tail_first) result["ops"].push_back(id.hex());
  result["userIds"] = Json::array();
  for (const auto& id : vertex.user_defined_ids_tail_first) {
    result["userIds"].push_back(id.has_value() ? Json(id->hex()) : Json());
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
  static_cast<void>(stream);
  return result;
}

void replay_job_graph(const Json& line) {
  if (line.contains("error")) {
    // Written down before Flink built the stream graph: build what was asked for instead.
    return;
  }
  const StreamGraph stream = graph_of(line);
  const auto ids = generate_operator_ids(stream);
  if (!ids.ok()) throw std::runtime_error(ids.error());
  const StreamTopology topology(stream);
  for (std::size_t i = 0; i < stream.nodes.size(); ++i) {
    const Json& recorded = line["streamNodes"][i];
    expect_same("hash of node " + std::to_string(i), recorded["hash"], ids.value()[i].hex());
    const auto& in_edges = topology.in_edges(static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k < in_edges.size(); ++k) {
      expect_same("chainable", recorded["in"][k]["chainable"], topology.is_chainable(in_edges[k]));
    }
  }
  const auto job = generate_job_graph(stream);
  if (!job.ok()) {
    // The only thing that we refuse and Flink refuses later: parallelism above max parallelism.
    for (const Json& vertex : line["vertices"]) {
      if (vertex["maxP"] != -1 && vertex["p"] > vertex["maxP"]) return;
    }
    throw std::runtime_error(job.error());
  }
  std::map<std::string, Json> expected;
  std::map<int, int> order_of_groups;
  for (const Json& vertex : line["vertices"]) {
    Json want{{"p", vertex["p"]}, {"dataSets", vertex["dataSets"]}};
    want["ops"] = Json::array();
    want["userIds"] = Json::array();
    for (const Json& op : vertex["ops"]) {
      want["ops"].push_back(op["id"]);
      want["userIds"].push_back(op.contains("userId") ? op["userId"] : Json());
    }
    std::multiset<std::string> inputs;
    for (const Json& in : vertex["in"]) {
      inputs.insert(line["vertices"][in["from"].get<std::size_t>()]["id"].get<std::string>() + " " +
                    in["dataSet"].dump() + " " + in["pattern"].get<std::string>());
    }
    want["in"] = inputs;
    expected[vertex["id"]] = want;
  }
  expect_same("number of vertices", expected.size(), job.value().vertices.size());
  std::set<std::int32_t> seen;
  for (std::size_t i = 0; i < job.value().vertices.size(); ++i) {
    const JobVertex& vertex = job.value().vertices[i];
    const std::string id = vertex.id.hex();
    if (!expected.contains(id)) throw std::runtime_error("no vertex " + id + " in Flink");
    expect_same("vertex " + id, expected[id], describe(job.value(), i, stream));
    // Topological order.
    for (const JobEdge& edge : vertex.inputs) {
      if (!seen.contains(edge.source_vertex)) throw std::runtime_error("order of " + id);
    }
    seen.insert(vertex.index);
  }
}

void replay_regions(const Json& line) {
  JobGraph graph;
  for (const Json& parallelism : line["parallelism"]) {
    JobVertex vertex;
    vertex.index = static_cast<std::int32_t>(graph.vertices.size());
    vertex.parallelism = parallelism;
    graph.vertices.push_back(vertex);
  }
  for (const Json& recorded : line["edges"]) {
    const std::string type = recorded["type"];
    if (type != "PIPELINED" && type != "PIPELINED_BOUNDED") return;  // not ours
    JobEdge edge;
    edge.source_vertex = recorded["from"];
    edge.target_vertex = recorded["to"];
    edge.pattern = recorded["pattern"] == "POINTWISE" ? DistributionPattern::POINTWISE
                                                      : DistributionPattern::ALL_TO_ALL;
    graph.vertices[static_cast<std::size_t>(edge.source_vertex)].outputs.push_back(edge);
  }
  if (line.contains("error") || line["coLocated01"].get<bool>()) return;  // not ours
  std::set<std::set<std::string>> regions;
  for (const auto& region : compute_pipelined_regions(graph)) {
    std::set<std::string> names;
    for (const ExecutionVertexId id : region) {
      names.insert(std::to_string(id.vertex) + "." + std::to_string(id.subtask));
    }
    regions.insert(names);
  }
  expect_same("regions", line["regions"].get<std::set<std::set<std::string>>>(), regions);
}

TEST(JobGraphRecordings, IdsChainsAndEdgesAreThoseOfFlink110) {
  replay_recording("rescale/job_graphs_f110.jsonl", replay_job_graph);
}

TEST(JobGraphRecordings, RegionsOfPipelinedJobsAreThoseOfFlink) {
  replay_recording("rescale/regions.jsonl", replay_regions);
}

}  // namespace
}  // namespace tailrace::engine
