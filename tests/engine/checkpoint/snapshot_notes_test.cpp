// What is asked of a snapshot, and what becomes of it in a checkpoint, is the same with its notes and
// without; a copy that changes has none.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/checkpoint/metadata/metadata_writer.hpp"
#include "engine/checkpoint/operator_state_collector.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine {
namespace {

StreamStateHandlePtr noted_file(const std::string& name, std::int64_t bytes) {
  return std::make_shared<StreamStateHandle>(FileStateHandle{"/c/chk-1/" + name, bytes});
}

KeyedStateHandlePtr key_groups(const std::string& name, std::int64_t bytes) {
  return std::make_shared<KeyGroupsStateHandle>(KeyGroupRangeOffsets{{0, 1}, {10, 20}},
                                                noted_file(name, bytes), "id of " + name);
}

OperatorId numbered(std::uint8_t number) {
  OperatorId id;
  id.bytes[15] = number;
  return id;
}

using Snapshot = std::shared_ptr<TaskStateSnapshot>;

Snapshot sole() {
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  snapshot->operators[numbered(1)].managed_keyed.push_back(key_groups("a", 100));
  return snapshot;
}

// One of each shape that a subtask's snapshot may have.
std::vector<Snapshot> all_shapes() {
  std::vector<Snapshot> shapes;
  shapes.push_back(std::make_shared<TaskStateSnapshot>());
  shapes.push_back(std::make_shared<TaskStateSnapshot>());
  shapes.back()->operators[numbered(1)];
  shapes.push_back(sole());
  shapes.push_back(sole());
  shapes.back()->operators[numbered(2)];
  shapes.push_back(sole());
  shapes.back()->operators[numbered(1)].raw_keyed.push_back(key_groups("raw", 7));
  shapes.push_back(sole());
  shapes.back()->operators[numbered(1)].managed_operator.push_back(
      {{{"list", {{0, 8}, DistributionMode::UNION}}}, noted_file("b", 50)});
  shapes.push_back(std::make_shared<TaskStateSnapshot>());
  shapes.back()->operators[numbered(1)].raw_keyed.push_back(key_groups("raw", 7));
  IncrementalRemoteKeyedStateHandle::Content content;
  content.checkpoint_id = 1;
  content.backend_id = "backend";
  content.key_group_range = {0, 1};
  content.meta_state = noted_file("meta", 9);
  content.state_handle_id = "id";
  shapes.push_back(std::make_shared<TaskStateSnapshot>());
  shapes.back()->operators[numbered(1)].managed_keyed.push_back(
      std::make_shared<IncrementalRemoteKeyedStateHandle>(content));
  return shapes;
}

// As a checkpoint puts together what two subtasks have reported.
OperatorStates collected(const std::shared_ptr<const TaskStateSnapshot>& snapshot) {
  OperatorStates states;
  for (std::uint8_t number = 1; number <= 2; ++number) {
    OperatorState& state =
        states.try_emplace(numbered(number), OperatorState{numbered(number), 2, 128, {}})
            .first->second;
    for (std::int32_t subtask = 0; subtask < 2; ++subtask) {
      ReportedState reported = state_of(snapshot, state.id);
      if (reported.state == nullptr) continue;
      state.subtasks.share(subtask, std::move(reported.state), reported.sole_key_groups);
    }
  }
  return states;
}

TEST(SnapshotNotes, ChangeNothingOfWhatIsAskedAndWritten) {
  std::size_t sole_handles = 0;
  for (const Snapshot& plain : all_shapes()) {
    auto noted = std::make_shared<TaskStateSnapshot>(*plain);
    noted->is_task_deployed_as_finished = true;  // stand where the notes end
    noted->is_task_finished = true;
    noted->take_notes();
    ASSERT_NE(noted->seal.get(), nullptr);
    EXPECT_TRUE(noted->is_task_deployed_as_finished);
    EXPECT_TRUE(noted->is_task_finished);
    noted->is_task_deployed_as_finished = false;
    noted->is_task_finished = false;
    ASSERT_NE(noted->seal.get(), nullptr);
    EXPECT_EQ(noted->state_size_bytes(), plain->state_size_bytes());
    EXPECT_EQ(noted->shares_state(), plain->shares_state());
    EXPECT_EQ(noted->has_state(), plain->has_state());
    if (noted->seal.get()->sole_key_groups != nullptr) ++sole_handles;
    for (const std::int32_t version : {2, 4}) {
      StateInventory of_plain("/c/chk-1");
      StateInventory of_noted("/c/chk-1");
      EXPECT_EQ(metadata::write_metadata(version, 1, {}, collected(noted), std::nullopt,
                                         {.inventory = &of_noted}),
                metadata::write_metadata(version, 1, {}, collected(plain), std::nullopt,
                                         {.inventory = &of_plain}));
      EXPECT_EQ(of_noted.state_size_bytes(), of_plain.state_size_bytes());
      EXPECT_EQ(of_noted.private_files(), of_plain.private_files());
      EXPECT_EQ(of_noted.shares_state(), of_plain.shares_state());
      EXPECT_EQ(of_noted.all_in_directory(), of_plain.all_in_directory());
    }
  }
  EXPECT_EQ(sole_handles, 1U);  // the third shape
}

TEST(SnapshotNotes, StayBehindWhenASnapshotIsCopied) {
  const Snapshot noted = sole();
  noted->take_notes();
  TaskStateSnapshot copy = *noted;
  EXPECT_EQ(copy.seal.get(), nullptr);
  copy.operators[numbered(1)].managed_keyed.front() = key_groups("larger", 1000);
  EXPECT_EQ(copy.state_size_bytes(), 1000);
  EXPECT_EQ(noted->state_size_bytes(), 100);

  TaskStateSnapshot other;
  other.take_notes();
  other = copy;
  EXPECT_EQ(other.seal.get(), nullptr);
  EXPECT_EQ(other.state_size_bytes(), 1000);
}

TEST(SnapshotNotes, AreForgottenOfAStateThatIsEdited) {
  const Snapshot noted = sole();
  noted->take_notes();
  OperatorStates states = collected(noted);
  SubtaskStates& subtasks = states.at(numbered(1)).subtasks;
  ASSERT_NE(subtasks.sole_key_groups(0), nullptr);
  subtasks.edit(0).raw_keyed.push_back(key_groups("raw", 7));
  EXPECT_EQ(subtasks.sole_key_groups(0), nullptr);
  EXPECT_NE(subtasks.sole_key_groups(1), nullptr);
  subtasks.share(1, std::make_shared<OperatorSubtaskState>());
  EXPECT_EQ(subtasks.sole_key_groups(1), nullptr);
}

}  // namespace
}  // namespace tailrace::engine
