// The metadata file of 1.10: what is written comes back, what Flink wrote is read, nothing hostile
// gets through.
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine {
namespace {

using Json = nlohmann::json;

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

OperatorId operator_id(std::uint8_t number) {
  OperatorId id;
  id.bytes[0] = number;
  return id;
}

StreamStateHandlePtr any_stream(bool in_file) {
  if (in_file) {
    return std::make_shared<StreamStateHandle>(FileStateHandle{
        "/checkpoints/chk-" + *rc::gen::container<std::string>(rc::gen::inRange('a', 'z')),
        *rc::gen::inRange<std::int64_t>(-1, 1'000'000'000'000)});
  }
  return std::make_shared<StreamStateHandle>(
      ByteStreamStateHandle{"in line", bytes_of(*rc::gen::arbitrary<std::string>())});
}

OperatorStateHandle any_operator_state() {
  OperatorStateHandle handle;
  const int names = *rc::gen::inRange(0, 4);
  for (int i = 0; i < names; ++i) {
    OperatorStateHandle::StateMetaInfo info;
    info.offsets = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40));
    info.mode = static_cast<DistributionMode>(*rc::gen::inRange(0, 3));
    handle.states.emplace_back("state " + std::to_string(i), std::move(info));
  }
  handle.delegate = any_stream(*rc::gen::arbitrary<bool>());
  return handle;
}

KeyedStateHandlePtr any_keyed_state() {
  const int first = *rc::gen::inRange(0, 100);
  const int size = *rc::gen::inRange(1, 28);
  KeyGroupRangeOffsets offsets{{first, first + size - 1}, {}};
  for (int i = 0; i < size; ++i) {
    offsets.offsets.push_back(*rc::gen::inRange<std::int64_t>(-1, 1'000'000));
  }
  return std::make_shared<KeyGroupsStateHandle>(std::move(offsets),
                                                any_stream(*rc::gen::arbitrary<bool>()));
}

KeyedStateHandlePtr any_incremental_state() {
  IncrementalRemoteKeyedStateHandle::Content content;
  content.backend_id = "7f0fd6a2-2a44-4b6d-9b2e-b0a5f2d6e0c1";
  const int first = *rc::gen::inRange(0, 100);
  const int size = *rc::gen::inRange(0, 28);
  if (size > 0) content.key_group_range = {first, first + size - 1};
  content.checkpoint_id = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50);
  content.meta_state = any_stream(*rc::gen::arbitrary<bool>());
  for (auto* files : {&content.shared_state, &content.private_state}) {
    const int number = *rc::gen::inRange(0, 4);
    for (int i = 0; i < number; ++i) {
      files->push_back({std::to_string(i) + ".sst", any_stream(*rc::gen::arbitrary<bool>())});
    }
  }
  return std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content));
}

KeyedStateHandlePtr any_keyed_or_incremental_state() {
  return *rc::gen::arbitrary<bool>() ? any_keyed_state() : any_incremental_state();
}

OperatorSubtaskState any_subtask_state() {
  OperatorSubtaskState state;
  if (*rc::gen::arbitrary<bool>()) state.managed_operator.push_back(any_operator_state());
  if (*rc::gen::arbitrary<bool>()) state.raw_operator.push_back(any_operator_state());
  if (*rc::gen::arbitrary<bool>()) state.managed_keyed.push_back(any_keyed_or_incremental_state());
  if (*rc::gen::arbitrary<bool>()) state.raw_keyed.push_back(any_keyed_or_incremental_state());
  return state;
}

