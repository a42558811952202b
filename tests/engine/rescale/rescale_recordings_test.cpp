// Replays golden/assignment/repartition.jsonl, keyed_assign.jsonl and
// golden/rescale/restore_assignment_f110.jsonl.
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/graph/max_parallelism.hpp"
#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"
#include "engine/rescale/state_assignment_operation.hpp"
#include "tests/engine/rescale/replay_recording.hpp"

namespace tailrace::engine {
namespace {

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
  handle.delegate = stream_named(recorded["handle"]);
  for (const Json& state : recorded["states"]) {
    handle.states.emplace_back(
        state["name"].get<std::string>(),
        OperatorStateHandle::StateMetaInfo{state["offsets"].get<std::vector<std::int64_t>>(),
                                           mode_of(state["mode"])});
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
  for (const Json& subtask : line["input"]) input.push_back(operator_handles(subtask));
  for (const auto& [mode, order] : line["order"].items()) {
    expect_same("order of " + mode, order,
                RoundRobinOperatorStateRepartitioner::order_of_names(input, mode_of(mode)));
  }
  // The recording is of 1.20.
  const RoundRobinOperatorStateRepartitioner repartitioner(
      {.redistribute_partly_reported_broadcast = true});
  const OperatorStatePerSubtask output = repartitioner.repartition_state(input, line["q"]);
  expect_same("subtasks", line["output"].size(), output.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto expected = operator_handles(line["output"][i]);
    expect_same("subtask " + std::to_string(i), canonical(expected), canonical(output[i]));
    expect_same("order of handles of subtask " + std::to_string(i), names_of(expected),
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
  void append_private_files(std::vector<std::string>&) const override {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  KeyGroupRange range_;
};

KeyedStateHandlePtr keyed_handle(const Json& recorded) {
  const KeyGroupRange range{recorded["range"][0], recorded["range"][1]};
  if (recorded["type"] == "incremental") {
    return std::make_shared<const WholeHandle>(recorded["handle"].get<std::string>(), range);
  }
  KeyGroupRangeOffsets offsets{range, {}};
  if (recorded.contains("offsets")) {
    offsets.offsets = recorded["offsets"].get<std::vector<std::int64_t>>();
  } else {
    offsets.offsets.assign(static_cast<std::size_t>(range.size()), 0);
  }
  return std::make_shared<const KeyGroupsStateHandle>(std::move(offsets),
                                                      stream_named(recorded["handle"]));
}

Json describe_keyed(const std::vector<KeyedStateHandlePtr>& handles, bool with_offsets,
                    bool drop_empty) {
  Json result = Json::array();
  for (const KeyedStateHandlePtr& handle : handles) {
    const KeyGroupRange range = handle->key_group_range();
    if (drop_empty && range.empty()) continue;
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
    Json entry{{"range", handle["range"]}, {"handle", handle["handle"]}};
    if (with_offsets && handle.contains("offsets")) entry["offsets"] = handle["offsets"];
    result.push_back(entry);
  }
  return result;
}

OperatorSubtaskState subtask_state(const Json& recorded) {
  OperatorSubtaskState state;
  if (recorded.contains("managedOp"))
    state.managed_operator = operator_handles(recorded["managedOp"]);
  if (recorded.contains("rawOp")) state.raw_operator = operator_handles(recorded["rawOp"]);
  for (const char* key : {"managedKeyed", "managed"}) {
    if (!recorded.contains(key)) continue;
    for (const Json& handle : recorded[key]) state.managed_keyed.push_back(keyed_handle(handle));
  }
  for (const char* key : {"rawKeyed", "raw"}) {
    if (!recorded.contains(key)) continue;
    for (const Json& handle : recorded[key]) state.raw_keyed.push_back(keyed_handle(handle));
  }
  return state;
}

void replay_keyed(const Json& line) {
  const OperatorId id{{7}};
  OperatorState state{id, line["p"], line["M"], {}};
  for (std::size_t i = 0; i < line["input"].size(); ++i) {
    if (line["input"][i].is_null()) continue;
    state.subtasks[static_cast<std::int32_t>(i)] = subtask_state(line["input"][i]);
  }
  const std::map<OperatorId, OperatorState> states{{id, state}};
  std::vector<VertexToRestore> vertices(1);
  vertices[0].parallelism = line["q"];
  vertices[0].max_parallelism = line["M"];
  vertices[0].operator_ids = {id};
  for (std::int32_t i = 0; i < vertices[0].parallelism; ++i) {
    const KeyGroupRange range = key_group_range_of_subtask(line["M"], vertices[0].parallelism, i);
    expect_same("range", line["ranges"][static_cast<std::size_t>(i)],
                (std::vector<int>{range.first, range.last}));
  }
  // 1.10 fails where nobody reported anything and the parallelism changes; 1.20, which was recorded,
  // does not.
  if (state.subtasks.empty()) return;
  const StateAssignmentOperation operation{1, states, false};
  const auto assigned = operation.assign_states(vertices);
  if (!assigned.ok()) throw std::runtime_error(assigned.error());
  for (std::size_t i = 0; i < vertices[0].restores.size(); ++i) {
    const Json& expected = line["output"][i];
    OperatorSubtaskState got;
    if (vertices[0].restores[i] != nullptr)
      got = vertices[0].restores[i]->snapshot.operators.at(id);
    // 1.10 keeps handles with the empty range, 1.20 drops them.
    const bool drop = line["p"] != line["q"];
    expect_same("managed " + std::to_string(i), expected_keyed(expected["managed"], true),
                describe_keyed(got.managed_keyed, true, drop));
    expect_same("raw " + std::to_string(i), expected_keyed(expected["raw"], true),
                describe_keyed(got.raw_keyed, true, drop));
  }
}

OperatorId parse_id(const std::string& hex) {
  OperatorId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

// What `Checkpoints` does before (S-3.2) belongs to another room: take what it kept.
void replay_restore(const Json& line) {
  std::map<OperatorId, OperatorState> states;
  for (const Json& recorded : line["states"]) {
    if (line.contains("kept")) {
      const auto kept = line["kept"].get<std::vector<std::string>>();
      if (std::find(kept.begin(), kept.end(), recorded["of"]) == kept.end()) continue;
    }
    OperatorState state{parse_id(recorded["id"]), recorded["p"], recorded["maxP"], {}};
    for (const auto& [index, subtask] : recorded["subtasks"].items()) {
      state.subtasks[std::stoi(index)] = subtask_state(subtask);
    }
    states[state.id] = state;
  }
  std::vector<VertexToRestore> vertices;
  std::map<OperatorId, std::string> name_of;
  for (const Json& recorded : line["vertices"]) {
    VertexToRestore vertex;
    vertex.parallelism = recorded["p"];
    vertex.max_parallelism_auto = recorded["maxP"] == -1;
    vertex.max_parallelism = vertex.max_parallelism_auto
                                 ? default_max_parallelism(vertex.parallelism)
                                 : recorded["maxP"].get<std::int32_t>();
    for (const Json& op : recorded["ops"]) {
      vertex.operator_ids.push_back(parse_id(op["id"]));
      vertex.user_defined_ids.emplace_back();
      if (op.contains("userId") && op["userId"].is_string()) {
        vertex.user_defined_ids.back() = parse_id(op["userId"]);
      }
      name_of[vertex.operator_ids.back()] = op["op"];
    }
    vertex.id = vertex.operator_ids.back();
    vertices.push_back(vertex);
  }
  const StateAssignmentOperation operation{line["checkpointId"], states, line["allowNonRestored"]};
  const auto assigned = operation.assign_states(vertices);
  if (line.contains("error")) {
    const std::string message = line["error"]["message"];
    const bool of_loading = line["load"].get<bool>() && message.find("Failed to rollback") == 0;
    if (assigned.ok() && !of_loading) throw std::runtime_error("no error, Flink: " + message);
    return;
  }
  if (!assigned.ok()) throw std::runtime_error(assigned.error());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Json& expected = line["result"][v];
    expect_same("max parallelism", expected["maxPAfter"], vertices[v].max_parallelism);
    for (std::size_t i = 0; i < vertices[v].restores.size(); ++i) {
      const std::string where = expected["vertex"].get<std::string>() + "." + std::to_string(i);
      const Json& want = expected["subtasks"][i];
      const auto& got = vertices[v].restores[i];
      expect_same(where + " restored", !want.is_null(), got != nullptr);
      if (got == nullptr) continue;
      expect_same(where + " checkpoint", line["checkpointId"], got->restore_checkpoint_id);
      for (const auto& [id, state] : got->snapshot.operators) {
        const std::string op = name_of.at(id);
        if (!want.contains(op)) throw std::runtime_error(where + ": " + op + " is not expected");
        const Json& w = want[op];
        const auto member = [&w](const char* key) {
          return w.contains(key) ? w[key] : Json::array();
        };
        expect_same(where + " " + op + " managedOp",
                    canonical(operator_handles(member("managedOp"))),
                    canonical(state.managed_operator));
        expect_same(where + " " + op + " rawOp", canonical(operator_handles(member("rawOp"))),
                    canonical(state.raw_operator));
        expect_same(where + " " + op + " managedKeyed",
                    expected_keyed(member("managedKeyed"), false),
                    describe_keyed(state.managed_keyed, false, false));
        expect_same(where + " " + op + " rawKeyed", expected_keyed(member("rawKeyed"), false),
                    describe_keyed(state.raw_keyed, false, false));
      }
      expect_same(where + " operators", want.size(), got->snapshot.operators.size());
    }
  }
}

TEST(RescaleRecordings, OperatorStateIsDealtOutAsFlinkDoes) {
  replay_recording("assignment/repartition.jsonl", replay_repartition);
}
TEST(RescaleRecordings, KeyedStateIsDealtOutAsFlinkDoes) {
  replay_recording("assignment/keyed_assign.jsonl", replay_keyed);
}
TEST(RescaleRecordings, WholeRestoresAreThoseOfFlink110) {
  replay_recording("rescale/restore_assignment_f110.jsonl", replay_restore);
}

}  // namespace
}  // namespace tailrace::engine
