// From backends to files and back: stream factory, task state manager, initializer, reader.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/state/backend_restorer_procedure.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "engine/state/keyed_state_reader.hpp"
#include "engine/state/stream_task_state_initializer.hpp"
#include "tests/engine/state/test_world.hpp"

namespace tailrace::engine {
namespace {

using test::TestWorld;

std::vector<std::byte> some_bytes(std::size_t count) {
  return std::vector<std::byte>(count, std::byte{5});
}

// Stores one stream; the handle, and whether the callback has run.
struct Stored {
  bool done = false;
  StreamStateHandlePtr handle;
};
CheckpointStateOutputStream store(FsCheckpointStreamFactory& factory, std::size_t bytes,
                                  Stored& stored, const CheckpointOptions& options = {}) {
  return factory.write(7, options, some_bytes(bytes), [&stored](StreamStateHandlePtr handle) {
    stored = {true, std::move(handle)};
  });
}

TEST(FsCheckpointStreamFactory, KeepsStreamsUpToTheThresholdInLine) {
  TestWorld world;
  FsCheckpointStreamFactory factory(world.ports(), "cp", kDefaultMemoryThreshold, "t1");
  Stored small;
  Stored large;
  const auto first = store(factory, 1024, small);
  const auto second = store(factory, 1025, large);
  EXPECT_FALSE(small.done);  // never inside the call
  world.run();
  EXPECT_TRUE(std::holds_alternative<ByteStreamStateHandle>(*small.handle));
  EXPECT_EQ(stream_name(*large.handle), "cp/chk-7/t1-2");
  EXPECT_EQ(state_size_bytes(*large.handle), 1025);
  EXPECT_EQ(world.files().size(), 1U);
}

TEST(FsCheckpointStreamFactory, WritesASavepointToItsTarget) {
  TestWorld world;
  FsCheckpointStreamFactory factory(world.ports(), "cp", 0, "t1");
  Stored stored;
  const auto stream = store(factory, 1, stored, {CheckpointType::SAVEPOINT, "elsewhere"});
  world.run();
  EXPECT_EQ(stream_name(*stored.handle), "elsewhere/t1-1");
}

TEST(FsCheckpointStreamFactory, NamesFilesAsSeenFromTheirDirectoryIfAsked) {  // 1.20
  for (const bool relative : {false, true}) {
    TestWorld world;
    FsCheckpointStreamFactory factory(world.ports(), "cp", 0, "t1", relative);
    Stored stored;
    const auto stream = store(factory, 10, stored);
    world.run();
    EXPECT_EQ(std::get<FileStateHandle>(*stored.handle),
              (FileStateHandle{"cp/chk-7/t1-1", 10, relative ? "t1-1" : ""}));
  }
}

TEST(FsCheckpointStreamFactory, AnAbortedStreamLeavesNoFileAndNoCall) {
  TestWorld world;
  FsCheckpointStreamFactory factory(world.ports(), "cp", 0, "t1");
  Stored stored;
  { const auto stream = store(factory, 10, stored); }
  world.run();
  EXPECT_FALSE(stored.done);
  EXPECT_TRUE(world.files().empty());
}

TEST(FsCheckpointStreamFactory, AFailedWriteGivesNoHandle) {
  TestWorld world;
  world.fail_request(1);
  FsCheckpointStreamFactory factory(world.ports(), "cp", 0, "t1");
  Stored stored;
  const auto stream = store(factory, 10, stored);
  world.run();
  EXPECT_TRUE(stored.done);
  EXPECT_EQ(stored.handle, nullptr);
}

constexpr OperatorId kOperator{{1}};

class IgnoringResponder final : public CheckpointResponder {
 public:
  void acknowledge(AcknowledgeCheckpoint message) override { acknowledged = std::move(message); }
  void decline(DeclineCheckpoint) override {}
  AcknowledgeCheckpoint acknowledged;
};

// 64 subtasks with keyed and operator state in files, cut for one subtask of five.
class RestoreOfOneTask : public ::testing::Test {
 protected:
  static constexpr std::int32_t kMaxParallelism = 128;

  RestoreOfOneTask() {
    for (std::int32_t subtask = 0; subtask < 64; ++subtask) write_subtask(subtask);
    world_.run();
  }

