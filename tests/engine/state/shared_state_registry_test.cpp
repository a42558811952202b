// Handles that share files, and both registries: what the recordings cannot show. Random histories
// are held to plain counting.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/state/f110/shared_state_registry_110.hpp"
#include "engine/state/f120/name_uuid.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine {
namespace {

using Content = IncrementalRemoteKeyedStateHandle::Content;
using Handle = std::shared_ptr<const IncrementalRemoteKeyedStateHandle>;

StreamStateHandlePtr file(std::string path, std::int64_t bytes = 10) {
  return std::make_shared<const StreamStateHandle>(FileStateHandle{std::move(path), bytes});
}
StreamStateHandlePtr in_line(std::string name, std::size_t bytes) {
  return std::make_shared<const StreamStateHandle>(
      ByteStreamStateHandle{std::move(name), std::vector<std::byte>(bytes)});
}
StreamStateHandlePtr placeholder(std::string path, std::int64_t bytes = 0) {
  return std::make_shared<const StreamStateHandle>(
      PlaceholderStreamStateHandle{std::move(path), bytes});
}

Content content_of(std::vector<IncrementalRemoteKeyedStateHandle::HandleAndLocalPath> shared,
                   CheckpointId checkpoint = 1) {
  Content content;
  content.backend_id = "backend";
  content.key_group_range = {0, 127};
  content.checkpoint_id = checkpoint;
  content.shared_state = std::move(shared);
  content.private_state = {{"CURRENT", in_line("current", 16)}, {"MANIFEST", file("manifest", 7)}};
  content.meta_state = file("meta", 3);
  content.state_handle_id = "handle-" + std::to_string(checkpoint);
  return content;
}
Handle handle_of(Content content) {
  return std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content));
}
std::vector<std::string> private_files_of(const KeyedStateHandle& handle) {
  FileNames paths;
  handle.append_private_files(paths);
  std::vector<std::string> names;
  for (const std::string* path : paths) names.push_back(*path);
  return names;
}

TEST(IncrementalHandle, IsAsLargeAsAllItsStreams) {
  const Handle handle =
      handle_of(content_of({{"1.sst", file("one", 100)}, {"2.sst", placeholder("two", 50)}}));
  EXPECT_EQ(handle->state_size_bytes(), 100 + 50 + 16 + 7 + 3);
  EXPECT_EQ(handle->checkpointed_size_bytes(), handle->state_size_bytes());
  Content content = handle->content();
  content.persisted_bytes = 126;
  EXPECT_EQ(handle_of(content)->checkpointed_size_bytes(), 126);
}

TEST(IncrementalHandle, IsNeverCutByAnIntersection) {
  Content content = content_of({{"1.sst", file("one")}});
  content.key_group_range = {10, 20};
  const Handle handle = handle_of(content);
  EXPECT_EQ(handle->intersect({20, 127}), handle);
  EXPECT_EQ(handle->intersect({0, 10}), handle);
  EXPECT_EQ(handle->intersect({0, 9}), nullptr);
  EXPECT_EQ(handle->intersect({21, 127}), nullptr);
  EXPECT_EQ(handle->intersect({}), nullptr);
}

TEST(IncrementalHandle, OwnsItsSharedFilesUntilTheyAreRegistered) {
  const Handle handle =
      handle_of(content_of({{"1.sst", file("one")}, {"2.sst", placeholder("two")}}));
  EXPECT_EQ(private_files_of(*handle), (std::vector<std::string>{"meta", "manifest", "one"}));
  const KeyedStateHandlePtr registered = handle->registered({file("first"), file("two")});
  EXPECT_EQ(private_files_of(*registered), (std::vector<std::string>{"meta", "manifest"}));
  EXPECT_FALSE(handle->is_registered());
  const IncrementalRemoteKeyedStateHandle& after = *registered->as_incremental();
  EXPECT_TRUE(after.is_registered());
  EXPECT_EQ(stream_name(*after.content().shared_state[0].handle), "first");
  EXPECT_EQ(after.content().shared_state[1].local_path, "2.sst");
  EXPECT_EQ(registered->intersect({0, 0}), registered);
}

TEST(IncrementalHandle, OtherHandlesShareNothing) {
  const KeyGroupsStateHandle handle({{0, 0}, {0}}, file("groups"));
  EXPECT_EQ(handle.as_incremental(), nullptr);
}

