// Replays golden/assignment/repartition.jsonl, keyed_assign.jsonl and
// golden/rescale/restore_assignment_f110.jsonl: who gets which state.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoints.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/graph/max_parallelism.hpp"
#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"
#include "engine/rescale/state_assignment_operation.hpp"
#include "sim/base/assert.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

// Checked before anything is allocated for it.
std::int32_t parallelism_of(const Json& number) {
  const auto parallelism = number.get<std::int64_t>();
  if (parallelism < 1 || parallelism > 1 << 15) {
    throw MalformedCase("parallelism: " + std::to_string(parallelism));
  }
  return static_cast<std::int32_t>(parallelism);
}

StreamStateHandlePtr stream_named(const std::string& name) {
  return std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{name, {}});
}

DistributionMode mode_of(const std::string& name) {
  if (name == "UNION") return DistributionMode::UNION;
  if (name == "BROADCAST") return DistributionMode::BROADCAST;
  return DistributionMode::SPLIT_DISTRIBUTE;
}
std::string name_of_mode(DistributionMode mode) {
  if (mode == DistributionMode::UNION) return "UNION";
  return mode == DistributionMode::BROADCAST ? "BROADCAST" : "SPLIT_DISTRIBUTE";
}

OperatorStateHandle operator_handle(const Json& recorded) {
  OperatorStateHandle handle;
  handle.delegate = stream_named(recorded.at("handle"));
  for (const Json& state : recorded.at("states")) {
    handle.states.emplace_back(
        state.at("name").get<std::string>(),
        OperatorStateHandle::StateMetaInfo{state.at("offsets").get<std::vector<std::int64_t>>(),
                                           mode_of(state.at("mode"))});
  }
  return handle;
}

// Handles of one subtask as {name: {state: [mode, offsets]}}: their order has no meaning.
Json canonical(const std::vector<OperatorStateHandle>& handles) {
  Json result = Json::object();
  for (const OperatorStateHandle& handle : handles) {
    Json& entry = result[stream_name(*handle.delegate)] = Json::object();
    for (const auto& [name, info] : handle.states) {
      entry[name] = {name_of_mode(info.mode), info.offsets};
    }
  }
  return result;
}
std::vector<OperatorStateHandle> operator_handles(const Json& recorded) {
  std::vector<OperatorStateHandle> result;
  for (const Json& handle : recorded) result.push_back(operator_handle(handle));
  return result;
}
Json names_of(const std::vector<OperatorStateHandle>& handles) {
  Json names = Json::array();
  for (const OperatorStateHandle& handle : handles) names.push_back(stream_name(*handle.delegate));
  return names;
}

void replay_repartition(const Json& line) {
  OperatorStatePerSubtask input;
  for (const Json& subtask : line.at("input")) input.push_back(operator_handles(subtask));
  for (const auto& [mode, order] : line.at("order").items()) {
    expect_equal("order of " + mode, order,
                 RoundRobinOperatorStateRepartitioner::order_of_names(input, mode_of(mode)));
  }
  // The recording is of 1.20.
  const RoundRobinOperatorStateRepartitioner repartitioner(
      {.redistribute_partly_reported_broadcast = true});
  if (line.contains("error")) {
    bool failed = false;
    try {
      static_cast<void>(repartitioner.repartition_state(input, line.at("q")));
    } catch (const base::InvariantViolation&) {
      failed = true;
    }
    expect_equal("error", true, failed);
    return;
  }
  const OperatorStatePerSubtask output =
      repartitioner.repartition_state(input, parallelism_of(line.at("q")));
  expect_equal("subtasks", line.at("output").size(), output.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto expected = operator_handles(line.at("output").at(i));
    expect_equal("subtask " + std::to_string(i), canonical(expected), canonical(output[i]));
    expect_equal("order of handles of subtask " + std::to_string(i), names_of(expected),
                 names_of(output[i]));
  }
}

