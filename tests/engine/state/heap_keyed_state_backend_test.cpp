// HeapKeyedStateBackend: operations, snapshots written while processing goes on, restore.
#include "engine/state/heap/heap_keyed_state_backend.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/state/heap/heap_restore_operation.hpp"
#include "engine/state/heap/heap_snapshot_strategy.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "tests/engine/state/test_world.hpp"

namespace tailrace::engine {
namespace {

using test::snapshot_in_line;
using test::stream_of;

constexpr KeyGroupRange kAll{0, 127};

void count(HeapKeyedStateBackend& backend, const std::string& key, std::int64_t by = 1) {
  auto state = backend.get_value_state<std::int64_t>("count");
  backend.set_current_key(key);
  state.transform([by](const std::int64_t* old) { return (old == nullptr ? 0 : *old) + by; });
}

std::map<std::string, std::string> contents_of(const HeapKeyedStateBackend& backend) {
  std::map<std::string, std::string> contents;
  backend.visit([&](const std::string& state, std::string_view key, const std::string& value) {
    const bool fresh = contents.emplace(state + '/' + std::string(key), value).second;
    ASSERT_TRUE(fresh) << key;
  });
  return contents;
}

base::Result<Work, std::string> restore(HeapKeyedStateBackend& backend,
                                        const std::vector<KeyedStateHandlePtr>& handles) {
  std::vector<FetchedStream> streams;
  for (const auto& handle : handles) {
    streams.push_back(stream_of(dynamic_cast<const KeyGroupsStateHandle&>(*handle).stream()));
  }
  return HeapRestoreOperation::restore(backend, handles, streams);
}

std::vector<KeyedStateHandlePtr> handles_of(HeapKeyedStateBackend& backend) {
  OperatorSubtaskState state;
  snapshot_in_line(*backend.snapshot(1), state);
  return state.managed_keyed;
}

TEST(HeapKeyedStateBackend, ReadsWhatWasUpdatedUnderTheSameKey) {
  HeapKeyedStateBackend backend(kAll, 128);
  auto state = backend.get_value_state<std::int64_t>("count");
  backend.set_current_key("a");
  EXPECT_EQ(backend.current_key_group(), 81);
  EXPECT_EQ(state.value(), std::nullopt);
  state.update(1);
  backend.set_current_key("b");
  EXPECT_EQ(state.value(), std::nullopt);
  state.update(2);
  backend.set_current_key("a");
  EXPECT_EQ(state.value(), 1);
  state.clear();
  EXPECT_EQ(state.value(), std::nullopt);
  EXPECT_EQ(backend.entry_count(), 1);
}

TEST(HeapKeyedStateBackend, ATransformIsAReadAndAWrite) {
  HeapKeyedStateBackend backend(kAll, 128);
  for (int i = 0; i < 5; ++i) count(backend, "word");
  EXPECT_EQ(backend.get_value_state<std::int64_t>("count").value(), 5);
}

TEST(HeapKeyedStateBackend, ListsGrowAndVanishWhenEmpty) {
  HeapKeyedStateBackend backend(kAll, 128);
  auto list = backend.get_list_state<std::string>("list");
  backend.set_current_key("k");
  EXPECT_TRUE(list.get().empty());
  list.add("x");
  list.add("y");
  EXPECT_EQ(list.get(), (std::vector<std::string>{"x", "y"}));
  list.update({});
  EXPECT_EQ(backend.entry_count(), 0);
}

TEST(HeapKeyedStateBackend, HandsOutTheFormatThatItIsAskedFor) {
  HeapKeyedStateBackend backend(kAll, 128);
  auto count = backend.get_value_state<std::int64_t>("v");
  backend.set_current_key("k");
  count.update(1);
  for (const KeyGroupsFormat format : {KeyGroupsFormat::BACKEND, KeyGroupsFormat::SAVEPOINT}) {
    OperatorSubtaskState written;
    snapshot_in_line(*backend.snapshot(1, format), written);
    const auto& handle = dynamic_cast<const KeyGroupsStateHandle&>(*written.managed_keyed.front());
    EXPECT_EQ(handle.format(), format);
    const auto part = handle.intersect({3, 4});  // a part is of the same kind
    EXPECT_EQ(dynamic_cast<const KeyGroupsStateHandle&>(*part).format(), format);
  }
}

TEST(HeapKeyedStateBackend, HasNoSnapshotWithoutStates) {
  HeapKeyedStateBackend backend(kAll, 128);
  EXPECT_EQ(backend.snapshot(1), nullptr);
}

TEST(HeapKeyedStateBackend, WritesTheExampleOf1289Bytes) {
  HeapKeyedStateBackend backend(kAll, 128, int_key_serializer());
  auto state = backend.get_value_state<std::int32_t>("v");
  backend.set_current_key(int_key(1));
  state.update(5);
  const auto future = backend.snapshot(1);
  EXPECT_EQ(future->sync_work().kind, WorkKind::kSnapshotSync);
  EXPECT_EQ(future->sync_work().count, 128 * 128);
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  while (const auto work = future->step()) {
    entries += work->count;
    bytes += work->bytes;
  }
  const auto stream = future->take_stream();
  EXPECT_EQ(entries, 1);
  EXPECT_EQ(bytes, static_cast<std::int64_t>(stream.size()));
  // The header of the recorded example has 359 bytes.
  ASSERT_EQ(stream.size(), 359U + 1289U);
  const std::vector<int> section = {0, 0, 0, 0x56, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5};
  for (std::size_t i = 0; i < section.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(stream[359 + 86 * 10 + i]), section[i]) << i;
  }
}

TEST(HeapKeyedStateBackend, ASnapshotShowsItsMomentWhateverHappensWhileItIsWritten) {
  HeapKeyedStateBackend backend(kAll, 128);
  for (int i = 0; i < 5000; ++i) count(backend, "word" + std::to_string(i), i);
  const auto expected = contents_of(backend);
  const auto future = backend.snapshot(1);
  OperatorSubtaskState state;
  int steps = 0;
  while (future->step().has_value()) {
    for (int i = 0; i < 300; ++i) count(backend, "word" + std::to_string((steps * 300 + i) % 9000));
    backend.set_current_key("word" + std::to_string(steps));
    backend.get_value_state<std::int64_t>("count").clear();
    ++steps;
  }
  EXPECT_GE(steps, 5000 / HeapSnapshotFuture::kEntriesPerStep);
  future->finish(
      std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{"s", future->take_stream()}),
      state);
  HeapKeyedStateBackend restored(kAll, 128);
  ASSERT_TRUE(restore(restored, state.managed_keyed).ok());
  EXPECT_EQ(contents_of(restored), expected);
  EXPECT_NE(contents_of(backend), expected);
}