  void write_subtask(std::int32_t subtask) {
    const KeyGroupRange range =
        compute_key_group_range_for_operator_index(kMaxParallelism, 64, subtask);
    FsCheckpointStreamFactory factory(world_.ports(), "cp", 0, "s" + std::to_string(subtask));
    HeapKeyedStateBackend keyed(range, kMaxParallelism);
    auto state = keyed.get_value_state<std::int64_t>("count");
    for (int i = 0; i < 1000; ++i) {
      const std::string key = "k" + std::to_string(i);
      keyed.set_current_key(key);
      if (!range.contains(keyed.current_key_group())) continue;
      state.update(i);
      if (range_.contains(keyed.current_key_group())) ++expected_;
    }
    OperatorStateBackend lists;
    lists.get_list_state<std::int64_t>("position").add(subtask);
    OperatorSubtaskState written;
    file(factory, *keyed.snapshot(1), written);
    file(factory, *lists.snapshot(1), written);
    for (const auto& handle : written.managed_keyed) {
      all_.managed_keyed.push_back(handle);
      if (!handle->key_group_range().intersect(range_).empty()) {
        restore_.managed_keyed.push_back(handle->intersect(range_));
      }
    }
    if (subtask < 3) restore_.managed_operator.push_back(written.managed_operator.front());
  }

  void file(FsCheckpointStreamFactory& factory, SnapshotFuture& future,
            OperatorSubtaskState& state) {
    const auto stream = factory.write(
        1, {}, test::write_all(future),
        [&](StreamStateHandlePtr handle) { future.finish(std::move(handle), state); });
    world_.run();
  }

  // Runs one initialisation to its end.
  base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string> initialize() {
    auto restore = std::make_shared<JobManagerTaskRestore>();
    restore->restore_checkpoint_id = 1;
    restore->snapshot.operators[kOperator] = restore_;
    const TaskStateManagerImpl manager({}, {}, restore, responder_);
    StreamTaskStateInitializerImpl initializer(world_.ports(), manager);
    std::optional<base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string>> outcome;
    initializer.initialize(kOperator, {true, range_, kMaxParallelism},
                           [&](auto result) { outcome.emplace(std::move(result)); });
    EXPECT_FALSE(outcome.has_value());  // never inside the call
    world_.run();
    EXPECT_TRUE(outcome.has_value());
    return std::move(*outcome);
  }

