// The pending objects of both generations by themselves: what rows C-72 to C-74 claim beside what
// their scripts show (those are replayed in tests/golden).
#include <gtest/gtest.h>

#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_setup_120.hpp"

namespace tailrace::engine::test {
namespace {

// Nobody listens.
class Silent final : public NotingVertex120::Listener, public NotingFailureManager120::Listener {
 public:
  void on_trigger(std::int32_t, const CheckpointMetaData&, const CheckpointOptions&) override {}
  void on_complete(std::int32_t, CheckpointId, CheckpointId) override {}
  void on_aborted(std::int32_t, CheckpointId, CheckpointId) override {}
  void on_completed(CheckpointId) override {}
  void on_failed(const CheckpointProperties&, CheckpointFailureReason, CheckpointId,
                 std::optional<ExecutionAttemptId>) override {}
  void on_fail_job() override {}
  void on_fail_job_due_to_task_failure(ExecutionAttemptId) override {}
};

struct Pending110 {
  Journal journal;
  ManualWorld world;
  NotingStorage storage{journal, world};
  SharedStateRegistry110 registry{[](const StreamStateHandle&) {}};
  NotingVertex vertex{journal, 0, 0, 0, 1, ExecutionAttemptId{1}};

  PendingCheckpoint110 make(std::vector<std::string> hooks = {}) {
    return {{1, 0},
            CheckpointProperties::for_checkpoint(
                CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION),
            *storage.initialize_location_for_checkpoint(1),
            {PendingCheckpoint110::Task(vertex)},
            std::move(hooks)};
  }
};

struct Pending120 {
  Silent silent;
  NotingVertex120 vertex{silent, 0, 0, 0, 1, ExecutionAttemptId{1}};