TEST(HeapKeyedStateBackend, AnUnfinishedSnapshotMayOutliveTheBackend) {
  auto backend = std::make_unique<HeapKeyedStateBackend>(kAll, 128);
  for (int i = 0; i < 1000; ++i) count(*backend, "word" + std::to_string(i));
  auto future = backend->snapshot(1);
  static_cast<void>(future->step());
  backend.reset();
  static_cast<void>(future->step());
  future.reset();
}

TEST(HeapKeyedStateBackend, TwoSnapshotsMayBeOutAtATime) {
  HeapKeyedStateBackend backend(kAll, 128);
  count(backend, "a");
  const auto first = backend.snapshot(1);
  count(backend, "a");
  count(backend, "b");
  const auto second = backend.snapshot(2);
  count(backend, "a");
  OperatorSubtaskState one;
  OperatorSubtaskState two;
  snapshot_in_line(*second, two);
  snapshot_in_line(*first, one);
  HeapKeyedStateBackend old(kAll, 128);
  HeapKeyedStateBackend newer(kAll, 128);
  ASSERT_TRUE(restore(old, one.managed_keyed).ok());
  ASSERT_TRUE(restore(newer, two.managed_keyed).ok());
  EXPECT_EQ(contents_of(old), (std::map<std::string, std::string>{{"count/a", "1"}}));
  EXPECT_EQ(contents_of(newer),
            (std::map<std::string, std::string>{{"count/a", "2"}, {"count/b", "1"}}));
}

TEST(HeapKeyedStateBackend, AStateThatNobodyAsksForIsWrittenAgain) {
  HeapKeyedStateBackend first(kAll, 128);
  count(first, "kept", 7);
  HeapKeyedStateBackend second(kAll, 128);
  ASSERT_TRUE(restore(second, handles_of(first)).ok());
  HeapKeyedStateBackend third(kAll, 128);
  ASSERT_TRUE(restore(third, handles_of(second)).ok());
  third.set_current_key("kept");
  EXPECT_EQ(third.get_value_state<std::int64_t>("count").value(), 7);
}

