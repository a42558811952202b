// A coordinator of 1.10 whose store and counter answer later: who waits meanwhile, and who does not.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "tests/engine/checkpoint/coordinator_setup_110.hpp"

namespace tailrace::engine::test {
namespace {

constexpr Duration kLatency = Duration::millis(30);

SetupOptions remote_options() {
  SetupOptions options;
  options.sources = 1;
  options.configuration.job = JobId{1};
  options.configuration.max_concurrent = 2;
  options.configuration.interval = Duration::millis(100);
  options.configuration.timeout = Duration::millis(500);
  return options;
}

struct Remote : CoordinatorSetup110 {
  explicit Remote(const SetupOptions& options = remote_options()) : CoordinatorSetup110(options) {
    journal.note = [this](const std::string& event, CheckpointId id, std::int64_t,
                          const std::string& detail, bool) {
      events.push_back(event + " " + std::to_string(id) + (detail.empty() ? "" : " " + detail));
    };
  }
  void make_store_remote() {
    store.remote = &world;
    store.latency = kLatency;
  }
  void make_counter_remote() {
    id_counter.remote = &world;
    id_counter.latency = kLatency;
  }
  void trigger() {
    coordinator->trigger_checkpoint(false, {});
    world.run_due();
  }
  void acknowledge(CheckpointId id) {
    coordinator->receive_acknowledge_message(
        AcknowledgeCheckpoint{job, attempt_of(0), id, {}, nullptr});
    world.run_due();
  }
  [[nodiscard]] bool noted(const std::string& event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }

  std::vector<std::string> events;
};

TEST(RemoteStore110, TheLockIsHeldOverTheWriteOfTheEntry) {
  Remote setup;
  setup.make_store_remote();
  setup.trigger();
  setup.trigger();
  setup.acknowledge(1);
  // The metadata is there, and whoever asked has been told; the entry is on its way.
  EXPECT_TRUE(setup.noted("completed 1"));
  EXPECT_FALSE(setup.noted("notifyComplete 1"));
  setup.acknowledge(2);
  EXPECT_EQ(setup.observer.completed, 1);
  setup.world.advance(kLatency - Duration::nanos(1));
  EXPECT_EQ(setup.observer.completed, 1);
  EXPECT_TRUE(setup.store.checkpoints().empty());
  setup.world.advance(Duration::nanos(1));
  EXPECT_TRUE(setup.noted("notifyComplete 1"));
  EXPECT_EQ(setup.observer.completed, 2);  // the acknowledgement that waited
  EXPECT_FALSE(setup.noted("notifyComplete 2"));
  setup.world.advance(kLatency);
  EXPECT_TRUE(setup.noted("notifyComplete 2"));
}

TEST(RemoteStore110, AnEntryThatIsNotWrittenCostsTheCheckpointAndKeepsThePromise) {
  Remote setup;
  setup.make_store_remote();
  setup.store.failing_calls = {1};
  std::optional<CheckpointResult> result;
  setup.coordinator->trigger_checkpoint(
      false, [&result](CheckpointResult done) { result = std::move(done); });
  setup.world.run_due();
  setup.acknowledge(1);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->ok());
  setup.world.advance(kLatency);
  EXPECT_TRUE(setup.store.checkpoints().empty());
  EXPECT_FALSE(setup.noted("notifyComplete 1"));
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
  EXPECT_FALSE(setup.coordinator->is_finalising());
}

TEST(RemoteStore110, ARestoreReadsTheStoreUnderTheLock) {
  Remote setup;
  setup.trigger();
  setup.acknowledge(1);
  setup.trigger();
  setup.make_store_remote();
  CompletedCheckpointPtr restored;
  setup.coordinator->restore_latest_checkpointed_state(
      {.error_if_none = true, .allow_non_restored = true},
      [&restored](CompletedCheckpointPtr checkpoint) { restored = std::move(checkpoint); });
  setup.coordinator->abort_pending_checkpoints(CheckpointFailureReason::JOB_FAILOVER_REGION);
  EXPECT_EQ(setup.coordinator->pending_checkpoints().size(), 1U);  // that waits
  setup.world.advance(kLatency);
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->id, 1);
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
}

TEST(RemoteStore110, AStoreOfWhichNothingCanBeReadFailsTheJob) {
  Remote setup;
  setup.make_store_remote();
  setup.store.unreadable = true;
  bool restored = false;
  setup.coordinator->restore_latest_checkpointed_state(
      {}, [&restored](const CompletedCheckpointPtr&) { restored = true; });
  setup.world.advance(kLatency);
  EXPECT_FALSE(restored);
  EXPECT_TRUE(setup.noted("failJob -1"));
  setup.store.unreadable = false;
  setup.trigger();  // the lock is free again
  EXPECT_EQ(setup.observer.total, 1);
}