  TestWorld world_;
  IgnoringResponder responder_;
  const KeyGroupRange range_ = compute_key_group_range_for_operator_index(kMaxParallelism, 5, 2);
  OperatorSubtaskState all_;
  OperatorSubtaskState restore_;
  std::int64_t expected_ = 0;
};

TEST_F(RestoreOfOneTask, GivesTheOperatorItsBackends) {
  const auto result = initialize();
  ASSERT_TRUE(result.ok()) << result.error();
  const StreamOperatorStateContext& context = *result.value();
  EXPECT_TRUE(context.restored);
  EXPECT_GT(expected_, 100);
  EXPECT_EQ(context.keyed_state->entry_count(), expected_);
  EXPECT_EQ(context.operator_state->get_list_state<std::int64_t>("position").get(),
            (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(context.restore_work.kind, WorkKind::kRestore);
  EXPECT_EQ(context.restore_work.count, expected_ + 3);
}

TEST_F(RestoreOfOneTask, FetchesNothingButHeadersAndItsOwnKeyGroups) {
  // 1.10 hands every old handle to every subtask; what is left of most has the empty range.
  restore_ = {};
  std::int64_t whole = 0;
  for (const auto& handle : all_.managed_keyed) {
    restore_.managed_keyed.push_back(handle->intersect(range_));
    whole += handle->state_size_bytes();
  }
  const auto result = initialize();
  ASSERT_TRUE(result.ok()) << result.error();
  EXPECT_EQ(result.value()->keyed_state->entry_count(), expected_);
  // Every byte that was fetched was read.
  EXPECT_EQ(world_.bytes_read(), result.value()->restore_work.bytes);
  EXPECT_GT(world_.bytes_read(), whole / 10);
  EXPECT_LT(world_.bytes_read(), whole * 8 / 10);
}

TEST_F(RestoreOfOneTask, FailsWithOneErrorWhicheverRequestFails) {
  const int before = world_.requests();
  ASSERT_TRUE(initialize().ok());
  const int needed = world_.requests() - before;
  EXPECT_GT(needed, 10);
  for (int n = 1; n <= needed; ++n) {
    world_.fail_request(n);
    const auto result = initialize();
    ASSERT_FALSE(result.ok()) << n;
    EXPECT_NE(result.error().find("cannot read cp/chk-1/"), std::string::npos) << result.error();
  }
  world_.fail_request(needed + 1);
  EXPECT_TRUE(initialize().ok());
}

TEST_F(RestoreOfOneTask, FailsWhenAFileIsDamaged) {
  auto& blob = world_.files().at(
      stream_name(*dynamic_cast<const KeyGroupsStateHandle&>(*restore_.managed_keyed[1]).stream()));
  blob = std::make_shared<const std::vector<std::byte>>(some_bytes(100));
  const auto result = initialize();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().find("keyed state backend"), std::string::npos) << result.error();
}

TEST_F(RestoreOfOneTask, AnAbandonedInitializationNeverReports) {
  auto restore = std::make_shared<JobManagerTaskRestore>();
  restore->snapshot.operators[kOperator] = restore_;
  const TaskStateManagerImpl manager({}, {}, restore, responder_);
  bool called = false;
  {
    StreamTaskStateInitializerImpl initializer(world_.ports(), manager);
    initializer.initialize(kOperator, {true, range_, kMaxParallelism},
                           [&](auto) { called = true; });
  }
  world_.run();
  EXPECT_FALSE(called);
}

TEST_F(RestoreOfOneTask, AnOperatorWithoutAnEntryStartsEmpty) {
  const TaskStateManagerImpl manager({}, {}, std::make_shared<JobManagerTaskRestore>(), responder_);
  StreamTaskStateInitializerImpl initializer(world_.ports(), manager);
  bool called = false;
  initializer.initialize(kOperator, {}, [&](auto result) {
    called = true;
    ASSERT_TRUE(result.ok());
    EXPECT_FALSE(result.value()->restored);
    EXPECT_EQ(result.value()->keyed_state, nullptr);
    ASSERT_NE(result.value()->operator_state, nullptr);
    EXPECT_TRUE(result.value()->operator_state->registered_states().empty());
  });
  world_.run();
  EXPECT_TRUE(called);
}

TEST_F(RestoreOfOneTask, TheReaderSeesEveryEntryOfASnapshot) {
  TaskStateSnapshot snapshot;
  snapshot.operators[kOperator] = all_;
  std::map<std::string, std::string> seen;
  const auto count = for_each_keyed_state_entry(
      snapshot, kMaxParallelism, [&](const std::string& path) { return world_.files().at(path); },
      [&](const KeyedStateEntry& entry) { seen[entry.key] = entry.state + '=' + entry.value; });
  ASSERT_TRUE(count.ok()) << count.error();
  EXPECT_EQ(count.value(), 1000);
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(seen.at("k17"), "count=17");
}

TEST_F(RestoreOfOneTask, DiscardingStateDeletesItsFiles) {
  const std::size_t before = world_.files().size();
  discard_state(world_, all_);
  EXPECT_EQ(world_.files().size(), before - 64);
}

TEST(TaskStateManagerImpl, ReportsASnapshotWithoutStateAsNone) {
  IgnoringResponder responder;
  TaskStateManagerImpl manager({}, {.value = 3}, nullptr, responder);
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  snapshot->operators[kOperator] = {};
  manager.report_task_state_snapshots(9, {}, snapshot);
  EXPECT_EQ(responder.acknowledged.checkpoint_id, 9);
  EXPECT_EQ(responder.acknowledged.state, nullptr);
}

// An alternative that cannot be had falls back to the next (spec rows RST-01, RST-02).
class TwoOptions final : public BackendRestorerProcedure::Options {
 public:
  explicit TwoOptions(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  [[nodiscard]] std::size_t count() const override { return paths_.size(); }
  [[nodiscard]] std::vector<BackendRestorerProcedure::StreamToFetch> streams(
      std::size_t option) const override {
    return {{std::make_shared<const StreamStateHandle>(FileStateHandle{paths_[option], 1}), {}}};
  }
  base::Result<Work, std::string> create(std::size_t option,
                                         const std::vector<FetchedStream>&) override {
    created = static_cast<int>(option);
    return Work{.kind = WorkKind::kRestore};
  }
  int created = -1;

 private:
  std::vector<std::string> paths_;
};

TEST(BackendRestorerProcedure, TriesTheNextAlternativeWhenOneFails) {
  TestWorld world;
  world.files()["second"] = std::make_shared<const std::vector<std::byte>>(some_bytes(1));
  world.files()["third"] = world.files()["second"];
  TwoOptions options({"first", "second", "third"});
  BackendRestorerProcedure procedure(world.ports(), options);
  bool restored = false;
  procedure.create_and_restore([&](auto result) { restored = result.ok(); });
  world.run();
  EXPECT_TRUE(restored);
  EXPECT_EQ(options.created, 1);
}

TEST(BackendRestorerProcedure, ReportsTheFirstCauseWhenAllFail) {
  TestWorld world;
  TwoOptions options({"first", "second"});
  BackendRestorerProcedure procedure(world.ports(), options);
  std::string error;
  procedure.create_and_restore([&](auto result) { error = result.error(); });
  world.run();
  EXPECT_EQ(error, "cannot read first; then cannot read second");
}

}  // namespace
}  // namespace tailrace::engine
