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
            {{ExecutionAttemptId{1}, &vertex, 0, false}},
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

}  // namespace
}  // namespace tailrace::engine::test
