// What the recordings cannot show: finalisation that takes time, real storage, many subtasks.
#include <algorithm>

#include <gtest/gtest.h>

#include "engine/checkpoint/checkpoints.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "tests/engine/checkpoint/coordinator_setup_110.hpp"

namespace tailrace::engine::test {
namespace {

SetupOptions options_with(std::int32_t sources, std::int32_t others) {
  SetupOptions options;
  options.sources = sources;
  options.others = others;
  options.configuration.job = JobId{1};
  options.configuration.max_concurrent = 1;
  options.configuration.interval = Duration::millis(100);
  return options;
}

struct Driven : CoordinatorSetup110 {
  explicit Driven(const SetupOptions& options) : CoordinatorSetup110(options) {
    journal.note = [this](const std::string& event, CheckpointId id, std::int64_t task,
                          const std::string& detail, bool) {
      events.push_back(event + " " + std::to_string(id) + (detail.empty() ? "" : " " + detail) +
                       (task >= 0 ? " @" + std::to_string(task) : ""));
    };
  }
  void acknowledge(CheckpointId id, std::int32_t task, const std::string& file = {}) {
    AcknowledgeCheckpoint message{job, attempt_of(task), id, {}, nullptr};
    const auto& vertex = *vertices[static_cast<std::size_t>(task)];
    if (!file.empty()) message.state = state_in_file(vertex.operator_ids().front(), file);
    coordinator->receive_acknowledge_message(std::move(message));
  }
  [[nodiscard]] bool noted(const std::string& event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }
  void trigger() {
    coordinator->trigger_checkpoint(false, {});
    world.run_due();
  }

  std::vector<std::string> events;
};

TEST(Finalisation110, ACheckpointIsCompleteOnlyWhenItsMetadataIsWritten) {
  Driven setup(options_with(2, 0));
  setup.world.set_price(Duration::millis(3));
  setup.storage.put_time = Duration::millis(4);
  setup.trigger();
  setup.acknowledge(1, 0, "a");
  setup.acknowledge(1, 1, "b");
  EXPECT_TRUE(setup.coordinator->is_finalising());
  EXPECT_EQ(setup.world.last_work().kind, WorkKind::kCheckpointFinalise);
  EXPECT_EQ(setup.world.last_work().count, 2);
  setup.world.advance(Duration::nanos(6'999'999));
  EXPECT_TRUE(setup.store.checkpoints().empty());
  EXPECT_FALSE(setup.noted("notifyComplete 1 @0"));
  setup.world.advance(Duration::nanos(1));
  ASSERT_EQ(setup.store.checkpoints().size(), 1U);
  EXPECT_EQ(setup.store.checkpoints().front()->completion_ms, 7);
  EXPECT_TRUE(setup.noted("notifyComplete 1 @1"));
  EXPECT_EQ(setup.world.last_work().bytes, static_cast<std::int64_t>(setup.storage.written.size()));
  EXPECT_EQ(setup.observer.last_bytes, 20);
}

TEST(Finalisation110, WhoeverComesMeanwhileWaitsInTheOrderOfArrival) {
  Driven setup(options_with(1, 0));
  setup.storage.put_time = Duration::millis(5);
  setup.trigger();
  setup.acknowledge(1, 0);
  // Flink's callers would wait for the lock here: the stop must not abort what is as good as done.
  setup.coordinator->stop_checkpoint_scheduler();
  CompletedCheckpointPtr restored;
  setup.coordinator->restore_latest_checkpointed_state(
      {.error_if_none = true, .allow_non_restored = true},
      [&restored](CompletedCheckpointPtr checkpoint) { restored = std::move(checkpoint); });
  EXPECT_EQ(restored, nullptr);
  setup.world.advance(Duration::millis(5));
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->id, 1);
  EXPECT_EQ(setup.observer.failed, 0);
}

TEST(Finalisation110, TheTimeoutDoesNotStrikeACheckpointThatIsBeingWritten) {
  SetupOptions options = options_with(1, 0);
  options.configuration.timeout = Duration::millis(10);
  Driven setup(options);
  setup.storage.put_time = Duration::millis(50);
  setup.trigger();
  setup.acknowledge(1, 0);
  setup.world.advance(Duration::millis(100));
  EXPECT_EQ(setup.observer.completed, 1);
  EXPECT_EQ(setup.observer.failed, 0);
}

TEST(Finalisation110, ACallFromInsideACallbackWaitsForItsEnd) {
  Driven setup(options_with(1, 0));
  setup.coordinator->trigger_checkpoint(false, [&setup](CheckpointResult) {
    setup.coordinator->shutdown(JobStatus::FINISHED);
    EXPECT_FALSE(setup.noted("completedDisposed 1"));
  });
  setup.acknowledge(1, 0);
  setup.world.run_due();
  EXPECT_TRUE(setup.noted("notifyComplete 1 @0"));
  EXPECT_TRUE(setup.noted("completedDisposed 1"));
}

TEST(Coordinator110, TenThousandSubtasksMakeOneCheckpoint) {
  constexpr std::int32_t kSources = 4'000;
  constexpr std::int32_t kOthers = 6'000;
  Driven setup(options_with(kSources, kOthers));
  setup.trigger();
  for (std::int32_t task = kSources + kOthers - 1; task >= 0; --task) {
    setup.acknowledge(1, task, "state-" + std::to_string(task));
    if (task > 0) setup.acknowledge(1, task, "again");  // counts once
  }
  EXPECT_EQ(setup.observer.last_acknowledged, kSources + kOthers);
  setup.world.run_due();
  ASSERT_EQ(setup.observer.completed, 1);
  EXPECT_EQ(setup.observer.last_bytes, 10LL * (kSources + kOthers));

  const auto read = MetadataV2Serializer::deserialize(setup.storage.written);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().operator_states.size(), 2U);
  const OperatorState& source = read.value().operator_states.begin()->second;
  ASSERT_EQ(source.parallelism, kSources);
  ASSERT_EQ(source.subtasks.size(), static_cast<std::size_t>(kSources));
  for (std::int32_t subtask = 0; subtask < kSources; ++subtask) {
    EXPECT_EQ(stream_name(*source.subtasks.at(subtask).managed_operator.front().delegate),
              "state-" + std::to_string(subtask));
  }
  EXPECT_EQ(
      std::count_if(setup.events.begin(), setup.events.end(),
                    [](const std::string& event) { return event.starts_with("notifyComplete 1"); }),
      kSources + kOthers);
}