// Rescaling: what the state assignment does with handles, then one backend for each new subtask.
void rescale(std::int32_t max_parallelism, std::int32_t from, std::int32_t to) {
  std::map<std::string, std::string> expected;
  std::vector<KeyedStateHandlePtr> handles;
  for (std::int32_t subtask = 0; subtask < from; ++subtask) {
    const KeyGroupRange range =
        compute_key_group_range_for_operator_index(max_parallelism, from, subtask);
    HeapKeyedStateBackend backend(range, max_parallelism);
    static_cast<void>(backend.get_value_state<std::int64_t>("count"));
    for (int i = 0; i < 2000; ++i) {
      const std::string key = "w\xC3\xB6rd" + std::to_string(i);
      if (!range.contains(assign_to_key_group(java_string_hash(key), max_parallelism))) continue;
      count(backend, key, i);
    }
    expected.merge(contents_of(backend));
    for (const auto& handle : handles_of(backend)) handles.push_back(handle);
  }
  ASSERT_EQ(expected.size(), 2000U);

  std::map<std::string, std::string> found;
  std::int64_t restored_entries = 0;
  for (std::int32_t subtask = 0; subtask < to; ++subtask) {
    const KeyGroupRange range =
        compute_key_group_range_for_operator_index(max_parallelism, to, subtask);
    std::vector<KeyedStateHandlePtr> mine;
    for (const auto& handle : handles) mine.push_back(handle->intersect(range));
    HeapKeyedStateBackend backend(range, max_parallelism);
    const auto result = restore(backend, mine);
    ASSERT_TRUE(result.ok()) << result.error();
    restored_entries += result.value().count;
    found.merge(contents_of(backend));
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(restored_entries, 2000);  // nothing restored twice
}

TEST(HeapKeyedStateBackend, RescalesFrom64SubtasksToFewer) {
  rescale(128, 64, 5);
}
TEST(HeapKeyedStateBackend, RescalesFromFewSubtasksTo64) {
  rescale(128, 3, 64);
}
TEST(HeapKeyedStateBackend, RescalesBetweenOddNumbersOfSubtasks) {
  rescale(1000, 77, 70);
}

TEST(HeapRestoreOperation, RefusesKeyGroupsOfAnotherSubtask) {
  HeapKeyedStateBackend backend(kAll, 128);
  count(backend, "a");
  HeapKeyedStateBackend half({0, 63}, 128);
  EXPECT_FALSE(restore(half, handles_of(backend)).ok());
}

TEST(HeapRestoreOperation, RefusesAnotherTypeOfKey) {
  HeapKeyedStateBackend backend(kAll, 128, int_key_serializer());
  static_cast<void>(backend.get_value_state<std::int64_t>("count"));
  HeapKeyedStateBackend other(kAll, 128);
  EXPECT_FALSE(restore(other, handles_of(backend)).ok());
}

TEST(HeapRestoreOperation, RegistersStatesFromAHandleOfAnEmptyRange) {
  HeapKeyedStateBackend backend({0, 63}, 128);
  static_cast<void>(backend.get_value_state<std::int64_t>("count"));
  const auto handle = handles_of(backend).front()->intersect({64, 127});
  EXPECT_EQ(handle->key_group_range(), KeyGroupRange{});
  HeapKeyedStateBackend other({64, 127}, 128);
  ASSERT_TRUE(restore(other, {handle}).ok());
  EXPECT_EQ(other.registered_states(), std::vector<std::string>{"count"});
}

// 1.10 keeps one table of state ids for all handles of a restore (spec state.md 2.10).
TEST(HeapRestoreOperation, LosesStatesThatTheFirstHandleDoesNotHave) {
  HeapKeyedStateBackend first({0, 63}, 128);
  static_cast<void>(first.get_value_state<std::int64_t>("one"));
  HeapKeyedStateBackend second({64, 127}, 128);
  auto state = second.get_value_state<std::int64_t>("two");
  second.set_current_key("a");  // key group 81
  state.update(4);
  std::vector<KeyedStateHandlePtr> handles = handles_of(first);
  handles.push_back(handles_of(second).front());
  HeapKeyedStateBackend both(kAll, 128);
  ASSERT_TRUE(restore(both, handles).ok());
  both.set_current_key("a");
  EXPECT_EQ(both.get_value_state<std::int64_t>("one").value(), std::nullopt);
  EXPECT_EQ(both.get_value_state<std::int64_t>("two").value(), 4);
}

// Whatever byte of a stream is damaged, a restore ends with a result, and never with a crash.
RC_GTEST_PROP(HeapRestoreOperation, SurvivesDamagedStreams, ()) {
  HeapKeyedStateBackend backend({0, 3}, 4);
  for (int i = 0; i < 20; ++i) count(backend, "w" + std::to_string(i), i);
  OperatorSubtaskState state;
  const auto future = backend.snapshot(1);
  std::vector<std::byte> bytes = test::write_all(*future);
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<std::byte>(*rc::gen::inRange(0, 256));
  if (*rc::gen::arbitrary<bool>()) bytes.resize(at);
  future->finish(std::make_shared<const StreamStateHandle>(ByteStreamStateHandle{"s", bytes}),
                 state);
  HeapKeyedStateBackend restored({0, 3}, 4);
  static_cast<void>(restore(restored, state.managed_keyed));
}

}  // namespace
}  // namespace tailrace::engine
