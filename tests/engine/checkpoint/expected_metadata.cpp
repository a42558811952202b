#include "tests/engine/checkpoint/expected_metadata.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine::test {
namespace {

// As zip and PNG have it.
std::string crc32_hex(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", ~crc);
  return hex.data();
}

Json in_line_to_json(std::span<const std::byte> bytes) {
  return {{"size", bytes.size()}, {"crc32", crc32_hex(bytes)}};
}

// ---- What the engine has

Json to_json(const StreamStateHandle& stream) {
  if (const auto* file = std::get_if<FileStateHandle>(&stream)) {
    const bool relative = !file->relative_path.empty();
    return {{"type", relative ? "relative" : "file"},
            {"path", relative ? file->relative_path : file->path},
            {"size", file->size_bytes}};
  }
  const auto& bytes = std::get<ByteStreamStateHandle>(stream);
  Json result = in_line_to_json(bytes.bytes);
  result["type"] = "bytes";
  result["name"] = bytes.name;
  return result;
}

Json to_json(const std::vector<OperatorStateHandle>& handles) {
  static constexpr std::array kModes = {"SPLIT_DISTRIBUTE", "UNION", "BROADCAST"};
  Json result = Json::array();
  for (const OperatorStateHandle& handle : handles) {
    Json states = Json::array();
    for (const auto& [name, info] : handle.states) {
      states.push_back({{"name", name},
                        {"mode", kModes.at(static_cast<std::size_t>(info.mode))},
                        {"offsets", info.offsets}});
    }
    result.push_back({{"type", "partitionable"},
                      {"states", states},
                      {"stream", to_json(*handle.delegate)},
                      {"size", state_size_bytes(*handle.delegate)}});
  }
  return result;
}

template <typename Info>
Json to_json(const std::vector<ChannelStateHandle<Info>>& handles, const char* outer,
             const char* inner) {
  Json result = Json::array();
  for (const ChannelStateHandle<Info>& handle : handles) {
    const auto [first, second] = handle.info;
    result.push_back({{"subtaskIndex", handle.subtask},
                      {outer, first},
                      {inner, second},
                      {"offsets", handle.offsets},
                      {"size", handle.size_bytes},
                      {"stream", to_json(*handle.delegate)}});
  }
  return result;
}

// An unknown size adds nothing to a sum.
std::int64_t known_size(const IncrementalRemoteKeyedStateHandle::Content& content) {
  std::int64_t bytes = std::max<std::int64_t>(state_size_bytes(*content.meta_state), 0);
  for (const auto* files : {&content.shared_state, &content.private_state}) {
    for (const auto& file : *files) {
      bytes += std::max<std::int64_t>(state_size_bytes(*file.handle), 0);
    }
  }
  return bytes;
}

Json to_json(const IncrementalRemoteKeyedStateHandle& handle) {
  const auto& content = handle.content();
  const bool with_id = !content.state_handle_id.empty();
  Json result = {{"type", "incremental"},
                 {"typeByte", with_id ? 11 : 5},
                 {"checkpointId", content.checkpoint_id},
                 {"backendId", content.backend_id},
                 {"startKeyGroup", content.key_group_range.first},
                 {"numKeyGroups", content.key_group_range.size()},
                 {"meta", to_json(*content.meta_state)},
                 {"size", known_size(content)}};
  if (with_id) {
    result["checkpointedSize"] = content.persisted_bytes;
    result["stateHandleId"] = content.state_handle_id;
  }
  for (const auto& [name, files] :
       {std::pair("shared", &content.shared_state), std::pair("private", &content.private_state)}) {
    Json list = Json::array();
    for (const auto& file : *files) {
      list.push_back({{"localPath", file.local_path}, {"stream", to_json(*file.handle)}});
    }
    result[name] = std::move(list);
  }
  return result;
}

Json to_json(const std::vector<KeyedStateHandlePtr>& handles) {
  if (handles.empty()) return {};
  if (const auto* incremental = handles.front()->as_incremental()) return to_json(*incremental);
  const auto& handle = dynamic_cast<const KeyGroupsStateHandle&>(*handles.front());
  const bool savepoint = handle.format() == KeyGroupsFormat::SAVEPOINT;
  const bool with_id = !handle.state_handle_id().empty();
  Json result = {{"type", savepoint ? "savepointKeyGroups" : "keyGroups"},
                 {"typeByte", savepoint ? 7
                              : with_id ? 12
                                        : 3},
                 {"startKeyGroup", handle.key_group_range().first},
                 {"numKeyGroups", handle.key_group_range().size()},
                 {"offsets", handle.offsets().offsets},
                 {"stream", to_json(*handle.stream())},
                 {"size", handle.state_size_bytes()}};
  if (with_id) result["stateHandleId"] = handle.state_handle_id();
  return result;
}

Json to_json(const std::optional<CheckpointProperties>& properties) {
  if (!properties.has_value()) return {};
  Json type;
  if (properties->is_savepoint()) {
    const bool native = properties->format == SavepointFormatType::NATIVE;
    type = {{"class", "org.apache.flink.runtime.checkpoint.SavepointType"},
            {"formatType", native ? "NATIVE" : "CANONICAL"}};
    switch (properties->type) {
      case CheckpointType::SAVEPOINT_SUSPEND:
        type["name"] = "Suspend Savepoint";
        type["postCheckpointAction"] = "SUSPEND";
        break;
      case CheckpointType::SAVEPOINT_TERMINATE:
        type["name"] = "Terminate Savepoint";
        type["postCheckpointAction"] = "TERMINATE";
        break;
      default:
        type["name"] = "Savepoint";
        type["postCheckpointAction"] = "NONE";
        break;
    }
  } else {
    const bool full = properties->type == CheckpointType::FULL_CHECKPOINT;
    type = {{"class", "org.apache.flink.runtime.checkpoint.CheckpointType"},
            {"name", full ? "Full Checkpoint" : "Checkpoint"},
            {"sharingFilesStrategy", full ? "FORWARD" : "FORWARD_BACKWARD"}};
  }
  return {{"discardCancelled", properties->discard_on_cancelled},
          {"discardFailed", properties->discard_on_failed},
          {"discardFinished", properties->discard_on_finished},
          {"discardSubsumed", properties->discard_on_subsumed},
          {"discardSuspended", properties->discard_on_suspended},
          {"forced", properties->forced},
          {"unclaimed", properties->unclaimed},
          {"checkpointType", type}};
}

// ---- What the recording has

const std::array kSubtaskFields = {"managedOperatorState", "rawOperatorState", "managedKeyedState",
                                   "rawKeyedState"};
const std::array kChannelFields = {"inputChannelState", "resultSubpartitionState"};

// The type byte that makes the engine leave a stream out; 0: none.
int unsupported_stream(const Json& stream) {
  const std::string type = stream.at("type");
  if (type == "segment") return 15;
  if (type == "emptySegment") return 16;
  return type == "keyGroups" ? unsupported_stream(stream.at("stream")) : 0;
}

// The same of an operator state handle or a keyed one.
int unsupported_handle(const Json& handle) {
  const std::string type = handle.at("type");
  if (type == "fileMergingPartitionable") return 17;
  if (type.rfind("changelog", 0) == 0) return handle.at("typeByte");
  if (type != "incremental") return unsupported_stream(handle.at("stream"));
  if (const int meta = unsupported_stream(handle.at("meta")); meta != 0) return meta;
  for (const char* list : {"shared", "private"}) {
    for (const Json& file : handle.at(list)) {
      if (const int type_byte = unsupported_stream(file.at("stream")); type_byte != 0) {
        return type_byte;
      }
    }
  }
  return 0;
}

// A field of a subtask as a list of handles.
Json handles_of(const Json& subtask, const char* field) {
  const Json& value = subtask.at(field);
  if (value.is_null()) return Json::array();
  return value.is_array() ? value : Json::array({value});
}

Json without_position(Json in_line) {
  in_line.erase("dataOffset");
  return in_line;
}

Json expected_stream(const Json& stream) {
  // A keyed handle in the place of a stream: what counts is the stream in it.
  return stream.at("type") == "keyGroups" ? expected_stream(stream.at("stream"))
                                          : without_position(stream);
}

Json expected_handle(Json handle) {
  for (const char* member : {"stream", "meta"}) {
    if (handle.contains(member)) handle[member] = expected_stream(handle[member]);
  }
  for (const char* list : {"shared", "private"}) {
    if (!handle.contains(list)) continue;
    for (Json& file : handle[list]) file["stream"] = expected_stream(file["stream"]);
  }
  // Where an empty range starts means nothing.
  if (handle.contains("numKeyGroups") && handle["numKeyGroups"] == 0) handle["startKeyGroup"] = 0;
  return handle;
}

Json expected_subtask(const Json& subtask) {
  if (subtask.at("finished") == true) return "finished";
  Json result;
  for (const char* field : kSubtaskFields) {
    Json kept = Json::array();
    for (const Json& handle : handles_of(subtask, field)) {
      if (unsupported_handle(handle) == 0) kept.push_back(expected_handle(handle));
    }
    if (subtask.at(field).is_array()) {
      result[field] = kept;
    } else {
      result[field] = kept.empty() ? Json() : kept.front();
    }
  }
  for (const char* field : kChannelFields) {
    result[field] = Json::array();
    if (!subtask.contains(field)) continue;
    for (Json handle : subtask.at(field)) {
      if (unsupported_stream(handle.at("stream")) != 0) continue;
      handle["stream"] = expected_stream(handle["stream"]);
      result[field].push_back(std::move(handle));
    }
  }
  return result;
}

bool is_left_out(const Json& op) {
  for (const Json& subtask : op.at("subtasks")) {
    if (subtask.value("finished", false)) continue;
    for (const char* field : kSubtaskFields) {
      for (const Json& handle : handles_of(subtask, field)) {
        if (unsupported_handle(handle) != 0) return true;
      }
    }
    for (const char* field : kChannelFields) {
      if (!subtask.contains(field)) continue;
      for (const Json& handle : subtask.at(field)) {
        if (unsupported_stream(handle.at("stream")) != 0) return true;
      }
    }
  }
  return false;
}

// Whether Flink 1.10 or 1.20 still writes such handles. They have read others, of older releases.
bool is_written_today(const Json& op, int version) {
  const std::set<int> written = version == 2 ? std::set<int>{3, 5} : std::set<int>{7, 11, 12};
  for (const Json& subtask : op.at("subtasks")) {
    if (subtask.value("finished", false)) continue;
    for (const char* field : {"managedKeyedState", "rawKeyedState"}) {
      for (const Json& handle : handles_of(subtask, field)) {
        if (!written.contains(handle.at("typeByte").get<int>())) return false;
      }
    }
  }
  // Made by hand: 1.20 names coordinator state after the operator.
  const Json coordinator = op.value("coordinatorState", Json());
  return coordinator.is_null() || coordinator.at("name") == op.at("id");
}

std::vector<std::byte> write(int version, CheckpointId id, const OperatorStates& states,
                             const std::optional<CheckpointProperties>& properties) {
  return version == 2 ? MetadataV2Serializer::serialize(id, {}, states)
                      : MetadataV4Serializer::serialize(id, {}, states, properties);
}

}  // namespace

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Json metadata_to_json(const MetadataReading& reading) {
  const CheckpointMetadata& metadata = reading.metadata;
  Json result = {{"version", reading.version},
                 {"checkpointId", metadata.checkpoint_id},
                 {"masterStates", Json::array()},
                 {"properties", to_json(metadata.properties)},
                 {"operators", Json::object()}};
  for (const MasterState& state : metadata.master_states) {
    Json master = in_line_to_json(state.bytes);
    master["name"] = state.name;
    master["version"] = state.version;
    result["masterStates"].push_back(std::move(master));
  }
  for (const auto& [id, state] : metadata.operator_states) {
    Json subtasks = Json::object();
    for (const std::int32_t index : state.finished_subtasks) {
      subtasks[std::to_string(index)] = "finished";
    }
    for (const auto& [index, subtask] : state.subtasks) {
      subtasks[std::to_string(index)] = {
          {"managedOperatorState", to_json(subtask.managed_operator)},
          {"rawOperatorState", to_json(subtask.raw_operator)},
          {"managedKeyedState", to_json(subtask.managed_keyed)},
          {"rawKeyedState", to_json(subtask.raw_keyed)},
          {"inputChannelState", to_json(subtask.input_channels, "gateIndex", "channelIndex")},
          {"resultSubpartitionState",
           to_json(subtask.result_subpartitions, "partitionIndex", "subpartitionIndex")}};
    }
    result["operators"][id.hex()] = {
        {"parallelism", state.parallelism},
        {"maxParallelism", state.max_parallelism},
        {"coordinatorState",
         state.coordinator_state ? in_line_to_json(*state.coordinator_state) : Json()},
        {"fullyFinished", state.fully_finished},
        {"subtasks", std::move(subtasks)}};
  }
  return result;
}

