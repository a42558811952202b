// Replays golden/assignment/channel_state_mappings.jsonl and golden/rescale/inflight_rescale.jsonl: who takes
// over which buffers in flight, and how they find their channels.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/max_parallelism.hpp"
#include "engine/rescale/state_assignment_operation.hpp"
#include "engine/rescale/subtask_state_mapper.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

std::int32_t parallelism_of(const Json& number) {
  const auto parallelism = number.get<std::int64_t>();
  if (parallelism < 1 || parallelism > 1 << 15) {
    throw MalformedCase("parallelism: " + std::to_string(parallelism));
  }
  return static_cast<std::int32_t>(parallelism);
}

SubtaskStateMapper mapper_of(const std::string& name) {
  if (name == "ARBITRARY") return SubtaskStateMapper::ARBITRARY;
  if (name == "ROUND_ROBIN") return SubtaskStateMapper::ROUND_ROBIN;
  if (name == "FIRST") return SubtaskStateMapper::FIRST;
  if (name == "FULL") return SubtaskStateMapper::FULL;
  if (name == "RANGE") return SubtaskStateMapper::RANGE;
  if (name == "UNSUPPORTED") return SubtaskStateMapper::UNSUPPORTED;
  throw MalformedCase("unknown mapper: " + name);
}

Json lists_of(const RescaleMappings& mappings) {
  Json lists = Json::array();
  for (std::int32_t i = 0; i < mappings.size(); ++i) lists.push_back(mappings.mapped_indexes(i));
  return lists;
}

void replay_mapping(const Json& line) {
  const SubtaskStateMapper mapper = mapper_of(line.at("mapper"));
  const auto mappings =
      new_to_old_subtasks(mapper, parallelism_of(line.at("p")), parallelism_of(line.at("q")));
  if (line.contains("error")) {
    expect_equal("supported", false, mappings.has_value());
    return;
  }
  expect_equal("supported", true, mappings.has_value());
  expect_equal("mayBeAmbiguous", line.at("mayBeAmbiguous"), is_ambiguous(mapper));
  expect_equal("newToOld", line.at("newToOld"), lists_of(*mappings));
  expect_equal("oldToNew", line.at("oldToNew"), lists_of(mappings->invert()));
  expect_equal("identity", line.at("identity"), mappings->is_identity());
  expect_equal("ambiguousOld", line.at("ambiguousOld"), mappings->ambiguous_targets());
}

// --- a whole assignment --------------------------------------------------------------------------

OperatorId parse_id(const std::string& hex) {
  OperatorId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

template <typename Info>
std::vector<ChannelStateHandle<Info>> handles_of(const Json& subtask, const char* member,
                                                 const char* outer, const char* inner) {
  std::vector<ChannelStateHandle<Info>> handles;
  if (!subtask.contains(member)) return handles;
  for (const Json& recorded : subtask.at(member)) {
    ChannelStateHandle<Info> handle;
    handle.info = Info{recorded.at(outer), recorded.at(inner)};
    handle.offsets = recorded.at("offsets").get<std::vector<std::int64_t>>();
    handle.delegate =
        std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{recorded.at("handle"), {}});
    handles.push_back(std::move(handle));
  }
  return handles;
}

template <typename Info>
Json names_of(const std::vector<ChannelStateHandle<Info>>& handles) {
  Json names = Json::array();
  for (const auto& handle : handles) names.push_back(stream_name(*handle.delegate));
  return names;
}

PartitionerKind partitioner_of(const std::string& kind) {
  if (kind == "REBALANCE") return PartitionerKind::kRebalance;
  if (kind == "SHUFFLE") return PartitionerKind::kShuffle;
  if (kind == "HASH") return PartitionerKind::kHash;
  if (kind == "GLOBAL") return PartitionerKind::kGlobal;
  if (kind == "BROADCAST") return PartitionerKind::kBroadcast;
  if (kind == "FORWARD") return PartitionerKind::kForward;
  if (kind == "RESCALE") return PartitionerKind::kRescale;
  throw MalformedCase("unknown kind of edge: " + kind);
}

class Job {
 public:
  explicit Job(const Json& line) {
    for (const Json& recorded : line.at("states")) add_state(recorded);
    for (const Json& recorded : line.at("vertices")) add_vertex(recorded);
    for (const Json& recorded : line.at("edges")) add_edge(recorded);
  }

  std::map<OperatorId, OperatorState> states;
  std::vector<VertexToRestore> vertices;
  std::map<OperatorId, std::string> name_of;