TEST(Coordinator110, TheJobStatusStartsAndStopsTheScheduler) {
  Driven setup(options_with(1, 0));
  setup.coordinator->on_job_status_change(JobStatus::RUNNING);
  EXPECT_TRUE(setup.coordinator->is_periodic_scheduling());
  setup.world.advance(Duration::millis(1));
  EXPECT_EQ(setup.coordinator->pending_checkpoints().size(), 1U);
  setup.coordinator->on_job_status_change(JobStatus::RESTARTING);
  EXPECT_FALSE(setup.coordinator->is_periodic_scheduling());
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
  EXPECT_TRUE(setup.noted("failed 1 CHECKPOINT_COORDINATOR_SUSPEND"));
  EXPECT_EQ(setup.world.waiting(), 0U);  // nothing left that would wake the world
}

TEST(Coordinator110, WithoutAnIntervalTheJobStatusDoesNothing) {
  SetupOptions options = options_with(1, 0);
  options.configuration.interval = Duration::millis(9);
  Driven setup(options);
  setup.coordinator->on_job_status_change(JobStatus::RUNNING);
  EXPECT_FALSE(setup.coordinator->is_periodic_scheduling());
  setup.trigger();
  EXPECT_EQ(setup.observer.total, 1);
}

TEST(Coordinator110, ALoadedSavepointIsRestoredAndNumberedBehind) {
  Driven setup(options_with(1, 0));
  auto savepoint = std::make_shared<CompletedCheckpoint>();
  savepoint->id = 17;
  savepoint->properties = CheckpointProperties::for_savepoint();
  CompletedCheckpointPtr restored;
  setup.coordinator->restore_savepoint(
      savepoint, ClaimMode::LEGACY, false,
      [&restored](CompletedCheckpointPtr checkpoint) { restored = std::move(checkpoint); });
  EXPECT_EQ(restored, savepoint);
  setup.trigger();
  EXPECT_TRUE(setup.noted("trigger 18 CHECKPOINT @0"));  // C-110
  setup.acknowledge(18, 0);
  setup.world.run_due();
  EXPECT_FALSE(setup.noted("completedDisposed 17"));  // subsumed, but a savepoint stays
}