Json expected_to_json(const Json& expected) {
  Json result = {{"version", expected.at("version")},
                 {"checkpointId", expected.at("checkpointId")},
                 {"masterStates", Json::array()},
                 {"properties", expected.value("properties", Json())},
                 {"operators", Json::object()}};
  for (const Json& state : expected.at("masterStates")) {
    result["masterStates"].push_back(without_position(state));
  }
  for (const Json& op : expected.at("operators")) {
    Json subtasks = Json::object();
    for (const Json& subtask : op.at("subtasks")) {
      subtasks[std::to_string(subtask.at("index").get<int>())] = expected_subtask(subtask);
    }
    Json coordinator = op.value("coordinatorState", Json());
    if (!coordinator.is_null()) {
      coordinator = {{"size", coordinator.at("size")}, {"crc32", coordinator.at("crc32")}};
    }
    result["operators"][op.at("id").get<std::string>()] = {
        {"parallelism", op.at("parallelism")},
        {"maxParallelism", op.at("maxParallelism")},
        {"coordinatorState", coordinator},
        {"fullyFinished", op.at("fullyFinished")},
        {"subtasks", std::move(subtasks)}};
  }
  return result;
}

Json left_out_to_json(const MetadataReading& reading) {
  Json result = Json::array();
  for (const UnsupportedState& state : reading.left_out) {
    result.push_back(
        {state.type ? Json(*state.type) : Json(), state.operator_id.hex(), state.subtask});
  }
  return result;
}

