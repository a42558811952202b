// The metadata file of 1.20: what is written comes back, byte for byte where Flink fixes the bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/checkpoint/metadata/metadata_reader.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "tests/engine/checkpoint/any_metadata.hpp"
#include "tests/engine/checkpoint/expected_metadata.hpp"

namespace tailrace::engine {
namespace {

using test::any_metadata;
using test::any_properties;
using test::bytes_of;
using test::metadata_to_json;
using test::operator_id;

std::vector<std::byte> write_v4(const CheckpointMetadata& metadata) {
  return MetadataV4Serializer::serialize(metadata.checkpoint_id, metadata.master_states,
                                         metadata.operator_states, metadata.properties);
}

// A file with one operator, of which `prepare` makes what it likes.
template <typename Prepare>
CheckpointMetadata with_operator(Prepare prepare) {
  CheckpointMetadata metadata;
  metadata.checkpoint_id = 7;
  OperatorState state{operator_id(0xAB), 4, 128, {}};
  prepare(state);
  metadata.operator_states.emplace(state.id, std::move(state));
  return metadata;
}

OperatorState read_back(const CheckpointMetadata& metadata, const std::string& directory = {}) {
  const auto read = load_checkpoint_metadata(write_v4(metadata), {.directory = directory});
  if (!read.ok()) throw std::runtime_error(read.error().message);
  return read.value().operator_states.begin()->second;
}

std::vector<std::uint8_t> tail(const std::vector<std::byte>& bytes, std::size_t from) {
  std::vector<std::uint8_t> result;
  for (std::size_t i = from; i < bytes.size(); ++i) {
    result.push_back(std::to_integer<std::uint8_t>(bytes[i]));
  }
  return result;
}

constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kNullPropertiesBytes = 5;

RC_GTEST_PROP(MetadataV4, WhatIsWrittenComesBack, ()) {
  const CheckpointMetadata metadata = any_metadata(4);
  const std::vector<std::byte> bytes = write_v4(metadata);
  const auto read = load_checkpoint_metadata(bytes, {.directory = "/checkpoints/chk-1"});
  if (!read.ok()) RC_FAIL(read.error().message);
  RC_ASSERT(metadata_to_json({read.value(), {}, 4}) == metadata_to_json({metadata, {}, 4}));
  RC_ASSERT(read.value().properties == metadata.properties);
  RC_ASSERT(write_v4(read.value()) == bytes);
}

RC_GTEST_PROP(MetadataV4, PropertiesComeBack, ()) {
  CheckpointMetadata metadata;
  metadata.checkpoint_id = 1;
  metadata.properties = any_properties();
  const auto read = load_checkpoint_metadata(write_v4(metadata));
  if (!read.ok()) RC_FAIL(read.error().message);
  RC_ASSERT(read.value().properties == metadata.properties);
  RC_ASSERT(read.value().properties->unclaimed == metadata.properties->unclaimed);
}

RC_GTEST_PROP(MetadataV4, EveryTruncationIsAnErrorWithinTheBytes, ()) {
  const std::vector<std::byte> bytes = write_v4(any_metadata(4));
  const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto read = load_checkpoint_metadata(std::span(bytes).first(length));
  RC_ASSERT(!read.ok());
  RC_ASSERT(read.error().offset <= length);
}

RC_GTEST_PROP(MetadataV4, AnyByteMayBeWrongWithoutHarm, ()) {
  std::vector<std::byte> bytes = write_v4(any_metadata(4));
  const int wrong = *rc::gen::inRange(1, 4);
  for (int i = 0; i < wrong; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = static_cast<std::byte>(*rc::gen::inRange(0, 256));
  }
  const auto read = load_checkpoint_metadata(bytes);
  if (read.ok()) {
    RC_ASSERT(load_checkpoint_metadata(write_v4(read.value())).ok());
  } else {
    RC_ASSERT(!read.error().message.empty());
    RC_ASSERT(read.error().offset <= bytes.size());
  }
}

TEST(MetadataV4, AFullyFinishedOperatorHasMinusOneSubtasks) {
  const CheckpointMetadata metadata =
      with_operator([](OperatorState& state) { state.fully_finished = true; });
  const std::vector<std::byte> bytes = write_v4(metadata);
  const std::vector<std::uint8_t> expected = {0,    0,    0,    4,     // parallelism
                                              0,    0,    0,    128,   // maximum parallelism
                                              0,                       // no coordinator state
                                              0xFF, 0xFF, 0xFF, 0xFF,  // fully finished
                                              0xAC, 0xED, 0,    5,    0x70};
  EXPECT_EQ(tail(bytes, kHeaderBytes + 16), expected);
  EXPECT_TRUE(read_back(metadata).fully_finished);
}

TEST(MetadataV4, FinishedSubtasksAreNegativeAndKeepTheirPlace) {
  const CheckpointMetadata metadata = with_operator([](OperatorState& state) {
    state.finished_subtasks = {0, 3};
    state.subtasks[1] = {};
  });
  const std::vector<std::uint8_t> expected = {
      0,    0,    0,    4,    0,   0, 0, 128, 0, 0, 0, 0, 3,  // entries
      0xFF, 0xFF, 0xFF, 0xFF,                                 // subtask 0 has finished
      0,    0,    0,    1,                                    // subtask 1
      0,    0,    0,    0,    0,   0, 0, 0,                   // no operator state, managed or raw
      0,    0,                                                // no keyed state
      0,    0,    0,    0,    0,   0, 0, 0,                   // no channel state
      0xFF, 0xFF, 0xFF, 0xFC,                                 // subtask 3 has finished
      0xAC, 0xED, 0,    5,    0x70};
  EXPECT_EQ(tail(write_v4(metadata), kHeaderBytes + 16), expected);
  const OperatorState state = read_back(metadata);
  EXPECT_EQ(state.finished_subtasks, (std::set<std::int32_t>{0, 3}));
  EXPECT_EQ(state.subtasks.size(), 1U);
}

TEST(MetadataV4, CoordinatorStateIsNamedAfterItsOperator) {
  const CheckpointMetadata metadata =
      with_operator([](OperatorState& state) { state.coordinator_state = bytes_of("xyz"); });
  const std::vector<std::byte> bytes = write_v4(metadata);
  EXPECT_EQ(bytes[kHeaderBytes + 24], std::byte{1});
  const std::string name = operator_id(0xAB).hex();
  const auto written = tail(bytes, kHeaderBytes + 27);
  EXPECT_EQ(std::string(written.begin(), written.begin() + 32), name);
  EXPECT_EQ(read_back(metadata).coordinator_state, bytes_of("xyz"));
  EXPECT_EQ(state_size_bytes(metadata.operator_states), 3);
}

TEST(MetadataV4, EmptyCoordinatorStateIsNotNone) {
  const CheckpointMetadata metadata = with_operator(
      [](OperatorState& state) { state.coordinator_state = std::vector<std::byte>{}; });
  const OperatorState state = read_back(metadata);
  ASSERT_TRUE(state.coordinator_state.has_value());
  EXPECT_TRUE(state.coordinator_state->empty());
}

TEST(MetadataV4, RelativeFilesMoveWithTheirDirectory) {
  const CheckpointMetadata metadata = with_operator([](OperatorState& state) {
    state.subtasks[0].managed_keyed.push_back(std::make_shared<KeyGroupsStateHandle>(
        KeyGroupRangeOffsets{{0, 0}, {5}},
        std::make_shared<StreamStateHandle>(FileStateHandle{"old/sp/v1-s0-a0-1", 9, "v1-s0-a0-1"}),
        "id"));
  });
  const OperatorState state = read_back(metadata, "new/sp");
  const auto& handle =
      dynamic_cast<const KeyGroupsStateHandle&>(*state.subtasks.at(0).managed_keyed.front());
  EXPECT_EQ(*handle.stream(),
            StreamStateHandle(FileStateHandle{"new/sp/v1-s0-a0-1", 9, "v1-s0-a0-1"}));
}

TEST(MetadataV4, AHandleWithoutIdGetsOneThatItsStreamDetermines) {
  const auto keyed = [](const char* path) {
    return with_operator([path](OperatorState& state) {
      state.subtasks[0].managed_keyed.push_back(std::make_shared<KeyGroupsStateHandle>(
          KeyGroupRangeOffsets{{0, 0}, {5}},
          std::make_shared<StreamStateHandle>(FileStateHandle{path, 9})));
    });
  };
  const auto id_of = [](const CheckpointMetadata& metadata) {
    const OperatorState state = read_back(metadata);
    return dynamic_cast<const KeyGroupsStateHandle&>(*state.subtasks.at(0).managed_keyed.front())
        .state_handle_id();
  };
  EXPECT_EQ(id_of(keyed("a")).size(), 36U);
  EXPECT_EQ(id_of(keyed("a")), id_of(keyed("a")));
  EXPECT_NE(id_of(keyed("a")), id_of(keyed("b")));
}

TEST(MetadataV4, NoPropertiesAreOneNull) {
  CheckpointMetadata metadata;
  metadata.checkpoint_id = 7;
  EXPECT_EQ(write_v4(metadata).size(), kHeaderBytes + kNullPropertiesBytes);
}

}  // namespace
}  // namespace tailrace::engine