 private:
  void add_state(const Json& recorded) {
    OperatorState state{parse_id(recorded.at("id")), recorded.at("p"), recorded.at("maxP"), {}};
    state.fully_finished = recorded.at("finished");
    for (const auto& [index, subtask] : recorded.at("subtasks").items()) {
      OperatorSubtaskState own;
      own.input_channels = handles_of<InputChannelInfo>(subtask, "input", "gate", "channel");
      own.result_subpartitions =
          handles_of<ResultSubpartitionInfo>(subtask, "output", "partition", "subpartition");
      state.subtasks[std::stoi(index)] = std::move(own);
    }
    states[state.id] = state;
  }
  void add_vertex(const Json& recorded) {
    VertexToRestore vertex;
    vertex.parallelism = parallelism_of(recorded.at("p"));
    vertex.max_parallelism_auto = recorded.at("maxP") == -1;
    vertex.max_parallelism = vertex.max_parallelism_auto
                                 ? default_max_parallelism(vertex.parallelism)
                                 : recorded.at("maxP").get<std::int32_t>();
    for (const Json& op : recorded.at("ops")) {
      vertex.operator_ids.push_back(parse_id(op.at("id")));
      name_of[vertex.operator_ids.back()] = op.at("op");
    }
    vertex.id = vertex.operator_ids.back();
    places_.emplace(recorded.at("vertex"), vertices.size());
    vertices.push_back(std::move(vertex));
  }
  // Listed by gate and partition of their vertices.
  void add_edge(const Json& recorded) {
    const std::size_t from = places_.at(recorded.at("from"));
    const std::size_t to = places_.at(recorded.at("to"));
    const std::size_t partition = recorded.at("partition");
    const std::size_t gate = recorded.at("gate");
    const std::string kind = recorded.at("kind");
    // The engine's own jobs have no custom partitioners.
    const bool custom = kind == "CUSTOM";
    const PartitionerKind partitioner = custom ? PartitionerKind::kRebalance : partitioner_of(kind);
    const SubtaskStateMapper upstream = upstream_subtask_state_mapper(partitioner);
    const SubtaskStateMapper downstream =
        custom ? SubtaskStateMapper::FULL : downstream_subtask_state_mapper(partitioner);
    auto& outputs = vertices[from].outputs;
    if (outputs.size() <= partition) outputs.resize(partition + 1);
    outputs[partition] = {to, gate, upstream, downstream};
    auto& inputs = vertices[to].inputs;
    if (inputs.size() <= gate) inputs.resize(gate + 1);
    inputs[gate] = {from, partition, upstream, downstream};
  }

  std::map<std::string, std::size_t> places_;
};

Json describe(const InflightDataRescalingDescriptor& descriptor) {
  Json result = Json::array();
  for (const InflightDataRescaling& entry : descriptor) {
    if (entry.type == InflightDataRescaling::Type::NO_STATE) {
      result.push_back("NO_STATE");
      continue;
    }
    const bool identity = entry.type == InflightDataRescaling::Type::IDENTITY;
    result.push_back({{"type", identity ? "IDENTITY" : "RESCALING"},
                      {"oldSubtasks", entry.old_subtasks},
                      {"channelMapping", entry.channel_mapping},
                      {"mappingIsIdentity", entry.mapping_is_identity},
                      {"ambiguous", entry.ambiguous_subtasks}});
  }
  return result;
}

Json member(const Json& object, const char* key) {
  return object.contains(key) ? object.at(key) : Json::array();
}

// For each gate, for each channel that it has now.
void expect_virtual_channels(const std::string& where, const Json& expected,
                             const InflightDataRescalingDescriptor& descriptor) {
  for (std::size_t gate = 0; gate < expected.size(); ++gate) {
    if (expected.at(gate).is_null()) continue;
    const Json& channels = expected.at(gate);
    Json got = Json::array();
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      Json list = Json::array();
      for (const VirtualChannel& one :
           descriptor.at(gate).virtual_channels(static_cast<std::int32_t>(channel))) {
        list.push_back({one.old_subtask, one.old_channel, one.filtered ? 1 : 0});
      }
      got.push_back(std::move(list));
    }
    expect_equal(where + " virtual channels of gate " + std::to_string(gate), channels, got);
  }
}

void expect_subtask(const std::string& where, const Json& want, const JobManagerTaskRestore& got,
                    const Job& job, const VertexToRestore& vertex) {
  for (const auto& [id, state] : got.snapshot.operators) {
    const std::string op = job.name_of.at(id);
    if (!want.contains(op)) throw Difference(where, "nothing for " + op, "something");
    const Json& expected = want.at(op);
    expect_equal(where + " " + op + " input", member(expected, "input"),
                 names_of(state.input_channels));
    expect_equal(where + " " + op + " output", member(expected, "output"),
                 names_of(state.result_subpartitions));
    const bool head = id == vertex.operator_ids.back();
    const bool tail = id == vertex.operator_ids.front();
    expect_equal(where + " " + op + " inputDescriptor", member(expected, "inputDescriptor"),
                 head ? describe(got.input_rescaling) : Json::array());
    expect_equal(where + " " + op + " outputDescriptor", member(expected, "outputDescriptor"),
                 tail ? describe(got.output_rescaling) : Json::array());
    if (expected.contains("virtualChannels")) {
      expect_virtual_channels(where, expected.at("virtualChannels"), got.input_rescaling);
    }
  }
}

void replay_inflight(const Json& line) {
  Job job(line);
  StateAssignmentOperation operation{line.at("checkpointId"), job.states,
                                     line.at("allowNonRestored"), kStateAssignment120};
  const auto assigned = operation.assign_states(job.vertices);
  if (line.contains("error")) {
    if (assigned.ok()) throw Difference("assignment", line.at("error").dump(), "no error");
    return;
  }
  if (!assigned.ok()) throw Difference("assignment", "no error", assigned.error());
  for (std::size_t v = 0; v < job.vertices.size(); ++v) {
    const VertexToRestore& vertex = job.vertices[v];
    const Json& expected = line.at("result").at(v);
    expect_equal("subtasks", expected.at("subtasks").size(), vertex.restores.size());
    for (std::size_t i = 0; i < vertex.restores.size(); ++i) {
      const std::string where = expected.at("vertex").get<std::string>() + "." + std::to_string(i);
      const Json& want = expected.at("subtasks").at(i);
      const auto& got = vertex.restores[i];
      expect_equal(where + " restored", !want.is_null(), got != nullptr);
      if (got == nullptr) continue;
      expect_subtask(where, want, *got, job, vertex);
    }
  }
}

const Registration kMappings("assignment/channel_state_mappings.jsonl", &replay_mapping);
const Registration kInflight("rescale/inflight_rescale.jsonl", &replay_inflight);

}  // namespace
}  // namespace tailrace::golden