Json expected_left_out(const Json& expected) {
  Json result = Json::array();
  for (const Json& op : expected.at("operators")) {
    for (const Json& subtask : op.at("subtasks")) {
      if (subtask.value("finished", false)) continue;
      const auto add = [&](const Json& type) {
        result.push_back({type, op.at("id"), subtask.at("index")});
      };
      for (const char* field : kSubtaskFields) {
        for (const Json& handle : handles_of(subtask, field)) {
          if (const int type = unsupported_handle(handle); type != 0) add(type);
        }
      }
      for (const char* field : kChannelFields) {
        if (!subtask.contains(field)) continue;
        for (const Json& handle : subtask.at(field)) {
          if (const int type = unsupported_stream(handle.at("stream")); type != 0) add(type);
        }
      }
    }
  }
  return result;
}

bool has_legacy_state(const Json& expected) {
  for (const Json& op : expected.at("operators")) {
    for (const Json& subtask : op.at("subtasks")) {
      if (subtask.contains("legacyState") && !subtask.at("legacyState").empty()) return true;
    }
  }
  return false;
}

std::string difference_when_written_again(const Json& expected, std::span<const std::byte> file,
                                          const MetadataReading& reading) {
  const int version = reading.version;
  if (version == 3) return {};
  const CheckpointMetadata& metadata = reading.metadata;
  const std::vector<std::byte> nothing =
      write(version, metadata.checkpoint_id, {}, metadata.properties);
  constexpr std::size_t kHeaderBytes = 24;
  const std::span<const std::byte> properties = std::span(nothing).subspan(kHeaderBytes);
  if (version == 4) {
    const std::size_t begin = expected.at("propertiesOffset");
    if (!std::ranges::equal(properties, file.subspan(begin))) return "properties";
  }
  bool whole = metadata.master_states.empty() && reading.left_out.empty();
  for (const Json& op : expected.at("operators")) {
    if (is_left_out(op) || !is_written_today(op, version)) {
      whole = false;
      continue;
    }
    for (const auto& [id, state] : metadata.operator_states) {
      if (op.at("id") != id.hex()) continue;
      const std::vector<std::byte> one =
          write(version, metadata.checkpoint_id, {{id, state}}, metadata.properties);
      const auto entry =
          std::span(one).subspan(kHeaderBytes, one.size() - kHeaderBytes - properties.size());
      // Somewhere: Flink's order of operators is that of a hash map.
      if (std::search(file.begin(), file.end(), entry.begin(), entry.end()) == file.end()) {
        return "operator " + id.hex();
      }
    }
  }
  if (whole) {
    const std::size_t size =
        write(version, metadata.checkpoint_id, metadata.operator_states, metadata.properties)
            .size();
    if (size != file.size()) return "the size of the file: " + std::to_string(size);
  }
  return {};
}

}  // namespace tailrace::engine::test