TEST(Streams, AreTheSameByKindAndName) {
  EXPECT_TRUE(is_same_stream(*file("a", 1), *file("a", 2)));
  EXPECT_TRUE(is_same_stream(*in_line("a", 1), *in_line("a", 2)));
  EXPECT_FALSE(is_same_stream(*file("a"), *file("b")));
  EXPECT_FALSE(is_same_stream(*file("a"), *in_line("a", 10)));
  EXPECT_FALSE(is_same_stream(*file("a"), *placeholder("a", 10)));
}

// Around the ends of MD5's blocks; computed with another implementation.
TEST(NameUuid, IsJavas) {
  EXPECT_EQ(name_uuid(""), "d41d8cd9-8f00-3204-a980-0998ecf8427e");
  EXPECT_EQ(name_uuid("file-1"), "df0f9df5-365a-32a1-ac38-974f665500ac");  // state.md 4.2
  EXPECT_EQ(name_uuid(std::string(55, 'a')), "ef1772b6-dff9-3122-b585-52954ad0df65");
  EXPECT_EQ(name_uuid(std::string(56, 'a')), "3b0c8ac7-03f8-38b0-8c6c-197006d17218");
  EXPECT_EQ(name_uuid(std::string(63, 'a')), "b06521f3-9153-3618-9506-06be297466d5");
  EXPECT_EQ(name_uuid(std::string(64, 'a')), "014842d4-80b5-3149-9a4a-0363793f7367");
  EXPECT_EQ(name_uuid(std::string(119, 'a')), "8a7bd073-2ed6-328c-a75f-6dabc90e1613");
  EXPECT_EQ(name_uuid(std::string(120, 'a')), "5f61c0cc-ad4c-3c44-875f-f505e1f1e537");
}

// ---- 1.10

struct Registry110 {
  std::vector<std::string> deleted;
  SharedStateRegistry110 registry{
      [this](const StreamStateHandle& handle) { deleted.push_back(stream_name(handle)); }};
};

SharedStateRegistry110::OperatorStates states_with(const std::vector<Handle>& handles) {
  SharedStateRegistry110::OperatorStates states;
  OperatorState& state = states[OperatorId{}];
  for (std::size_t i = 0; i < handles.size(); ++i) {
    state.subtasks[static_cast<std::int32_t>(i)].managed_keyed = {handles[i]};
  }
  return states;
}
const IncrementalRemoteKeyedStateHandle& handle_at(
    const SharedStateRegistry110::OperatorStates& states, std::int32_t subtask) {
  return *states.at(OperatorId{}).subtasks.at(subtask).managed_keyed.front()->as_incremental();
}

TEST(SharedStateRegistry110, ASecondUploadOfAFileIsDeletedAndTheFirstUsed) {
  Registry110 world;
  auto first = states_with({handle_of(content_of({{"1.sst", file("first")}}))});
  auto second = states_with({handle_of(content_of({{"1.sst", file("second")}}))});
  EXPECT_EQ(world.registry.register_all(first), std::nullopt);
  EXPECT_EQ(world.registry.register_all(second), std::nullopt);
  EXPECT_EQ(world.deleted, std::vector<std::string>{"second"});
  EXPECT_EQ(stream_name(*handle_at(second, 0).content().shared_state[0].handle), "first");
  world.registry.unregister_all(first);
  EXPECT_EQ(world.deleted.size(), 1U);
  world.registry.unregister_all(second);
  EXPECT_EQ(world.deleted, (std::vector<std::string>{"second", "first"}));
}

TEST(SharedStateRegistry110, KeysHaveBackendRangeAndName) {
  Content content = content_of({});
  content.backend_id = "00000000-0000-0007-0000-000000000001";
  content.key_group_range = {3, 5};
  EXPECT_EQ(SharedStateRegistry110::key_of(*handle_of(content), "000001.sst"),
            "00000000-0000-0007-0000-000000000001-KeyGroupRange{startKeyGroup=3, endKeyGroup=5}-"
            "000001.sst");
}