CheckpointMetadata any_metadata() {
  CheckpointMetadata metadata;
  metadata.checkpoint_id = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50);
  const int hooks = *rc::gen::inRange(0, 3);
  for (int i = 0; i < hooks; ++i) {
    metadata.master_states.push_back({*rc::gen::arbitrary<std::int32_t>(),
                                      "hook " + std::to_string(i),
                                      bytes_of(*rc::gen::arbitrary<std::string>())});
  }
  const int operators = *rc::gen::inRange(0, 4);
  for (int i = 0; i < operators; ++i) {
    const OperatorId id = operator_id(static_cast<std::uint8_t>(i));
    OperatorState state{id, *rc::gen::inRange(1, 5), 128, {}};
    for (int subtask = 0; subtask < state.parallelism; ++subtask) {
      if (*rc::gen::arbitrary<bool>()) state.subtasks.emplace(subtask, any_subtask_state());
    }
    metadata.operator_states.emplace(id, std::move(state));
  }
  return metadata;
}

std::vector<std::byte> write(const CheckpointMetadata& metadata) {
  return MetadataV2Serializer::serialize(metadata.checkpoint_id, metadata.master_states,
                                         metadata.operator_states);
}

Json to_json(const StreamStateHandle& stream) {
  if (const auto* file = std::get_if<FileStateHandle>(&stream)) {
    return {{"type", "file"}, {"path", file->path}, {"size", file->size_bytes}};
  }
  const auto& in_line = std::get<ByteStreamStateHandle>(stream);
  return {{"type", "bytes"}, {"name", in_line.name}, {"size", in_line.bytes.size()}};
}

// As expected.json has it, without what only a reader of raw bytes knows.
Json to_json(const std::vector<OperatorStateHandle>& handles) {
  static constexpr const char* kModes[] = {"SPLIT_DISTRIBUTE", "UNION", "BROADCAST"};
  Json result = Json::array();
  for (const OperatorStateHandle& handle : handles) {
    Json states = Json::array();
    for (const auto& [name, info] : handle.states) {
      states.push_back({{"name", name},
                        {"mode", kModes[static_cast<int>(info.mode)]},
                        {"offsets", info.offsets}});
    }
    result.push_back({{"states", states}, {"stream", to_json(*handle.delegate)}});
  }
  return result;
}

Json to_json(const std::vector<KeyedStateHandlePtr>& handles) {
  if (handles.empty()) return {};
  if (const auto* incremental = handles.front()->as_incremental()) {
    const auto& content = incremental->content();
    Json result{{"type", "incremental"},
                {"checkpointId", content.checkpoint_id},
                {"backendId", content.backend_id},
                {"startKeyGroup", content.key_group_range.first},
                {"numKeyGroups", content.key_group_range.size()},
                {"meta", to_json(*content.meta_state)},
                {"size", incremental->state_size_bytes()}};
    for (const auto& [name, files] : {std::pair("sharedState", &content.shared_state),
                                      std::pair("privateState", &content.private_state)}) {
      result[name] = Json::array();
      for (const auto& file : *files) {
        result[name].push_back({{"key", file.local_path}, {"stream", to_json(*file.handle)}});
      }
    }
    return result;
  }
  const auto& handle = dynamic_cast<const KeyGroupsStateHandle&>(*handles.front());
  return {{"startKeyGroup", handle.key_group_range().first},
          {"numKeyGroups", handle.key_group_range().size()},
          {"offsets", handle.offsets().offsets},
          {"stream", to_json(*handle.stream())}};
}

Json stream_of_expected(const Json& stream) {
  Json result{{"type", stream.at("type")}, {"size", stream.at("size")}};
  for (const char* key : {"name", "path"}) {
    if (stream.contains(key)) result[key] = stream.at(key);
  }
  return result;
}
Json operator_state_of_expected(const Json& handles) {
  Json result = Json::array();
  for (const Json& handle : handles) {
    result.push_back(
        {{"states", handle.at("states")}, {"stream", stream_of_expected(handle.at("stream"))}});
  }
  return result;
}
Json keyed_state_of_expected(const Json& handle) {
  if (handle.is_null()) return {};
  return {{"startKeyGroup", handle.at("startKeyGroup")},
          {"numKeyGroups", handle.at("numKeyGroups")},
          {"offsets", handle.at("offsets")},
          {"stream", stream_of_expected(handle.at("stream"))}};
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return bytes_of(std::string(std::istreambuf_iterator<char>(in), {}));
}