  PendingCheckpoint120 make(std::vector<PendingCheckpoint120::CoordinatorInfo> coordinators = {},
                            std::vector<std::string> hooks = {}) {
    CheckpointPlan plan;
    plan.tasks_to_wait_for = {&vertex};
    return PendingCheckpoint120({1, 0}, std::move(plan), std::move(coordinators), std::move(hooks),
                                CheckpointProperties::for_checkpoint(
                                    CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION),
                                {});
  }
};

MasterState state_of(const std::string& hook) {
  return {1, hook, {std::byte{'x'}}};
}

TEST(PendingCheckpoint, ACancellerIsSetOnce) {  // C-72
  Pending110 old_world;
  PendingCheckpoint110 old = old_world.make();
  EXPECT_TRUE(old.set_canceller(7));
  EXPECT_THROW(static_cast<void>(old.set_canceller(8)), base::InvariantViolation);
  old.dispose(old_world.storage, old_world.registry);
  EXPECT_THROW(static_cast<void>(old.set_canceller(8)), base::InvariantViolation);

  Pending120 new_world;
  PendingCheckpoint120 pending = new_world.make();
  EXPECT_TRUE(pending.set_canceller(7));
  EXPECT_THROW(static_cast<void>(pending.set_canceller(8)), base::InvariantViolation);
  pending.dispose();
  EXPECT_THROW(static_cast<void>(pending.set_canceller(8)), base::InvariantViolation);
}

TEST(PendingCheckpoint, AFirstCancellerOfADisposedOneIsRefused) {  // C-72 first
  Pending110 old_world;
  PendingCheckpoint110 old = old_world.make();
  old.dispose(old_world.storage, old_world.registry);
  EXPECT_FALSE(old.set_canceller(7));
  EXPECT_EQ(old.acknowledged(), -1);
  EXPECT_EQ(old.missing(), 0);

  Pending120 new_world;
  PendingCheckpoint120 pending = new_world.make();
  pending.dispose();
  EXPECT_FALSE(pending.set_canceller(7));
  EXPECT_EQ(pending.acknowledged(), -1);
  EXPECT_EQ(pending.missing(), 0);
}

TEST(PendingCheckpoint, AHookWithoutStateCountsAndIsNotStored) {  // C-73
  Pending110 old_world;
  PendingCheckpoint110 old = old_world.make({"h1", "h2"});
  old.acknowledge_master_state("h1", std::nullopt);
  EXPECT_FALSE(old.are_master_states_fully_acknowledged());
  old.acknowledge_master_state("h2", state_of("h2"));
  EXPECT_TRUE(old.are_master_states_fully_acknowledged());
  EXPECT_EQ(old.master_states(), std::vector<MasterState>{state_of("h2")});

  Pending120 new_world;
  PendingCheckpoint120 pending = new_world.make({}, {"h1", "h2"});
  ASSERT_EQ(pending.acknowledge_task(ExecutionAttemptId{1}, nullptr),
            PendingCheckpoint120::AcknowledgeResult::SUCCESS);
  pending.acknowledge_master_state("h1", std::nullopt);
  EXPECT_FALSE(pending.is_fully_acknowledged());
  pending.acknowledge_master_state("h2", state_of("h2"));
  EXPECT_TRUE(pending.is_fully_acknowledged());
  EXPECT_EQ(pending.master_states(), std::vector<MasterState>{state_of("h2")});
}

TEST(PendingCheckpoint, WhatComesAfterTheEndIsDiscarded) {  // C-74
  Pending110 old_world;
  PendingCheckpoint110 old = old_world.make();
  old.dispose(old_world.storage, old_world.registry);
  EXPECT_EQ(old.acknowledge_task(ExecutionAttemptId{1}, nullptr),
            PendingCheckpoint110::AcknowledgeResult::DISCARDED);

  Pending120 new_world;
  const OperatorId id{{9}};
  PendingCheckpoint120 pending = new_world.make({{id, 1, 128}}, {"h"});
  pending.dispose();
  EXPECT_EQ(pending.acknowledge_task(ExecutionAttemptId{1}, nullptr),
            PendingCheckpoint120::AcknowledgeResult::DISCARDED);
  EXPECT_EQ(pending.acknowledge_coordinator_state(id, std::vector<std::byte>(1)),
            PendingCheckpoint120::AcknowledgeResult::DISCARDED);
  pending.acknowledge_master_state("h", state_of("h"));
  EXPECT_TRUE(pending.master_states().empty());
}

TEST(PendingCheckpoint, AnOperatorCoordinatorWithoutStateCountsAndLeavesNoTrace) {
  using Result = PendingCheckpoint120::AcknowledgeResult;
  Pending120 world;
  const OperatorId with{{1}};
  const OperatorId without{{2}};
  PendingCheckpoint120 pending = world.make({{with, 1, 128}, {without, 1, 128}});
  EXPECT_EQ(pending.acknowledge_coordinator_state(with, std::vector<std::byte>(1)),
            Result::SUCCESS);
  EXPECT_EQ(pending.acknowledge_coordinator_state(without, std::nullopt), Result::SUCCESS);
  EXPECT_EQ(pending.acknowledge_coordinator_state(with, std::vector<std::byte>(2)),
            Result::DUPLICATE);
  EXPECT_EQ(pending.acknowledge_coordinator_state(without, std::vector<std::byte>(2)),
            Result::UNKNOWN);
  EXPECT_EQ(pending.acknowledge_coordinator_state(OperatorId{{3}}, std::nullopt), Result::UNKNOWN);
  EXPECT_EQ(pending.operator_states().at(with).coordinator_state->size(), 1U);
}

// Answers when it is told to.
class SlowCoordinator final : public OperatorCoordinatorCheckpointContext {
 public:
  explicit SlowCoordinator(OperatorId id) : id_(id) {}
  [[nodiscard]] OperatorId operator_id() const override { return id_; }
  [[nodiscard]] std::int32_t current_parallelism() const override { return 1; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return 128; }
  void checkpoint_coordinator(CheckpointId, base::InplaceFunction<void(Snapshot)> done) override {
    answer = std::move(done);
  }
  void abort_current_triggering() override { ++abandoned; }
  void notify_checkpoint_complete(CheckpointId) override {}
  void notify_checkpoint_aborted(CheckpointId) override {}
  void reset_to_checkpoint(CheckpointId, const std::vector<std::byte>*) override {}

  base::InplaceFunction<void(Snapshot)> answer;
  int abandoned = 0;

 private:
  OperatorId id_;
};

TEST(TriggerPhase120, AFailingOperatorCoordinatorEndsItWithoutTheOthers) {
  Silent silent;
  SlowCoordinator first{OperatorId{{1}}};
  SlowCoordinator second{OperatorId{{2}}};
  SetupOptions120 options;
  options.configuration.job = JobId{1};
  CoordinatorSetup120 setup(options, silent, silent, {&first, &second});
  std::optional<CheckpointFailureReason> failure;
  setup.coordinator->trigger_checkpoint(
      false, [&failure](CheckpointResult result) { failure = result.error(); });
  setup.world.run_due();
  ASSERT_TRUE(setup.coordinator->is_triggering());
  second.answer(std::nullopt);
  setup.world.run_due();
  EXPECT_EQ(failure, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  EXPECT_FALSE(setup.coordinator->is_triggering());
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
  EXPECT_EQ(first.abandoned, 1);
  first.answer(std::vector<std::byte>(1));  // too late, and nobody minds
  setup.world.run_due();
  EXPECT_TRUE(setup.coordinator->pending_checkpoints().empty());
}

}  // namespace
}  // namespace tailrace::engine::test