// RocksDB's handles are handed on whole if they overlap.
class WholeHandle final : public KeyedStateHandle,
                          public std::enable_shared_from_this<WholeHandle> {
 public:
  WholeHandle(std::string name, KeyGroupRange range) : name_(std::move(name)), range_(range) {}
  [[nodiscard]] KeyGroupRange key_group_range() const override { return range_; }
  [[nodiscard]] std::shared_ptr<const KeyedStateHandle> intersect(
      KeyGroupRange range) const override {
    return range_.intersect(range).empty() ? nullptr : shared_from_this();
  }
  [[nodiscard]] std::int64_t state_size_bytes() const override { return 0; }
  void append_private_files(engine::FileNames&) const override {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  KeyGroupRange range_;
};

KeyedStateHandlePtr keyed_handle(const Json& recorded) {
  const KeyGroupRange range{recorded.at("range").at(0), recorded.at("range").at(1)};
  if (recorded.at("type") == "incremental") {
    return std::make_shared<const WholeHandle>(recorded.at("handle").get<std::string>(), range);
  }
  KeyGroupRangeOffsets offsets{range, {}};
  if (recorded.contains("offsets")) {
    offsets.offsets = recorded.at("offsets").get<std::vector<std::int64_t>>();
  } else {
    offsets.offsets.assign(static_cast<std::size_t>(range.size()), 0);
  }
  return std::make_shared<const KeyGroupsStateHandle>(std::move(offsets),
                                                      stream_named(recorded.at("handle")));
}

Json describe_keyed(const std::vector<KeyedStateHandlePtr>& handles, bool with_offsets) {
  Json result = Json::array();
  for (const KeyedStateHandlePtr& handle : handles) {
    const KeyGroupRange range = handle->key_group_range();
    Json entry{{"range", {range.first, range.last}}};
    if (const auto* whole = dynamic_cast<const WholeHandle*>(handle.get())) {
      entry["handle"] = whole->name();
    } else {
      const auto& groups = dynamic_cast<const KeyGroupsStateHandle&>(*handle);
      entry["handle"] = stream_name(*groups.stream());
      if (with_offsets) entry["offsets"] = groups.offsets().offsets;
    }
    result.push_back(entry);
  }
  return result;
}

Json expected_keyed(const Json& recorded, bool with_offsets) {
  Json result = Json::array();
  for (const Json& handle : recorded) {
    Json entry{{"range", handle.at("range")}, {"handle", handle.at("handle")}};
    if (with_offsets && handle.contains("offsets")) entry["offsets"] = handle.at("offsets");
    result.push_back(entry);
  }
  return result;
}

OperatorSubtaskState subtask_state(const Json& recorded) {
  OperatorSubtaskState state;
  if (recorded.contains("managedOp"))
    state.managed_operator = operator_handles(recorded.at("managedOp"));
  if (recorded.contains("rawOp")) state.raw_operator = operator_handles(recorded.at("rawOp"));
  for (const char* key : {"managedKeyed", "managed"}) {
    if (!recorded.contains(key)) continue;
    for (const Json& handle : recorded.at(key)) state.managed_keyed.push_back(keyed_handle(handle));
  }
  for (const char* key : {"rawKeyed", "raw"}) {
    if (!recorded.contains(key)) continue;
    for (const Json& handle : recorded.at(key)) state.raw_keyed.push_back(keyed_handle(handle));
  }
  return state;
}

void replay_keyed(const Json& line) {
  const OperatorId id{{7}};
  OperatorState state{id, line.at("p"), line.at("M"), {}};
  for (std::size_t i = 0; i < line.at("input").size(); ++i) {
    if (line.at("input").at(i).is_null()) continue;
    state.subtasks[static_cast<std::int32_t>(i)] = subtask_state(line.at("input").at(i));
  }
  const std::map<OperatorId, OperatorState> states{{id, state}};
  std::vector<VertexToRestore> vertices(1);
  vertices[0].parallelism = parallelism_of(line.at("q"));
  vertices[0].max_parallelism = line.at("M");
  vertices[0].operator_ids = {id};
  for (std::int32_t i = 0; i < vertices[0].parallelism; ++i) {
    const KeyGroupRange range =
        key_group_range_of_subtask(line.at("M"), vertices[0].parallelism, i);
    expect_equal("range", line.at("ranges").at(static_cast<std::size_t>(i)),
                 (std::vector<int>{range.first, range.last}));
  }
  // The recording is of 1.20.
  const StateAssignmentOperation operation{
      1, states, false, {.reject_state_without_subtasks = false, .hand_on_empty_ranges = false}};
  const auto assigned = operation.assign_states(vertices);
  if (!assigned.ok()) throw Difference("assignment", "no error", assigned.error());
  expect_equal("subtasks", line.at("output").size(), vertices[0].restores.size());
  for (std::size_t i = 0; i < vertices[0].restores.size(); ++i) {
    const Json& expected = line.at("output").at(i);
    OperatorSubtaskState got;
    if (vertices[0].restores[i] != nullptr)
      got = vertices[0].restores[i]->snapshot.operators.at(id);
    expect_equal("managed " + std::to_string(i), expected_keyed(expected.at("managed"), true),
                 describe_keyed(got.managed_keyed, true));
    expect_equal("raw " + std::to_string(i), expected_keyed(expected.at("raw"), true),
                 describe_keyed(got.raw_keyed, true));
  }
}

OperatorId parse_id(const std::string& hex) {
  OperatorId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

// Loads `states` as the savepoint of a job with these vertices.
// Returns: whether that is possible; `states` are then what is left of them.
bool load(const Json& line, const std::vector<VertexToRestore>& vertices,
          std::map<OperatorId, OperatorState>& states) {
  Checkpoints::OperatorToVertex operators;
  for (const VertexToRestore& vertex : vertices) {
    const Checkpoints::Vertex fits{vertex.max_parallelism, vertex.max_parallelism_auto};
    for (const OperatorId& id : vertex.operator_ids) operators[id] = fits;
    for (const auto& id : vertex.user_defined_ids) {
      if (id.has_value()) operators[*id] = fits;
    }
  }
  CheckpointMetadata metadata;
  metadata.checkpoint_id = line.at("checkpointId");
  metadata.operator_states = std::move(states);
  const auto loaded = Checkpoints::validate_checkpoint(JobId{1}, operators, std::move(metadata),
                                                       "savepoint", line.at("allowNonRestored"));
  if (!loaded.ok()) return false;
  states = loaded.value()->operator_states;
  if (line.contains("kept")) {
    std::multiset<std::string> expected;
    for (const Json& name : line.at("kept")) expected.insert(name.get<std::string>());
    std::multiset<std::string> kept;
    for (const Json& recorded : line.at("states")) {
      if (states.contains(parse_id(recorded.at("id")))) kept.insert(recorded.at("of"));
    }
    expect_equal("kept", expected, kept);
  }
  if (line.contains("maxPAfterLoad")) {
    Json max_parallelism = Json::array();
    for (const VertexToRestore& vertex : vertices)
      max_parallelism.push_back(vertex.max_parallelism);
    expect_equal("maxPAfterLoad", line.at("maxPAfterLoad"), max_parallelism);
  }
  return true;
}

void replay_restore(const Json& line) {
  std::map<OperatorId, OperatorState> states;
  for (const Json& recorded : line.at("states")) {
    OperatorState state{parse_id(recorded.at("id")), recorded.at("p"), recorded.at("maxP"), {}};
    for (const auto& [index, subtask] : recorded.at("subtasks").items()) {
      state.subtasks[std::stoi(index)] = subtask_state(subtask);
    }
    states[state.id] = state;
  }
  std::vector<VertexToRestore> vertices;
  std::map<OperatorId, std::string> name_of;
  for (const Json& recorded : line.at("vertices")) {
    VertexToRestore vertex;
    vertex.parallelism = parallelism_of(recorded.at("p"));
    vertex.max_parallelism_auto = recorded.at("maxP") == -1;
    vertex.max_parallelism = vertex.max_parallelism_auto
                                 ? default_max_parallelism(vertex.parallelism)
                                 : recorded.at("maxP").get<std::int32_t>();
    for (const Json& op : recorded.at("ops")) {
      vertex.operator_ids.push_back(parse_id(op.at("id")));
      vertex.user_defined_ids.emplace_back();
      if (op.contains("userId") && op.at("userId").is_string()) {
        vertex.user_defined_ids.back() = parse_id(op.at("userId"));
      }
      name_of[vertex.operator_ids.back()] = op.at("op");
    }
    vertex.id = vertex.operator_ids.back();
    vertices.push_back(vertex);
  }
  const bool loaded = !line.at("load").get<bool>() || load(line, vertices, states);
  const StateAssignmentOperation operation{
      line.at("checkpointId"), states, line.at("allowNonRestored"), {}};
  const auto assigned = operation.assign_states(vertices);
  if (line.contains("error")) {
    const std::string message = line.at("error").at("message");
    const bool of_loading = message.starts_with("Failed to rollback");
    expect_equal("loaded", !of_loading, loaded);
    if (loaded && assigned.ok()) throw Difference("assignment", message, "no error");
    return;
  }
  expect_equal("loaded", true, loaded);
  if (!assigned.ok()) throw Difference("assignment", "no error", assigned.error());
  expect_equal("vertices", line.at("result").size(), vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Json& expected = line.at("result").at(v);
    expect_equal("max parallelism", expected.at("maxPAfter"), vertices[v].max_parallelism);
    for (std::size_t i = 0; i < vertices[v].restores.size(); ++i) {
      const std::string where = expected.at("vertex").get<std::string>() + "." + std::to_string(i);
      const Json& want = expected.at("subtasks").at(i);
      const auto& got = vertices[v].restores[i];
      expect_equal(where + " restored", !want.is_null(), got != nullptr);
      if (got == nullptr) continue;
      expect_equal(where + " checkpoint", line.at("checkpointId"), got->restore_checkpoint_id);
      for (const auto& [id, state] : got->snapshot.operators) {
        const std::string op = name_of.at(id);
        if (!want.contains(op)) throw Difference(where, "nothing for " + op, "something");
        const Json& w = want.at(op);
        const auto member = [&w](const char* key) {
          return w.contains(key) ? w.at(key) : Json::array();
        };
        expect_equal(where + " " + op + " managedOp",
                     canonical(operator_handles(member("managedOp"))),
                     canonical(state.managed_operator));
        expect_equal(where + " " + op + " rawOp", canonical(operator_handles(member("rawOp"))),
                     canonical(state.raw_operator));
        expect_equal(where + " " + op + " managedKeyed",
                     expected_keyed(member("managedKeyed"), false),
                     describe_keyed(state.managed_keyed, false));
        expect_equal(where + " " + op + " rawKeyed", expected_keyed(member("rawKeyed"), false),
                     describe_keyed(state.raw_keyed, false));
      }
      expect_equal(where + " operators", want.size(), got->snapshot.operators.size());
    }
  }
}

const Registration kRepartition("assignment/repartition.jsonl", &replay_repartition);
const Registration kKeyed("assignment/keyed_assign.jsonl", &replay_keyed);
const Registration kRestore("rescale/restore_assignment_f110.jsonl", &replay_restore);

}  // namespace
}  // namespace tailrace::golden
