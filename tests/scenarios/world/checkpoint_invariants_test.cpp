// The watcher of every run: each invariant holds for what is right and stops what is wrong.
#include "scenarios/world/checkpoint_invariants.hpp"

#include <gtest/gtest.h>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

using base::Duration;
using base::InvariantViolation;
using base::Time;
using engine::CheckpointType;
using engine::JobStatus;

constexpr engine::JobId kJob{1};

Time at(std::int64_t ms) {
  return Time{} + Duration::millis(ms);
}

CheckpointRules rules() {
  CheckpointRules rules;
  rules.interval = Duration::millis(1000);
  rules.timeout = Duration::millis(500);
  rules.min_pause = Duration::millis(200);
  return rules;
}

CheckpointInvariants running(const CheckpointRules& rules) {
  CheckpointInvariants invariants(rules);
  invariants.on_job_submitted(kJob, at(0));
  invariants.on_job_status(kJob, JobStatus::RUNNING, at(0));
  return invariants;
}

TEST(CheckpointInvariants, AnIdThatIsUsedTwiceStopsTheRun) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_failed(kJob, 1, at(20));
  EXPECT_THROW(invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(30)),
               InvariantViolation);
}

TEST(CheckpointInvariants, ANewJobNumbersAfresh) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_triggered(kJob, 5, CheckpointType::SAVEPOINT, at(10));
  invariants.on_completed(kJob, 5, CheckpointType::SAVEPOINT, at(20));
  invariants.on_job_submitted({2}, at(30));
  invariants.on_restore({2}, 5, at(30));
  EXPECT_THROW(invariants.on_triggered({2}, 5, CheckpointType::CHECKPOINT, at(40)),
               InvariantViolation);
  EXPECT_NO_THROW(invariants.on_triggered({2}, 6, CheckpointType::CHECKPOINT, at(40)));
}

TEST(CheckpointInvariants, TooManyAtOnceStopTheRunUnlessForced) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  EXPECT_NO_THROW(invariants.on_triggered(kJob, 2, CheckpointType::SAVEPOINT, at(20)));
  invariants.on_completed(kJob, 1, CheckpointType::CHECKPOINT, at(30));
  // The savepoint is still there and counts.
  EXPECT_THROW(invariants.on_triggered(kJob, 3, CheckpointType::CHECKPOINT, at(40)),
               InvariantViolation);
}

TEST(CheckpointInvariants, SavepointsThatAreNotForcedCountLikeCheckpoints) {
  CheckpointRules unaligned = rules();
  unaligned.savepoints_forced = false;
  CheckpointInvariants invariants = running(unaligned);
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  EXPECT_THROW(invariants.on_triggered(kJob, 2, CheckpointType::SAVEPOINT, at(20)),
               InvariantViolation);
}

TEST(CheckpointInvariants, SilenceLongerThanIntervalTimeoutAndPauseStopsTheRun) {
  CheckpointInvariants invariants = running(rules());
  EXPECT_NO_THROW(invariants.check_liveness(at(1700)));
  EXPECT_THROW(invariants.check_liveness(at(1701)), InvariantViolation);
  // A trigger that failed before it had an id was tried all the same.
  invariants.on_failed(kJob, engine::kNoCheckpoint, at(1000));
  EXPECT_NO_THROW(invariants.check_liveness(at(2700)));
}

