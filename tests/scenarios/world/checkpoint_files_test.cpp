// Each way in which a file may stay in the checkpoint store, and what stops the run.
#include "scenarios/world/checkpoint_files.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

using base::InvariantViolation;
using engine::CheckpointRetentionPolicy;
using engine::CheckpointType;
using engine::JobStatus;

constexpr engine::JobId kFilesJob{1};
using Files = std::map<std::string, int>;

Files files_of(engine::CheckpointId id, engine::JobId job = kFilesJob) {
  const std::string directory =
      "checkpoints/job-" + std::to_string(job.value) + "/chk-" + std::to_string(id);
  return {{directory + "/_metadata", 0}, {directory + "/0-0", 0}};
}
const Files kSavepointFiles = {{"savepoints/savepoint-1/_metadata", 0}};

void trigger(CheckpointFiles& files, engine::CheckpointId id) {
  files.on_triggered(kFilesJob, id, CheckpointType::CHECKPOINT);
}
void complete(CheckpointFiles& files, engine::CheckpointId id) {
  trigger(files, id);
  files.on_completed(kFilesJob, id);
}
void expect_allowed(const CheckpointFiles& files, const Files& left) {
  EXPECT_NO_THROW(files.check(left));
}
void expect_broken(const CheckpointFiles& files, const Files& left) {
  EXPECT_THROW(files.check(left), InvariantViolation);
}

TEST(CheckpointFiles, APendingCheckpointMayWriteAndAFailedOneLeavesNothing) {
  CheckpointFiles files({});
  trigger(files, 1);
  expect_allowed(files, files_of(1));
  files.on_failed(kFilesJob, 1);
  expect_broken(files, files_of(1));
  expect_allowed(files, {});
}

TEST(CheckpointFiles, WhatIsBeingDeletedMayBeThereUntilItIsGone) {
  CheckpointFiles files({});
  complete(files, 1);
  complete(files, 2);
  files.on_cleaning(kFilesJob, 1, true);
  expect_allowed(files, files_of(1));
  files.on_cleaning(kFilesJob, 1, false);
  expect_broken(files, files_of(1));
  expect_allowed(files, files_of(2));
}

TEST(CheckpointFiles, WhatADeadLeaderWasDeletingStays) {
  CheckpointFiles files({});
  complete(files, 1);
  complete(files, 2);
  complete(files, 3);
  files.on_cleaning(kFilesJob, 1, true);
  files.on_cleaning(kFilesJob, 1, false);
  files.on_cleaning(kFilesJob, 2, true);
  files.on_job_manager_lost();
  expect_allowed(files, files_of(2));
}

TEST(CheckpointFiles, FilesOfNobodyStopTheRun) {
  CheckpointFiles files({});
  complete(files, 1);
  expect_allowed(files, files_of(1));
  expect_broken(files, files_of(2));
  expect_broken(files, files_of(1, {2}));
  expect_broken(files, {{"checkpoints/stray", 0}});
  expect_broken(files, kSavepointFiles);
}

TEST(CheckpointFiles, ASubsumedCheckpointLeavesNothing) {
  CheckpointFiles files({.retained = 2});
  complete(files, 1);
  complete(files, 2);
  expect_allowed(files, files_of(1));
  complete(files, 4);
  expect_broken(files, files_of(1));
  expect_allowed(files, files_of(2));
  expect_allowed(files, files_of(4));
}

TEST(CheckpointFiles, AFailedOneInBetweenTakesNoPlace) {
  CheckpointFiles files({.retained = 1});
  complete(files, 1);
  trigger(files, 2);
  files.on_failed(kFilesJob, 2);
  expect_allowed(files, files_of(1));
}

TEST(CheckpointFiles, ASavepointIsItsUsers) {
  CheckpointFiles files({});
  files.on_triggered(kFilesJob, 1, CheckpointType::SAVEPOINT);
  expect_allowed(files, kSavepointFiles);
  CheckpointFiles failed = files;
  failed.on_failed(kFilesJob, 1);
  expect_broken(failed, kSavepointFiles);
  files.on_completed(kFilesJob, 1);
  complete(files, 2);
  files.on_job_status(kFilesJob, JobStatus::FINISHED);
  expect_allowed(files, kSavepointFiles);
  Files two = kSavepointFiles;
  two.emplace("savepoints/savepoint-2/0-0", 0);
  expect_broken(files, two);
}