TEST(SharedStateRegistry110, AnErrorLeavesWhatCameBeforeRegistered) {
  Registry110 world;
  auto states = states_with(
      {handle_of(content_of({{"1.sst", file("one")}})),
       handle_of(content_of(
           {{"2.sst", file("two")}, {"?.sst", placeholder("")}, {"3.sst", file("three")}})),
       handle_of(content_of({{"4.sst", file("four")}}))});
  const auto error = world.registry.register_all(states);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(*error,
            "Attempt to reference unknown state: backend-KeyGroupRange{startKeyGroup=0, "
            "endKeyGroup=127}-?.sst");
  EXPECT_TRUE(handle_at(states, 0).is_registered());
  EXPECT_TRUE(handle_at(states, 1).is_registered());
  EXPECT_FALSE(handle_at(states, 2).is_registered());
  // Discarding stops at the unknown file: the one behind it was never registered and is leaked.
  world.registry.unregister_all(states);
  EXPECT_EQ(world.deleted, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(private_files_of(handle_at(states, 2)).back() == "four");
}

TEST(SharedStateRegistry110, TheSameHandleTwiceIsRefused) {
  Registry110 world;
  auto states = states_with({handle_of(content_of({{"1.sst", file("one")}}))});
  EXPECT_EQ(world.registry.register_all(states), std::nullopt);
  EXPECT_EQ(world.registry.register_all(states),
            "The state handle has already registered its shared states to the given registry.");
  world.registry.renew();
  EXPECT_EQ(world.registry.register_all_after_restored(states), std::nullopt);
  world.registry.unregister_all(states);
  EXPECT_EQ(world.deleted, std::vector<std::string>{"one"});
}

TEST(SharedStateRegistry110, AClosedOneStillGivesUp) {
  Registry110 world;
  ASSERT_TRUE(world.registry.register_reference("k", file("one")).ok());
  world.registry.close();
  // Also before it looks whether the key is known.
  for (const char* key : {"k", "other"}) {
    const auto refused = world.registry.register_reference(key, placeholder(""));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error(), "Attempt to register state to closed SharedStateRegistry.");
  }
  ASSERT_TRUE(world.registry.unregister_reference("k").ok());
  EXPECT_EQ(world.deleted, std::vector<std::string>{"one"});
  EXPECT_FALSE(world.registry.unregister_reference("k").ok());
}

// Every file that was handed in is deleted once, and not while anybody uses it.
RC_GTEST_PROP(SharedStateRegistry110, FilesGoWithTheirLastUser, ()) {
  Registry110 world;
  std::map<std::string, std::pair<std::string, int>> users;  // by key: file and number
  std::set<std::string> uploaded;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const std::string key = "k" + std::to_string(*rc::gen::inRange(0, 4));
    world.deleted.clear();
    std::vector<std::string> expected;
    const int what = *rc::gen::inRange(0, 3);
    if (what < 2) {
      const std::string name = "f" + std::to_string(step);
      const bool mark = what == 1;
      const auto outcome =
          world.registry.register_reference(key, mark ? placeholder("") : file(name));
      RC_ASSERT(outcome.ok() == (!mark || users.contains(key)));
      if (!outcome.ok()) continue;
      if (!mark) uploaded.insert(name);
      const bool is_new = !users.contains(key);
      auto& entry = users.try_emplace(key, name, 0).first->second;
      ++entry.second;
      if (!is_new && !mark) expected.push_back(name);
      RC_ASSERT(stream_name(*outcome.value().handle) == entry.first);
      RC_ASSERT(outcome.value().count == entry.second);
    } else {
      const auto outcome = world.registry.unregister_reference(key);
      RC_ASSERT(outcome.ok() == users.contains(key));
      if (!outcome.ok()) continue;
      if (--users.at(key).second == 0) {
        expected.push_back(users.at(key).first);
        users.erase(key);
      }
    }
    RC_ASSERT(world.deleted == expected);
    for (const std::string& gone : expected) RC_ASSERT(uploaded.erase(gone) == 1U);
  }
  RC_ASSERT(uploaded.size() == users.size());
}

// ---- 1.20

struct Registry120 {
  std::vector<std::string> deleted;
  SharedStateRegistry120 registry{
      [this](const StreamStateHandle& handle) { deleted.push_back(stream_name(handle)); }};

  SharedStateRegistry120::RegisteredSnapshot acknowledge(Content content, CheckpointId checkpoint) {
    auto snapshot = std::make_shared<TaskStateSnapshot>();
    snapshot->operators[OperatorId{}].managed_keyed = {handle_of(std::move(content))};
    return registry.register_all(std::move(snapshot), checkpoint);
  }
};

TEST(SharedStateRegistry120, ASnapshotThatSharesNothingComesBackAsItIs) {
  Registry120 world;
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  snapshot->operators[OperatorId{}].managed_keyed = {
      std::make_shared<const KeyGroupsStateHandle>(KeyGroupRangeOffsets{{0, 0}, {0}}, file("f"))};
  EXPECT_EQ(world.registry.register_all(snapshot, 1).snapshot, snapshot);
  EXPECT_EQ(world.registry.register_all(nullptr, 1).snapshot, nullptr);
}