TEST(RemoteStore110, ASavepointIsStoredAndTheCounterSetBehindItBeforeItIsRestored) {
  Remote setup;
  setup.make_store_remote();
  setup.make_counter_remote();
  auto savepoint = std::make_shared<CompletedCheckpoint>();
  savepoint->job = setup.job;
  savepoint->id = 41;
  savepoint->properties = CheckpointProperties::for_savepoint();
  CompletedCheckpointPtr restored;
  setup.coordinator->restore_savepoint(
      savepoint, ClaimMode::LEGACY, false,
      [&restored](CompletedCheckpointPtr checkpoint) { restored = std::move(checkpoint); });
  setup.world.advance(kLatency + kLatency);  // the entry, the counter
  EXPECT_EQ(setup.id_counter.get(), 42);
  EXPECT_EQ(restored, nullptr);
  setup.world.advance(kLatency);  // the store is read
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->id, 41);
  setup.trigger();
  setup.world.advance(kLatency);
  EXPECT_TRUE(setup.noted("trigger 42 CHECKPOINT"));
}

TEST(RemoteCounter110, TheTimerWaitsForTheIdAndAcknowledgementsDoNot) {
  SetupOptions options = remote_options();
  options.configuration.timeout = Duration::millis(110);
  Remote setup(options);
  setup.trigger();
  setup.make_counter_remote();
  setup.coordinator->start_checkpoint_scheduler();  // aborts 1; the first tick is due at once
  setup.world.advance(kLatency);
  ASSERT_TRUE(setup.noted("trigger 2 CHECKPOINT"));
  // The tick at 100 ms asks for id 3; checkpoint 2 would expire at 140 ms, and 3 is there at 130 ms.
  setup.world.run_until(Time{} + Duration::millis(120));
  EXPECT_FALSE(setup.noted("trigger 3 CHECKPOINT"));
  setup.acknowledge(2);
  EXPECT_TRUE(setup.noted("notifyComplete 2"));
  setup.world.run_until(Time{} + Duration::millis(130));
  EXPECT_TRUE(setup.noted("trigger 3 CHECKPOINT"));
}

TEST(RemoteCounter110, WhatIsDueOnTheTimerMeanwhileComesWhenTheIdIsThere) {
  SetupOptions options = remote_options();
  options.configuration.timeout = Duration::millis(80);
  Remote setup(options);
  setup.make_counter_remote();
  setup.coordinator->start_checkpoint_scheduler();
  // Ids at 30 ms and 130 ms; checkpoint 1 expires at 110 ms, while the timer waits for id 2.
  setup.world.run_until(Time{} + Duration::millis(129));
  EXPECT_EQ(setup.observer.failed, 0);
  setup.world.run_until(Time{} + Duration::millis(130));
  EXPECT_EQ(setup.observer.failed, 1);
  EXPECT_TRUE(setup.noted("failed 1 CHECKPOINT_EXPIRED"));
  EXPECT_TRUE(setup.noted("trigger 2 CHECKPOINT"));
}

TEST(RemoteCounter110, ThePreChecksAreMadeOnceMoreWhenTheIdIsThere) {
  Remote setup;
  setup.make_counter_remote();
  setup.coordinator->start_checkpoint_scheduler();
  setup.world.advance(Duration::millis(10));
  setup.coordinator->stop_checkpoint_scheduler();
  setup.world.advance(Duration::seconds(1));
  EXPECT_TRUE(setup.noted("failed 1 TRIGGER_CHECKPOINT_FAILURE"));
  EXPECT_TRUE(setup.noted("failed -2 PERIODIC_SCHEDULER_SHUTDOWN"));
  EXPECT_FALSE(setup.noted("trigger 1 CHECKPOINT"));
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
  // The id is used up.
  setup.trigger();
  setup.world.advance(kLatency);
  EXPECT_TRUE(setup.noted("trigger 2 CHECKPOINT"));
}

TEST(RemoteCounter110, AnAttemptThatHasComeMeanwhileIsNotTriggered) {
  Remote setup;
  setup.make_counter_remote();
  setup.trigger();
  setup.vertices[0]->set_attempt(setup.new_attempt(0));
  setup.world.advance(kLatency);
  EXPECT_EQ(setup.coordinator->pending_checkpoints().size(), 1U);
  EXPECT_FALSE(setup.noted("trigger 1 CHECKPOINT"));
}

TEST(RemoteCounter110, ACounterThatFailsTriggersNothing) {
  Remote setup;
  setup.make_counter_remote();
  setup.id_counter.failing_calls = {1};
  std::optional<CheckpointResult> result;
  setup.coordinator->trigger_checkpoint(
      false, [&result](CheckpointResult done) { result = std::move(done); });
  setup.world.advance(kLatency);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->error(), CheckpointFailureReason::EXCEPTION);
  EXPECT_EQ(setup.observer.refused, 1);
}

}  // namespace
}  // namespace tailrace::engine::test