RC_GTEST_PROP(MetadataV2, WhatIsWrittenComesBack, ()) {
  const CheckpointMetadata metadata = any_metadata();
  const std::vector<std::byte> bytes = write(metadata);
  const auto read = MetadataV2Serializer::deserialize(bytes);
  if (!read.ok()) RC_FAIL(read.error().message);
  RC_ASSERT(read.value().checkpoint_id == metadata.checkpoint_id);
  RC_ASSERT(read.value().master_states == metadata.master_states);
  RC_ASSERT(read.value().operator_states.size() == metadata.operator_states.size());
  for (const auto& [id, state] : metadata.operator_states) {
    const OperatorState& again = read.value().operator_states.at(id);
    RC_ASSERT(again.parallelism == state.parallelism);
    RC_ASSERT(again.max_parallelism == state.max_parallelism);
    RC_ASSERT(again.subtasks.size() == state.subtasks.size());
    for (const auto& [index, subtask] : state.subtasks) {
      const OperatorSubtaskState& other = again.subtasks.at(index);
      RC_ASSERT(to_json(other.managed_operator) == to_json(subtask.managed_operator));
      RC_ASSERT(to_json(other.raw_operator) == to_json(subtask.raw_operator));
      RC_ASSERT(to_json(other.managed_keyed) == to_json(subtask.managed_keyed));
      RC_ASSERT(to_json(other.raw_keyed) == to_json(subtask.raw_keyed));
    }
  }
  RC_ASSERT(write(read.value()) == bytes);  // the payloads too
}

RC_GTEST_PROP(MetadataV2, EveryTruncationIsAnErrorWithinTheBytes, ()) {
  const std::vector<std::byte> bytes = write(any_metadata());
  const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto read = MetadataV2Serializer::deserialize(std::span(bytes).first(length));
  RC_ASSERT(!read.ok());
  RC_ASSERT(read.error().offset <= length);
}

RC_GTEST_PROP(MetadataV2, AnyByteMayBeWrongWithoutHarm, ()) {
  std::vector<std::byte> bytes = write(any_metadata());
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<std::byte>(*rc::gen::inRange(0, 256));
  const auto read = MetadataV2Serializer::deserialize(bytes);
  if (!read.ok()) RC_ASSERT(!read.error().message.empty());
}

TEST(MetadataV2, BytesAfterTheEndAreAnError) {
  std::vector<std::byte> bytes =
      write({.checkpoint_id = 7, .master_states = {}, .operator_states = {}});
  ASSERT_TRUE(MetadataV2Serializer::deserialize(bytes).ok());
  bytes.push_back(std::byte{0});
  const auto read = MetadataV2Serializer::deserialize(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().offset, bytes.size() - 1);
}

TEST(MetadataV2, AHugeCountReservesNoMemory) {
  std::vector<std::byte> bytes =
      write({.checkpoint_id = 7, .master_states = {}, .operator_states = {}});
  for (std::size_t at = 20; at < 24; ++at) bytes[at] = std::byte{0x7F};  // number of operators
  const auto read = MetadataV2Serializer::deserialize(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().offset, 20U);
}

TEST(MetadataV2, TheHeaderIsFlinks) {
  const std::vector<std::byte> bytes =
      write({.checkpoint_id = 0x0102, .master_states = {}, .operator_states = {}});
  const std::vector<int> expected = {0x49, 0x60, 0x67, 0x2D, 0, 0, 0, 2, 0, 0, 0, 0,
                                     0,    0,    1,    2,    0, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
  }
}