TEST(CheckpointInvariants, NothingIsDueWhileFilesAreDeleted) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_cleaning(at(100), true);
  invariants.on_cleaning(at(100), true);
  invariants.on_cleaning(at(200), false);
  EXPECT_NO_THROW(invariants.check_liveness(at(60'000)));
  invariants.on_cleaning(at(60'000), false);
  EXPECT_NO_THROW(invariants.check_liveness(at(61'700)));
  EXPECT_THROW(invariants.check_liveness(at(61'701)), InvariantViolation);
}

TEST(CheckpointInvariants, NothingIsDueWhileTheJobRestartsOrStops) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_job_status(kJob, JobStatus::RESTARTING, at(100));
  EXPECT_NO_THROW(invariants.check_liveness(at(60'000)));
  invariants.on_job_status(kJob, JobStatus::RUNNING, at(60'000));
  invariants.on_triggered(kJob, 1, CheckpointType::SYNC_SAVEPOINT, at(60'100));
  invariants.on_completed(kJob, 1, CheckpointType::SYNC_SAVEPOINT, at(60'200));
  EXPECT_NO_THROW(invariants.check_liveness(at(120'000)));
}

TEST(CheckpointInvariants, AStopThatFailsStartsTheClockAgain) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_triggered(kJob, 1, CheckpointType::SAVEPOINT_SUSPEND, at(100));
  invariants.on_failed(kJob, 1, at(200));
  EXPECT_THROW(invariants.check_liveness(at(1901)), InvariantViolation);
}

TEST(CheckpointInvariants, ARestartComesFromTheNewestStoredOne) {
  CheckpointInvariants invariants = running(rules());
  EXPECT_NO_THROW(invariants.on_restore(kJob, engine::kNoCheckpoint, at(5)));
  for (engine::CheckpointId id = 1; id <= 2; ++id) {
    invariants.on_triggered(kJob, id, CheckpointType::CHECKPOINT, at(id * 10));
    invariants.on_completed(kJob, id, CheckpointType::CHECKPOINT, at(id * 10 + 5));
  }
  EXPECT_THROW(invariants.on_restore(kJob, 1, at(50)), InvariantViolation);
  EXPECT_THROW(invariants.on_restore(kJob, engine::kNoCheckpoint, at(50)), InvariantViolation);
  EXPECT_NO_THROW(invariants.on_restore(kJob, 2, at(50)));
}

TEST(CheckpointInvariants, SavepointsOfTheLaterGenerationAreNotRestartedFrom) {
  CheckpointRules later = rules();
  later.savepoints_stored = false;
  CheckpointInvariants invariants = running(later);
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_completed(kJob, 1, CheckpointType::CHECKPOINT, at(20));
  invariants.on_triggered(kJob, 2, CheckpointType::SAVEPOINT, at(30));
  invariants.on_completed(kJob, 2, CheckpointType::SAVEPOINT, at(40));
  EXPECT_THROW(invariants.on_restore(kJob, 2, at(50)), InvariantViolation);
  EXPECT_NO_THROW(invariants.on_restore(kJob, 1, at(50)));
}

TEST(CheckpointInvariants, PreferringCheckpointsPassesOverSavepointsThatAreStored) {
  CheckpointRules preferring = rules();
  preferring.retained = 2;
  preferring.prefer_checkpoint_for_recovery = true;
  CheckpointInvariants invariants = running(preferring);
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_completed(kJob, 1, CheckpointType::CHECKPOINT, at(20));
  invariants.on_triggered(kJob, 2, CheckpointType::SAVEPOINT, at(30));
  invariants.on_completed(kJob, 2, CheckpointType::SAVEPOINT, at(40));
  EXPECT_NO_THROW(invariants.on_restore(kJob, 1, at(50)));
}

TEST(CheckpointInvariants, AfterALostJobManagerNothingOlderThanWhatWasStoredIsRestored) {
  CheckpointInvariants invariants = running(rules());
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_completed(kJob, 1, CheckpointType::CHECKPOINT, at(20));
  invariants.on_triggered(kJob, 2, CheckpointType::CHECKPOINT, at(30));
  invariants.on_job_manager_lost(at(40));
  CheckpointInvariants other = invariants;
  EXPECT_THROW(other.on_restore(kJob, engine::kNoCheckpoint, at(50)), InvariantViolation);
  EXPECT_NO_THROW(invariants.on_restore(kJob, 2, at(50)));  // stored, and nobody heard of it
  EXPECT_THROW(invariants.on_restore(kJob, 1, at(60)), InvariantViolation);
}

CheckpointRules stored_rules() {
  CheckpointRules stored = rules();
  stored.highly_available = true;
  return stored;
}

TEST(CheckpointInvariants, TheNextLeaderRestoresTheNewestEntryWhateverTheOneBeforeKnew) {
  CheckpointInvariants invariants = running(stored_rules());
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_completed(kJob, 1, CheckpointType::CHECKPOINT, at(20));
  invariants.on_entry_written(kJob, 1, false);
  invariants.on_triggered(kJob, 2, CheckpointType::CHECKPOINT, at(30));
  invariants.on_completed(kJob, 2, CheckpointType::CHECKPOINT, at(35));
  invariants.on_job_manager_lost(at(40));
  CheckpointInvariants written = invariants;
  EXPECT_THROW(invariants.on_restore(kJob, 2, at(50)), InvariantViolation);  // no entry
  EXPECT_NO_THROW(invariants.on_restore(kJob, 1, at(50)));
  written.on_entry_written(kJob, 2, false);
  EXPECT_THROW(written.on_restore(kJob, 1, at(50)), InvariantViolation);
  EXPECT_NO_THROW(written.on_restore(kJob, 2, at(50)));
  written.on_entry_removed(kJob, 2);
  EXPECT_NO_THROW(written.on_restore(kJob, 1, at(60)));
}

TEST(CheckpointInvariants, AnEntryThatCannotBeReadIsPassedOver) {
  CheckpointInvariants invariants = running(stored_rules());
  invariants.on_triggered(kJob, 1, CheckpointType::CHECKPOINT, at(10));
  invariants.on_entry_written(kJob, 2, false);
  invariants.on_entry_written(kJob, 1, false);  // by id, not by time
  EXPECT_THROW(invariants.on_restore(kJob, 1, at(50)), InvariantViolation);
  invariants.on_entry_read(kJob, 2, false);
  EXPECT_NO_THROW(invariants.on_restore(kJob, 1, at(50)));
  invariants.on_entry_read(kJob, 2, true);
  EXPECT_NO_THROW(invariants.on_restore(kJob, 2, at(50)));
}

}  // namespace
}  // namespace tailrace::scenarios
