// OperatorStateBackend: lists, snapshots of their moment, restore from many handles.
#include "engine/state/operator_state_backend.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/state/test_world.hpp"

namespace tailrace::engine {
namespace {

using test::snapshot_in_line;
using test::stream_of;

OperatorStateHandle handle_of(const OperatorStateBackend& backend) {
  OperatorSubtaskState state;
  snapshot_in_line(*backend.snapshot(1), state);
  return state.managed_operator.front();
}

base::Result<Work, std::string> restore(OperatorStateBackend& backend,
                                        const std::vector<OperatorStateHandle>& handles) {
  std::vector<FetchedStream> streams;
  for (const auto& handle : handles) streams.emplace_back(stream_of(handle.delegate));
  return backend.restore(handles, streams);
}

TEST(OperatorStateBackend, KeepsListsInTheOrderOfInsertion) {
  OperatorStateBackend backend;
  auto& list = backend.get_list_state<std::int64_t>("test1");
  list.add(42);
  list.add(4711);
  auto& again = backend.get_list_state<std::int64_t>("test1");
  again.add(123);
  EXPECT_EQ(list.get(), (std::vector<std::int64_t>{42, 4711, 123}));
  static_cast<void>(backend.get_union_list_state<std::string>("test3"));
  EXPECT_EQ(backend.registered_states(), (std::vector<std::string>{"test1", "test3"}));
}

TEST(OperatorStateBackend, HasNoSnapshotWithoutStates) {
  EXPECT_EQ(OperatorStateBackend().snapshot(1), nullptr);
}

TEST(OperatorStateBackend, ASnapshotShowsItsMoment) {
  OperatorStateBackend backend;
  auto& list = backend.get_list_state<std::string>("names");
  for (int i = 0; i < 1000; ++i) list.add("n" + std::to_string(i));
  const auto future = backend.snapshot(1);
  EXPECT_EQ(future->sync_work().count, 1000);
  list.clear();
  OperatorSubtaskState state;
  int steps = 0;
  while (future->step().has_value()) ++steps;
  EXPECT_GE(steps, 4);
  future->finish(
      std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{"s", future->take_stream()}),
      state);
  OperatorStateBackend restored;
  ASSERT_TRUE(restore(restored, state.managed_operator).ok());
  const auto& names = restored.get_list_state<std::string>("names").get();
  ASSERT_EQ(names.size(), 1000U);
  EXPECT_EQ(names.back(), "n999");
}

TEST(OperatorStateBackend, ListsOf64HandlesFollowOneAnother) {
  std::vector<OperatorStateHandle> handles;
  std::vector<std::int64_t> expected;
  for (std::int64_t subtask = 0; subtask < 64; ++subtask) {
    OperatorStateBackend backend;
    auto& list = backend.get_union_list_state<std::int64_t>("all");
    for (std::int64_t i = 0; i <= subtask % 3; ++i) {
      list.add(subtask * 10 + i);
      expected.push_back(subtask * 10 + i);
    }
    handles.push_back(handle_of(backend));
  }
  OperatorStateBackend restored;
  const auto result = restore(restored, handles);
  ASSERT_TRUE(result.ok()) << result.error();
  EXPECT_EQ(result.value().count, static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(restored.get_union_list_state<std::int64_t>("all").get(), expected);
}

TEST(OperatorStateBackend, RestoresOnlyTheElementsWhoseOffsetsItWasGiven) {
  OperatorStateBackend backend;
  auto& list = backend.get_list_state<Bytes>("blobs");
  for (int i = 0; i < 4; ++i) list.add(Bytes(static_cast<std::size_t>(i), std::byte{7}));
  OperatorStateHandle handle = handle_of(backend);
  auto& offsets = handle.states.front().second.offsets;
  ASSERT_EQ(offsets.size(), 4U);
  offsets = {offsets[3], offsets[1]};
  OperatorStateBackend restored;
  ASSERT_TRUE(restore(restored, {handle}).ok());
  EXPECT_EQ(restored.get_list_state<Bytes>("blobs").get(),
            (std::vector<Bytes>{Bytes(3, std::byte{7}), Bytes(1, std::byte{7})}));
}

TEST(OperatorStateBackend, AnEmptyListIsStillListed) {
  OperatorStateBackend backend;
  static_cast<void>(backend.get_list_state<std::string>("empty"));
  const OperatorStateHandle handle = handle_of(backend);
  ASSERT_EQ(handle.states.size(), 1U);
  EXPECT_TRUE(handle.states.front().second.offsets.empty());
  OperatorStateBackend restored;
  ASSERT_TRUE(restore(restored, {handle}).ok());
  EXPECT_EQ(restored.registered_states(), std::vector<std::string>{"empty"});
}

TEST(OperatorStateBackend, RefusesOffsetsOfAStateThatTheStreamDoesNotKnow) {
  OperatorStateBackend backend;
  backend.get_list_state<std::string>("known").add("x");
  OperatorStateHandle handle = handle_of(backend);
  handle.states.front().first = "unknown";
  OperatorStateBackend restored;
  EXPECT_FALSE(restore(restored, {handle}).ok());
}

}  // namespace
}  // namespace tailrace::engine
