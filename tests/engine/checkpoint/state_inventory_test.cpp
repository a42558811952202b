// What is found out about the states of a checkpoint while its metadata is written is what a walk over
// them finds, and belongs to them alone.
#include "engine/checkpoint/state_inventory.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

StreamStateHandlePtr file(const std::string& path, std::int64_t bytes) {
  return std::make_shared<StreamStateHandle>(FileStateHandle{path, bytes});
}

KeyedStateHandlePtr keyed(const std::string& path, std::int64_t bytes) {
  return std::make_shared<KeyGroupsStateHandle>(KeyGroupRangeOffsets{{0, 1}, {10, 20}},
                                                file(path, bytes));
}

OperatorId operator_id(std::uint8_t number) {
  OperatorId id;
  id.bytes[15] = number;
  return id;
}

OperatorStates two_operators(const std::string& directory) {
  OperatorStates states;
  for (std::uint8_t number = 1; number <= 2; ++number) {
    OperatorState state{operator_id(number), 3, 128, {}};
    for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
      const std::string name = directory + "/" + std::to_string(number) + std::to_string(subtask);
      state.subtasks[subtask].managed_keyed = {keyed(name, 100 * number + subtask)};
    }
    states.emplace(state.id, std::move(state));
  }
  return states;
}

std::vector<std::string> names(const FileNames& files) {
  std::vector<std::string> names;
  for (const std::string* name : files) names.push_back(*name);
  return names;
}

struct Discarded final : CheckpointStorage {
  std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId) override {
    return std::nullopt;
  }
  std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId, const std::string&) override {
    return std::nullopt;
  }
  void write_metadata(const CheckpointStorageLocation&, std::vector<std::byte>,
                      base::InplaceFunction<void(PutStatus)>) override {}
  void discard_file(const std::string& path) override { files.push_back(path); }
  void dispose_on_failure(CheckpointId, const CheckpointStorageLocation&) override {}
  void dispose_completed(const CheckpointStorageLocation&) override {}

  std::vector<std::string> files;
};

CompletedCheckpointPtr completed(CheckpointId id, OperatorStates states,
                                 const std::string& directory) {
  auto checkpoint = std::make_shared<CompletedCheckpoint>();
  checkpoint->id = id;
  checkpoint->operator_states = std::move(states);
  checkpoint->location.directory = directory;
  auto inventory = std::make_unique<StateInventory>(directory);
  static_cast<void>(
      MetadataV2Serializer::serialize(id, {}, checkpoint->operator_states, {inventory.get(), 0}));
  checkpoint->inventory = KnownInventory(std::move(inventory));
  return checkpoint;
}

TEST(StateInventory, SaysWhatAWalkWouldSay) {
  OperatorStates states = two_operators("/chk-1");
  states.at(operator_id(2)).coordinator_state.emplace(7);
  StateInventory inventory("/chk-1");
  const auto with = MetadataV4Serializer::serialize(1, {}, states, std::nullopt, {&inventory, 0});
  EXPECT_EQ(with, MetadataV4Serializer::serialize(1, {}, states, std::nullopt));
  EXPECT_EQ(with, MetadataV4Serializer::serialize(1, {}, states, std::nullopt, {nullptr, 1 << 20}));
  EXPECT_EQ(inventory.state_size_bytes(), state_size_bytes(states));
  EXPECT_EQ(inventory.state_size_bytes(), 3 * 100 + 3 * 200 + 2 * 3 + 7);
  FileNames walked;
  append_private_files(states, walked);
  EXPECT_EQ(names(inventory.private_files()), names(walked));
  EXPECT_EQ(walked.size(), 6U);
  EXPECT_FALSE(inventory.shares_state());
  EXPECT_TRUE(inventory.all_in_directory());
}

TEST(StateInventory, KnowsWhatMayBeShared) {
  OperatorStates states = two_operators("/chk-1");
  IncrementalRemoteKeyedStateHandle::Content content;
  content.backend_id = "backend";
  content.key_group_range = {0, 1};
  content.checkpoint_id = 1;
  content.shared_state = {{"1.sst", file("/shared/1", 5)}};
  content.meta_state = file("/chk-1/meta", 1);
  states.at(operator_id(1)).subtasks[1].managed_keyed = {
      std::make_shared<IncrementalRemoteKeyedStateHandle>(content)};
  StateInventory inventory("/chk-1");
  static_cast<void>(MetadataV2Serializer::serialize(1, {}, states, {&inventory, 0}));
  EXPECT_TRUE(inventory.shares_state());
  EXPECT_EQ(inventory.state_size_bytes(), state_size_bytes(states));
}

TEST(StateInventory, AFileElsewhereIsNoticed) {
  for (const char* path : {"/chk-2/x", "/chk-10", "/chk-1/below/x", "/chk-1x/y", "/chk-1"}) {
    OperatorSubtaskState state;
    state.managed_keyed = {keyed(path, 1)};
    StateInventory inventory("/chk-1");
    inventory.add(state);
    EXPECT_FALSE(inventory.all_in_directory()) << path;
  }
}

TEST(StateInventory, ACopyOfTheCheckpointLooksAgain) {
  const CompletedCheckpointPtr original = completed(1, two_operators("/chk-1"), "/chk-1");
  ASSERT_NE(original->inventory.get(), nullptr);
  CompletedCheckpoint copy = *original;
  EXPECT_EQ(copy.inventory.get(), nullptr);
  EXPECT_EQ(copy.state_size_bytes(), original->state_size_bytes());
  copy.operator_states.erase(operator_id(1));
  EXPECT_EQ(copy.state_size_bytes(), 3 * 200 + 3);
  EXPECT_FALSE(copy.shares_state());
  FileNames files;
  copy.append_private_files(files);
  EXPECT_EQ(files.size(), 3U);
  copy = *original;
  EXPECT_EQ(copy.inventory.get(), nullptr);
}

TEST(StateInventory, ADiscardGivesTheMetadataAndAllFilesBackInOrder) {
  const CompletedCheckpointPtr gone = completed(1, two_operators("/chk-1"), "/chk-1");
  const CompletedCheckpointPtr kept = completed(2, two_operators("/chk-2"), "/chk-2");
  Discarded storage;
  discard_unneeded_checkpoint(*gone, {kept}, storage);
  EXPECT_EQ(storage.files,
            (std::vector<std::string>{"/chk-1/_metadata", "/chk-1/10", "/chk-1/11", "/chk-1/12",
                                      "/chk-1/20", "/chk-1/21", "/chk-1/22"}));
}

TEST(StateInventory, AFileThatAnotherCheckpointNeedsStopsTheDiscard) {
  const CompletedCheckpointPtr gone = completed(1, two_operators("/chk-1"), "/chk-1");
  const CompletedCheckpointPtr needing = completed(2, two_operators("/chk-1"), "/chk-2");
  const CompletedCheckpointPtr copied = std::make_shared<CompletedCheckpoint>(*gone);
  for (const CompletedCheckpointPtr& kept : {needing, copied}) {
    Discarded storage;
    EXPECT_THROW(discard_unneeded_checkpoint(*gone, {kept}, storage), base::InvariantViolation);
    EXPECT_TRUE(storage.files.empty());
  }
}

}  // namespace
}  // namespace tailrace::engine