TEST(SharedStateRegistry120, APlaceholderBecomesTheFile) {
  Registry120 world;
  ASSERT_FALSE(world.acknowledge(content_of({{"1.sst", file("one", 30)}}, 1), 1).error);
  const auto second = world.acknowledge(content_of({{"1.sst", placeholder("one", 30)}}, 2), 2);
  ASSERT_FALSE(second.error);
  const auto& handle =
      *second.snapshot->operators.at(OperatorId{}).managed_keyed.front()->as_incremental();
  EXPECT_TRUE(std::holds_alternative<FileStateHandle>(*handle.content().shared_state[0].handle));
  EXPECT_TRUE(handle.is_registered());
}

TEST(SharedStateRegistry120, UploadsOfOneFileUnderTwoPathsBothStay) {
  Registry120 world;
  ASSERT_FALSE(world.acknowledge(content_of({{"1.sst", file("a")}}, 1), 1).error);
  ASSERT_FALSE(world.acknowledge(content_of({{"1.sst", file("b")}}, 2), 2).error);
  EXPECT_TRUE(world.deleted.empty());
  EXPECT_TRUE(world.registry.unregister_unused_state(2).empty());
  EXPECT_EQ(world.deleted, std::vector<std::string>{"a"});
}

TEST(SharedStateRegistry120, ErrorsAreFlinks) {
  Registry120 world;
  const auto unknown = world.acknowledge(
      content_of({{"1.sst", file("one")}, {"2.sst", placeholder("file-1")}}, 1), 1);
  EXPECT_EQ(unknown.error,
            "Attempt to reference unknown state: df0f9df5-365a-32a1-ac38-974f665500ac");
  ASSERT_TRUE(world.registry.register_reference("k", file("k1"), 1).ok());
  EXPECT_EQ(world.registry.register_reference("k", file("k2"), 1).error(),
            "StateObjects underlying same key should be equal !");
  EXPECT_EQ(world.registry.register_all(unknown.snapshot, 2).error,
            "The state handle has already registered its shared states to the given registry.");
  world.registry.close();
  EXPECT_EQ(world.registry.register_reference("k", file("k1"), 1).error(),
            "Attempt to register state to closed SharedStateRegistry.");
  // What was registered before the error is not lost.
  world.registry.unregister_unused_state(5);
  EXPECT_EQ(world.deleted, (std::vector<std::string>{"k1", "one"}));
}

TEST(SharedStateRegistry120, UnclaimedFilesAreNeverDeletedAndOwnDirectoriesAreKept) {
  Registry120 world;
  auto states = states_with({handle_of(content_of({{"1.sst", file("old")}}, 3))});
  ASSERT_FALSE(world.registry.register_all_after_restored(states, 3, false,
                                                          SharingFilesStrategy::NO_SHARING));
  EXPECT_TRUE(handle_at(states, 0).is_registered());
  ASSERT_FALSE(world.acknowledge(content_of({{"1.sst", placeholder("old")}}, 4), 4).error);
  EXPECT_EQ(world.registry.unregister_unused_state(4), std::set<CheckpointId>{3});
  EXPECT_TRUE(world.registry.unregister_unused_state(5).empty());
  EXPECT_TRUE(world.deleted.empty());
}

// A file lives exactly as long as a checkpoint that uses it, or a newer one, may be needed.
RC_GTEST_PROP(SharedStateRegistry120, FilesGoOnceTheirLastCheckpointIsBelowTheLowest, ()) {
  Registry120 world;
  std::map<std::string, CheckpointId> last_used;
  const int steps = *rc::gen::inRange(1, 60);
  CheckpointId lowest = 0;
  for (CheckpointId checkpoint = 1; checkpoint <= steps; ++checkpoint) {
    Content content = content_of({}, checkpoint);
    for (const auto& [name, last] : last_used) {
      if (*rc::gen::inRange(0, 3) > 0) content.shared_state.push_back({name, placeholder(name)});
    }
    const std::string fresh = "f" + std::to_string(checkpoint);
    content.shared_state.push_back({fresh, file(fresh)});
    for (const auto& shared : content.shared_state) last_used[shared.local_path] = checkpoint;
    RC_ASSERT(!world.acknowledge(content, checkpoint).error.has_value());
    if (*rc::gen::arbitrary<bool>()) continue;
    lowest = *rc::gen::inRange<CheckpointId>(lowest, checkpoint + 1);
    world.deleted.clear();
    world.registry.unregister_unused_state(lowest);
    std::vector<std::string> expected;
    for (const auto& [name, last] : last_used) {
      if (last < lowest) expected.push_back(name);
    }
    std::erase_if(last_used, [lowest](const auto& entry) { return entry.second < lowest; });
    RC_ASSERT(world.deleted == expected);
  }
}

}  // namespace
}  // namespace tailrace::engine