TEST(Coordinator110, ALateAcknowledgementOfACompletedCheckpointMustNotNameItsFiles) {
  Driven setup(options_with(1, 0));
  setup.trigger();
  setup.acknowledge(1, 0, "needed");
  setup.world.run_due();
  EXPECT_THROW(setup.acknowledge(1, 0, "needed"), base::InvariantViolation);
  setup.acknowledge(1, 0, "late");
  EXPECT_TRUE(setup.noted("discardState -1 late"));
}

TEST(CompletedCheckpointStore110, WhatAStoredCheckpointNeedsIsNotDeleted) {
  Driven setup(options_with(1, 0));
  const OperatorId id = setup.vertices.front()->operator_ids().front();
  const auto with_file = [&id](CheckpointId number, const std::string& file) {
    auto checkpoint = std::make_shared<CompletedCheckpoint>();
    checkpoint->id = number;
    OperatorState state{id, 1, 128, {}};
    state.subtasks[0] = state_in_file(id, file)->operators.at(id);
    checkpoint->operator_states.emplace(id, state);
    return checkpoint;
  };
  StandaloneCompletedCheckpointStore store(1, setup.storage, setup.registry);
  store.add_checkpoint(with_file(1, "same"));
  EXPECT_THROW(store.add_checkpoint(with_file(2, "same")), base::InvariantViolation);
  EXPECT_FALSE(setup.noted("discardState -1 same"));
}

// A blob store in memory, and the storage of the engine above it.
class MapBlobStore final : public BlobStore {
 public:
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    blobs[path] = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    done(PutStatus::kStored);
  }
  void get(const std::string& path, base::InplaceFunction<void(Blob)> done) override {
    const auto found = blobs.find(path);
    done(found == blobs.end() ? nullptr : found->second);
  }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    const auto found = blobs.find(path);
    if (found == blobs.end()) {
      done(nullptr);
      return;
    }
    const auto begin = found->second->begin() + offset;
    done(std::make_shared<const std::vector<std::byte>>(begin, begin + length));
  }
  void remove(const std::string& path) override { blobs.erase(path); }
  void remove_directory(const std::string& path) override {
    std::erase_if(blobs, [&](const auto& blob) { return blob.first.starts_with(path + '/'); });
  }

  std::map<std::string, Blob> blobs;
};

TEST(FsCheckpointStorage, PutsCheckpointsAndSavepointsWhereFlinkDoes) {
  MapBlobStore blobs;
  FixedDraws draws;
  draws.next = [](std::int64_t, std::int64_t) { return 0xabc; };
  FsCheckpointStorage storage(blobs, draws, JobId{0x12}, "/checkpoints", "");
  const auto checkpoint = storage.initialize_location_for_checkpoint(7);
  ASSERT_TRUE(checkpoint.has_value());
  EXPECT_EQ(checkpoint->metadata_path(), "/checkpoints/chk-7/_metadata");
  EXPECT_EQ(storage.initialize_location_for_savepoint(8, ""), std::nullopt);
  const auto savepoint = storage.initialize_location_for_savepoint(8, "/mine");
  ASSERT_TRUE(savepoint.has_value());
  EXPECT_EQ(savepoint->directory, "/mine/savepoint-000012-000000000abc");
  storage.write_metadata(*checkpoint, {std::byte{1}}, [](PutStatus) {});
  EXPECT_EQ(blobs.blobs.count("/checkpoints/chk-7/_metadata"), 1U);
  // Of a task that was killed before it could report it.
  blobs.put("/checkpoints/chk-7/count-0-1", {std::byte{2}}, [](PutStatus) {});
  blobs.put("/checkpoints/chk-70/count-0-1", {std::byte{3}}, [](PutStatus) {});
  storage.dispose_on_failure(7, *checkpoint);
  EXPECT_EQ(blobs.blobs.size(), 1U);
  EXPECT_EQ(blobs.blobs.count("/checkpoints/chk-70/count-0-1"), 1U);
}