TEST(MetadataV2, ReadsWhatFlinkWroteAndWritesTheSameBytes) {
  int read_count = 0;
  int refused = 0;
  for (const auto& root : test::recording_roots()) {
    if (!std::filesystem::exists(root / "savepoints")) continue;
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(root / "savepoints")) {
      if (std::filesystem::exists(entry.path() / "expected.json")) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const auto& folder : folders) {
      SCOPED_TRACE(folder.filename().string());
      std::ifstream in(folder / "expected.json");
      const Json expected = Json::parse(in);
      const std::vector<std::byte> bytes = read_file(folder / "_metadata");
      const auto read = MetadataV2Serializer::deserialize(bytes);
      bool readable = expected.at("version") == 2;
      for (const Json& op : expected.at("operators")) {
        for (const Json& subtask : op.at("subtasks")) {
          readable = readable && subtask.value("legacyState", Json::array()).empty();
        }
      }
      ASSERT_EQ(read.ok(), readable) << (read.ok() ? "" : read.error().message);
      if (!readable) {
        ++refused;
        continue;
      }
      ++read_count;
      EXPECT_EQ(read.value().checkpoint_id, expected.at("checkpointId").get<CheckpointId>());
      ASSERT_EQ(read.value().operator_states.size(), expected.at("operators").size());
      EXPECT_EQ(state_size_bytes(read.value().operator_states),
                expected.at("totalStateSize").get<std::int64_t>());
      std::map<std::string, const OperatorState*> by_hex;
      for (const auto& [id, state] : read.value().operator_states) by_hex[id.hex()] = &state;
      for (const Json& op : expected.at("operators")) {
        const OperatorState& state = *by_hex.at(op.at("id"));
        EXPECT_EQ(state.parallelism, op.at("parallelism").get<int>());
        EXPECT_EQ(state.max_parallelism, op.at("maxParallelism").get<int>());
        ASSERT_EQ(state.subtasks.size(), op.at("subtasks").size());
        for (const Json& subtask : op.at("subtasks")) {
          const OperatorSubtaskState& ours = state.subtasks.at(subtask.at("index"));
          EXPECT_EQ(to_json(ours.managed_operator),
                    operator_state_of_expected(subtask.at("managedOperatorState")));
          EXPECT_EQ(to_json(ours.raw_operator),
                    operator_state_of_expected(subtask.at("rawOperatorState")));
          EXPECT_EQ(to_json(ours.managed_keyed),
                    keyed_state_of_expected(subtask.at("managedKeyedState")));
          EXPECT_EQ(to_json(ours.raw_keyed), keyed_state_of_expected(subtask.at("rawKeyedState")));
        }
      }
      // Flink's order of operators is that of a hash map: the length and what is read back are the
      // same, the bytes only up to that order.
      const std::vector<std::byte> again = write(read.value());
      EXPECT_EQ(again.size(), bytes.size());
      EXPECT_TRUE(MetadataV2Serializer::deserialize(again).ok());
    }
    break;
  }
  if (read_count + refused == 0) GTEST_SKIP() << "no savepoints";
  EXPECT_GT(read_count, 0);
}

TEST(ModifiedUtf8, CharactersBeyondTheBasicPlaneTakeSixBytes) {
  const std::string text = "a\xF0\x9F\x98\x80z";
  const std::string encoded = to_modified_utf8(text);
  EXPECT_EQ(encoded, "a\xED\xA0\xBD\xED\xB8\x80z");
  EXPECT_EQ(from_modified_utf8(encoded), text);
}

TEST(ModifiedUtf8, ZeroTakesTwoBytes) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(to_modified_utf8(text),
            "a\xC0\x80"
            "b");
  EXPECT_EQ(from_modified_utf8(to_modified_utf8(text)), text);
}

TEST(ModifiedUtf8, BrokenGroupsAreRefused) {
  for (const char* bad : {"\x80", "\xF0\x9F\x98\x80", "\xC3", "\xC3z", "\xE2\x82"}) {
    EXPECT_EQ(from_modified_utf8(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tailrace::engine
