// A coordinator of 1.20 whose store and counter answer later.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "tests/engine/checkpoint/coordinator_setup_120.hpp"

namespace tailrace::engine::test {
namespace {

using Added = CompletedCheckpointStore120::Added;

constexpr Duration kLatency120 = Duration::millis(30);

SetupOptions120 remote_options_120() {
  SetupOptions120 options;
  options.sources = 1;
  options.configuration.job = JobId{1};
  options.configuration.max_concurrent = 2;
  options.configuration.timeout = Duration::millis(500);
  return options;
}

class Remote120 final : private NotingVertex120::Listener,
                        private NotingFailureManager120::Listener {
 public:
  Remote120() : setup(remote_options_120(), *this, *this) {
    setup.journal.note = [this](const std::string& event, CheckpointId id, std::int64_t,
                                const std::string&,
                                bool) { events.push_back(event + ' ' + std::to_string(id)); };
    setup.store.latency = kLatency120;
    setup.id_counter.latency = kLatency120;
  }
  void make_store_remote() { setup.store.remote = &setup.world; }
  void make_counter_remote() { setup.id_counter.remote = &setup.world; }
  void trigger() {
    setup.coordinator->trigger_checkpoint(
        false, [this](CheckpointResult result) { results.push_back(std::move(result)); });
    setup.world.run_due();
  }
  void acknowledge(CheckpointId id) {
    setup.coordinator->receive_acknowledge_message(
        AcknowledgeCheckpoint{JobId{1}, setup.attempt_of(0), id, {}, nullptr});
    setup.world.run_due();
  }
  void advance(Duration by) { setup.world.advance(by); }
  [[nodiscard]] bool noted(const std::string& event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }

  std::vector<std::string> events;
  std::vector<CheckpointResult> results;
  CoordinatorSetup120 setup;

 private:
  void on_trigger(std::int32_t, const CheckpointMetaData& meta, const CheckpointOptions&) override {
    events.push_back("trigger " + std::to_string(meta.id));
  }
  void on_complete(std::int32_t, CheckpointId id, CheckpointId) override {
    events.push_back("complete " + std::to_string(id));
  }
  void on_aborted(std::int32_t, CheckpointId id, CheckpointId) override {
    events.push_back("aborted " + std::to_string(id));
  }
  void on_completed(CheckpointId) override {}
  void on_failed(const CheckpointProperties&, CheckpointFailureReason reason, CheckpointId id,
                 std::optional<ExecutionAttemptId>) override {
    events.push_back(std::string(to_string(reason)) + ' ' + std::to_string(id));
  }
  void on_fail_job() override { events.emplace_back("failJob"); }
  void on_fail_job_due_to_task_failure(ExecutionAttemptId) override {}
};

TEST(RemoteStore120, ACheckpointIsCompleteWhenItsEntryIsWrittenAndTheLockIsHeldUntilThen) {
  Remote120 remote;
  remote.make_store_remote();
  remote.trigger();
  remote.trigger();
  remote.acknowledge(1);
  EXPECT_TRUE(remote.results.empty());  // 1.10 has kept its promise here
  remote.acknowledge(2);
  remote.advance(kLatency120 - Duration::nanos(1));
  EXPECT_TRUE(remote.results.empty());
  EXPECT_FALSE(remote.noted("complete 1"));
  remote.advance(Duration::nanos(1));
  ASSERT_EQ(remote.results.size(), 1U);
  EXPECT_TRUE(remote.noted("complete 1"));
  EXPECT_FALSE(remote.noted("complete 2"));  // its acknowledgement has only now been looked at
  remote.advance(kLatency120);
  EXPECT_TRUE(remote.noted("complete 2"));
}

TEST(RemoteStore120, OnlyWhatIsSureNotToBeThereIsDeleted) {
  for (const Added added : {Added::FAILED, Added::UNCERTAIN}) {
    Remote120 remote;
    remote.make_store_remote();
    remote.setup.store.failing_calls = {{1, added}};
    remote.trigger();
    remote.acknowledge(1);
    EXPECT_TRUE(remote.results.empty());
    remote.advance(kLatency120);
    ASSERT_EQ(remote.results.size(), 1U);
    EXPECT_FALSE(remote.results[0].ok());
    EXPECT_EQ(remote.noted("completedDisposed 1"), added == Added::FAILED);
    EXPECT_TRUE(remote.noted("FINALIZE_CHECKPOINT_FAILURE 1"));
    EXPECT_TRUE(remote.noted("aborted 1"));
    EXPECT_FALSE(remote.setup.coordinator->is_finalising());
  }
}

TEST(RemoteStore120, ASavepointIsStoredAndTheCounterSetBehindItBeforeItIsRestored) {
  Remote120 remote;
  remote.make_store_remote();
  remote.make_counter_remote();
  auto savepoint = std::make_shared<CompletedCheckpoint>();
  savepoint->job = JobId{1};
  savepoint->id = 41;
  CompletedCheckpointPtr restored;
  remote.setup.coordinator->restore_savepoint(
      savepoint, ClaimMode::NO_CLAIM, false,
      [&restored](CompletedCheckpointPtr checkpoint) { restored = std::move(checkpoint); });
  remote.trigger();  // it waits for the lock
  remote.advance(kLatency120);
  EXPECT_EQ(restored, nullptr);
  remote.advance(kLatency120);
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->id, 41);
  remote.advance(kLatency120);
  EXPECT_TRUE(remote.noted("trigger 42"));
}

TEST(RemoteCounter120, NeitherTheLockNorTheTimerWaitsForTheId) {
  Remote120 remote;
  remote.trigger();
  remote.make_counter_remote();
  remote.trigger();
  EXPECT_TRUE(remote.setup.coordinator->is_triggering());
  remote.acknowledge(1);
  EXPECT_TRUE(remote.noted("complete 1"));
  EXPECT_FALSE(remote.noted("trigger 2"));
  remote.advance(kLatency120);
  EXPECT_TRUE(remote.noted("trigger 2"));
}

TEST(RemoteCounter120, AShutdownMeanwhileLeavesNothingPending) {
  Remote120 remote;
  remote.make_counter_remote();
  remote.trigger();
  remote.setup.coordinator->shutdown(JobStatus::SUSPENDED);
  remote.advance(kLatency120);
  ASSERT_EQ(remote.results.size(), 1U);
  EXPECT_EQ(remote.results[0].error(), CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN);
  EXPECT_TRUE(remote.setup.coordinator->pending_checkpoints().empty());
  EXPECT_EQ(remote.setup.id_counter.get(), 2);  // the id is used up
}

}  // namespace
}  // namespace tailrace::engine::test