TEST(CheckpointFiles, WhatAJobLeavesIsWhatItsPropertiesKeep) {
  const auto left = [](CheckpointRetentionPolicy retention, JobStatus status) {
    CheckpointFiles files({.retained = 1, .highly_available = false, .retention = retention});
    complete(files, 1);
    complete(files, 2);
    trigger(files, 3);
    files.on_job_status(kFilesJob, JobStatus::RUNNING);
    EXPECT_NO_THROW(files.check(files_of(2)));
    files.on_job_status(kFilesJob, status);
    EXPECT_THROW(files.check(files_of(1)), InvariantViolation);
    EXPECT_THROW(files.check(files_of(3)), InvariantViolation);
    try {
      files.check(files_of(2));
    } catch (const InvariantViolation&) {
      return false;
    }
    return true;
  };
  using Policy = CheckpointRetentionPolicy;
  EXPECT_FALSE(left(Policy::NEVER_RETAIN_AFTER_TERMINATION, JobStatus::FAILED));
  EXPECT_TRUE(left(Policy::RETAIN_ON_FAILURE, JobStatus::FAILED));
  EXPECT_FALSE(left(Policy::RETAIN_ON_FAILURE, JobStatus::CANCELED));
  EXPECT_TRUE(left(Policy::RETAIN_ON_CANCELLATION, JobStatus::CANCELED));
  EXPECT_FALSE(left(Policy::RETAIN_ON_CANCELLATION, JobStatus::FINISHED));
}

TEST(CheckpointFiles, AHighlyAvailableStoreNeedsAnEntry) {
  CheckpointFiles files({.retained = 1, .highly_available = true});
  complete(files, 1);
  expect_broken(files, files_of(1));
  files.on_entry_written(kFilesJob, 1);
  expect_allowed(files, files_of(1));
  complete(files, 2);
  files.on_entry_written(kFilesJob, 2);
  expect_allowed(files, files_of(1));  // its entry is still there
  files.on_entry_removed(kFilesJob, 1);
  expect_broken(files, files_of(1));
}

// a new leader knows the entries alone.
TEST(CheckpointFiles, ADeadLeaderLeavesWhatHeAloneKnew) {
  CheckpointFiles files({.retained = 1, .highly_available = true});
  complete(files, 1);
  files.on_entry_written(kFilesJob, 1);
  complete(files, 2);
  files.on_entry_written(kFilesJob, 2);
  files.on_entry_removed(kFilesJob, 1);
  complete(files, 3);
  trigger(files, 4);
  trigger(files, 5);
  files.on_failed(kFilesJob, 5);
  files.on_job_manager_lost();
  expect_allowed(files, files_of(1));
  expect_allowed(files, files_of(2));
  expect_allowed(files, files_of(3));
  expect_allowed(files, files_of(4));
  expect_broken(files, files_of(5));
  // What has an entry is the next leader's business.
  complete(files, 6);
  files.on_entry_written(kFilesJob, 6);
  files.on_entry_removed(kFilesJob, 2);
  expect_broken(files, files_of(2));
  expect_allowed(files, files_of(4));
}

TEST(CheckpointFiles, AJobThatDiesWithItsJobManagerLeavesEverything) {
  CheckpointFiles files({.retained = 1});
  complete(files, 1);
  trigger(files, 2);
  files.on_job_manager_lost();
  expect_allowed(files, files_of(1));
  expect_allowed(files, files_of(2));
}

TEST(CheckpointFiles, ALeaderThatDiesBehindItsJobsEndMayLeaveWhatItWasToDelete) {
  CheckpointFiles files({.retained = 1, .highly_available = true});
  complete(files, 1);
  files.on_entry_written(kFilesJob, 1);
  files.on_job_status(kFilesJob, JobStatus::FINISHED);
  expect_broken(files, files_of(1));
  files.on_job_manager_lost();
  expect_allowed(files, files_of(1));
}

}  // namespace
}  // namespace tailrace::scenarios