class Loading : public testing::Test {
 protected:
  Loading() {
    OperatorState full{known_, 2, 128, {}};
    full.subtasks[0] = state_in_file(known_, "/elsewhere/file")->operators.at(known_);
    states_.emplace(known_, full);
  }
  base::Result<CompletedCheckpointPtr, std::string> load(bool allow_non_restored) {
    const auto bytes = MetadataV2Serializer::serialize(17, {}, states_);
    return Checkpoints::load_and_validate_checkpoint(JobId{3}, job_, bytes, "/savepoint",
                                                     allow_non_restored);
  }

  OperatorId known_{{1}};
  OperatorId unknown_{{2}};
  OperatorStates states_;
  Checkpoints::OperatorToVertex job_{{known_, {128, false}}};
};

TEST_F(Loading, ASavepointKeepsItsIdAndBelongsToTheUser) {
  const auto loaded = load(false);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.value()->id, 17);
  EXPECT_EQ(loaded.value()->timestamp_ms, 0);
  EXPECT_EQ(loaded.value()->properties, CheckpointProperties::for_savepoint());
  EXPECT_EQ(loaded.value()->external_pointer(), "/savepoint");
  EXPECT_EQ(loaded.value()->operator_states.size(), 1U);
}

TEST_F(Loading, StateOfAnUnknownOperatorNeedsPermission) {
  states_.emplace(unknown_, OperatorState{unknown_, 2, 128, states_.at(known_).subtasks});
  EXPECT_FALSE(load(false).ok());
  const auto loaded = load(true);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.value()->operator_states.count(unknown_), 0U);
}

TEST_F(Loading, AnUnknownOperatorWithoutStateIsNoMatter) {
  OperatorState empty{unknown_, 2, 128, {}};
  empty.subtasks[0] = {};
  states_.emplace(unknown_, std::move(empty));
  EXPECT_TRUE(load(false).ok());  // C-112
}

TEST_F(Loading, AConfiguredMaximumParallelismMustFit) {
  job_[known_].max_parallelism = 64;
  EXPECT_FALSE(load(false).ok());
  job_[known_].max_parallelism_auto = true;
  EXPECT_TRUE(load(false).ok());
}

TEST(ScheduledExecutor, AFixedRateTaskKeepsItsPlaceAmongEquals) {
  ManualWorld world;
  ScheduledExecutor executor(world, world, nullptr);
  std::string order;
  executor.schedule_at_fixed_rate(ScheduledTaskKind::ScheduledTrigger, Duration::millis(10),
                                  Duration::millis(10), [&order] { order += 'p'; });
  executor.schedule(ScheduledTaskKind::CheckpointCanceller, Duration::millis(20),
                    [&order] { order += 'c'; });
  executor.execute([&order] { order += 'x'; });
  world.advance(Duration::millis(20));
  EXPECT_EQ(order, "xppc");
}

TEST(ScheduledExecutor, WorkHandedOverRunsAfterAllThatIsDue) {
  ManualWorld world;
  ScheduledExecutor executor(world, world, nullptr);
  std::string order;
  executor.schedule(ScheduledTaskKind::ScheduledTrigger, Duration::millis(10), [&] {
    executor.execute([&order] { order += 'x'; });
    order += '1';
  });
  executor.schedule(ScheduledTaskKind::CheckpointCanceller, Duration::millis(10),
                    [&order] { order += '2'; });
  world.advance(Duration::millis(10));
  EXPECT_EQ(order, "12x");
}

TEST(ScheduledExecutor, ATaskMayCancelItself) {
  ManualWorld world;
  ScheduledExecutor executor(world, world, nullptr);
  int runs = 0;
  ScheduledExecutor::TaskId id = 0;
  id = executor.schedule_at_fixed_rate(ScheduledTaskKind::ScheduledTrigger, Duration::millis(1),
                                       Duration::millis(1), [&] {
                                         ++runs;
                                         executor.cancel(id);
                                       });
  world.advance(Duration::millis(10));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(world.waiting(), 0U);
}

}  // namespace
}  // namespace tailrace::engine::test
