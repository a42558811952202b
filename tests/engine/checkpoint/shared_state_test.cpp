// Files that checkpoints share, through the coordinators and stores of both generations: who keeps
// them alive, and who deletes them.
#include <algorithm>

#include <gtest/gtest.h>

#include "engine/checkpoint/checkpoints.hpp"
#include "engine/checkpoint/metadata/metadata_reader.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_setup_120.hpp"

namespace tailrace::engine::test {
namespace {

using Names = std::vector<std::string>;

// Names of the deleted files of one kind since the last look, sorted.
class Deleted {
 public:
  void note(const std::string& event, const std::string& detail) {
    if (event == "discardShared") shared_.push_back(detail);
    if (event == "discardState") private_.push_back(detail);
  }
  Names take_shared() { return take(shared_); }
  Names take_private() { return take(private_); }

 private:
  static Names take(Names& from) {
    Names names = std::exchange(from, {});
    std::sort(names.begin(), names.end());
    return names;
  }
  Names shared_;
  Names private_;
};

struct Job110 : CoordinatorSetup110 {
  explicit Job110(std::int32_t retained = 1) : CoordinatorSetup110(options(retained)) {
    journal.note = [this](const std::string& event, CheckpointId, std::int64_t,
                          const std::string& detail, bool) { deleted.note(event, detail); };
  }
  static SetupOptions options(std::int32_t retained) {
    SetupOptions options;
    options.sources = 1;
    options.retained = retained;
    options.configuration.job = JobId{1};
    options.configuration.max_concurrent = 10;
    return options;
  }
  void trigger() {
    coordinator->trigger_checkpoint(false, {});
    world.run_due();
  }
  AcknowledgeOutcome acknowledge(CheckpointId id, const std::vector<SharedFile>& files) {
    auto snapshot = std::make_shared<TaskStateSnapshot>();
    add_shared_state(*snapshot, vertices.front()->operator_ids().front(), 0, id, files);
    AcknowledgeOutcome answer;
    coordinator->receive_acknowledge_message({job, attempt_of(0), id, {}, snapshot},
                                             [&answer](AcknowledgeOutcome o) { answer = o; });
    world.run_due();
    return answer;
  }
  void complete(CheckpointId id, const std::vector<SharedFile>& files) {
    trigger();
    EXPECT_TRUE(acknowledge(id, files).known);
    ASSERT_FALSE(store.checkpoints().empty());
    EXPECT_EQ(store.checkpoints().back()->id, id);
  }
  Deleted deleted;
};

TEST(SharedState110, AFileGoesWithTheLastCheckpointThatUsesIt) {
  Job110 job;
  job.complete(1, {{"a", false}, {"b", false}});
  job.complete(2, {{"b", true}, {"c", false}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
  EXPECT_EQ(job.deleted.take_private(), Names{"meta-backend-0-1"});
  job.complete(3, {{"c", true}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"b"});
  job.coordinator->shutdown(JobStatus::FINISHED);
  EXPECT_EQ(job.deleted.take_shared(), Names{"c"});
}

TEST(SharedState110, TheMetadataNamesTheFilesAndNoPlaceholders) {
  Job110 job;
  job.complete(1, {{"a", false}});
  job.complete(2, {{"a", true}});
  const auto read = MetadataV2Serializer::deserialize(job.storage.written);
  ASSERT_TRUE(read.ok());
  const OperatorState& state = read.value().operator_states.begin()->second;
  const auto& content = state.subtasks.at(0).managed_keyed.front()->as_incremental()->content();
  EXPECT_EQ(content.backend_id, "backend-0");
  EXPECT_EQ(*content.shared_state.at(0).handle, StreamStateHandle(FileStateHandle{"shared/a", 10}));
}

TEST(SharedState110, AnAbortedCheckpointDeletesWhatItHasUploaded) {
  Job110 job;
  job.complete(1, {{"a", false}});
  job.trigger();
  job.coordinator->receive_decline_message(
      {job.job, job.attempt_of(0), 2, CheckpointFailureReason::CHECKPOINT_DECLINED});
  job.acknowledge(2, {{"a", true}, {"b", false}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"b"});
  EXPECT_EQ(job.deleted.take_private(), Names{"meta-backend-0-2"});
}

TEST(SharedState110, TwoUploadsOfOneFileLeaveTheFirst) {
  Job110 job(2);
  // Checkpoint 2 was triggered before the backend heard that 1 is complete: it uploads anew. Its
  // copy lies elsewhere, under the same name.
  job.trigger();
  job.trigger();
  job.acknowledge(1, {{"000001.sst", false}});
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  add_shared_state(*snapshot, job.vertices.front()->operator_ids().front(), 0, 2,
                   {{"000001.sst", false}});
  auto& handles = snapshot->operators.begin()->second.managed_keyed;
  auto content = handles.front()->as_incremental()->content();
  content.shared_state.front().handle =
      std::make_shared<const StreamStateHandle>(FileStateHandle{"shared/copy", 10});
  handles.front() = std::make_shared<const IncrementalRemoteKeyedStateHandle>(content);
  job.coordinator->receive_acknowledge_message({job.job, job.attempt_of(0), 2, {}, snapshot});
  job.world.run_due();
  EXPECT_EQ(job.deleted.take_shared(), Names{"copy"});
  job.coordinator->shutdown(JobStatus::FINISHED);
  EXPECT_EQ(job.deleted.take_shared(), Names{"000001.sst"});
}

TEST(SharedState110, ARestoreCountsAnew) {
  Job110 job(2);
  job.complete(1, {{"a", false}, {"b", false}});
  job.complete(2, {{"b", true}});
  bool restored = false;
  job.coordinator->restore_latest_checkpointed_state(
      {}, [&restored](CompletedCheckpointPtr checkpoint) { restored = checkpoint != nullptr; });
  EXPECT_TRUE(restored);
  job.complete(3, {{"b", true}, {"c", false}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
  job.complete(4, {{"c", true}});
  EXPECT_TRUE(job.deleted.take_shared().empty());  // 3 still uses b
  job.complete(5, {{"c", true}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"b"});
}

TEST(SharedState110, ARestoredSavepointIsRegistered) {
  Job110 job;
  job.complete(1, {{"a", false}});
  const std::vector<std::byte> metadata = job.storage.written;
  Job110 other;
  other.storage.adopt(job.storage);
  const Checkpoints::OperatorToVertex operators = {
      {job.vertices.front()->operator_ids().front(), {32768, false}}};
  auto loaded = Checkpoints::load_and_validate_checkpoint(other.job, operators, metadata,
                                                          job.storage.directory_of(1), false);
  ASSERT_TRUE(loaded.ok());
  other.coordinator->restore_savepoint(std::move(loaded).value(), ClaimMode::LEGACY, false, {});
  // The backend goes on where the savepoint ends.
  other.complete(2, {{"a", true}, {"b", false}});
  EXPECT_TRUE(other.deleted.take_shared().empty());
  other.complete(3, {{"b", true}});
  // Savepoints are not deleted when they are subsumed, and keep what they use.
  EXPECT_TRUE(other.deleted.take_shared().empty());
}

TEST(SharedState110, WithoutItsFileACheckpointIsNeverCompleted) {
  Job110 job;
  job.trigger();
  const AcknowledgeOutcome outcome = job.acknowledge(1, {{"a", false}, {"?", true}, {"b", false}});
  EXPECT_TRUE(outcome.registration_failed);
  EXPECT_FALSE(job.coordinator->is_finalising());
  EXPECT_EQ(job.coordinator->pending_checkpoints().at(1)->missing(), 0);
  EXPECT_TRUE(job.store.checkpoints().empty());
  job.coordinator->abort_pending_checkpoints(CheckpointFailureReason::JOB_FAILOVER_REGION);
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});  // b is leaked, as in Flink
}

TEST(SharedState110, AFailingStoreGivesUpWhatWasRegistered) {
  Job110 job;
  job.store.failing_calls.insert(1);
  job.trigger();
  EXPECT_TRUE(job.acknowledge(1, {{"a", false}}).finalize_failed);
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
  EXPECT_EQ(job.deleted.take_private(), Names{"meta-backend-0-1"});
}

// ---- 1.20

class NoListener final : public NotingVertex120::Listener,
                         public NotingFailureManager120::Listener {
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

struct Listening {
  NoListener listener;
};
struct Job120 : private Listening, CoordinatorSetup120 {
  explicit Job120(CheckpointRetentionPolicy retention =
                      CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION)
      : CoordinatorSetup120(options(retention), listener, listener) {
    journal.note = [this](const std::string& event, CheckpointId, std::int64_t,
                          const std::string& detail, bool) { deleted.note(event, detail); };
  }
  static SetupOptions120 options(CheckpointRetentionPolicy retention) {
    SetupOptions120 options;
    options.sources = 1;
    options.configuration.job = JobId{1};
    options.configuration.max_concurrent = 10;
    options.configuration.retention = retention;
    return options;
  }
  void trigger() {
    coordinator->trigger_checkpoint(false, {});
    world.run_due();
  }
  AcknowledgeOutcome acknowledge(CheckpointId id, const std::vector<SharedFile>& files) {
    auto snapshot = std::make_shared<TaskStateSnapshot>();
    add_shared_state(*snapshot, vertices.front()->operator_ids().front(), 0, id, files);
    AcknowledgeOutcome answer;
    coordinator->receive_acknowledge_message({JobId{1}, attempt_of(0), id, {}, snapshot},
                                             [&answer](AcknowledgeOutcome o) { answer = o; });
    world.run_due();
    return answer;
  }
  void complete(CheckpointId id, const std::vector<SharedFile>& files) {
    trigger();
    EXPECT_TRUE(acknowledge(id, files).known);
    ASSERT_FALSE(store.checkpoints().empty());
    EXPECT_EQ(store.checkpoints().back()->id, id);
  }
  void restore(const Job120& from, ClaimMode mode) {
    const Checkpoints::OperatorToVertex operators = {
        {vertices.front()->operator_ids().front(), {32768, false}}};
    auto loaded = Checkpoints::load_and_validate_checkpoint(
        JobId{1}, operators, from.storage.written, from.storage.directory_of(1), false);
    ASSERT_TRUE(loaded.ok());
    storage.adopt(from.storage);
    coordinator->restore_savepoint(std::move(loaded).value(), mode, false, {});
  }
  Deleted deleted;
};

TEST(SharedState120, AFileGoesOnceNoCheckpointFromTheLowestOnUsesIt) {
  Job120 job;
  job.complete(1, {{"a", false}, {"b", false}});
  job.complete(2, {{"b", true}, {"c", false}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
  EXPECT_EQ(job.deleted.take_private(), Names{"meta-backend-0-1"});
  job.complete(3, {{"c", true}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"b"});
}

TEST(SharedState120, TheMetadataNamesTheFilesAndNoPlaceholders) {
  Job120 job;
  job.complete(1, {{"a", false}});
  job.complete(2, {{"a", true}});
  const auto read = load_checkpoint_metadata(job.storage.written);
  ASSERT_TRUE(read.ok());
  const OperatorState& state = read.value().operator_states.begin()->second;
  const auto& content = state.subtasks.at(0).managed_keyed.front()->as_incremental()->content();
  EXPECT_EQ(*content.shared_state.at(0).handle, StreamStateHandle(FileStateHandle{"shared/a", 10}));
  EXPECT_EQ(content.state_handle_id, "handle-backend-0-2");
  EXPECT_EQ(read.value().properties, job.store.checkpoints().back()->properties);
}

TEST(SharedState120, WhatAnAbortedCheckpointUploadedLivesUntilTheNextCompletion) {
  Job120 job;
  job.trigger();
  job.coordinator->receive_decline_message(
      {JobId{1}, job.attempt_of(0), 1, CheckpointFailureReason::CHECKPOINT_DECLINED});
  EXPECT_FALSE(job.acknowledge(1, {{"a", false}}).known);
  EXPECT_EQ(job.deleted.take_private(), Names{"meta-backend-0-1"});
  EXPECT_TRUE(job.deleted.take_shared().empty());
  job.complete(2, {{"b", false}});
  EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
}

TEST(SharedState120, AnUnknownFileMakesTheAcknowledgementCountForNothing) {
  Job120 job;
  job.trigger();
  const AcknowledgeOutcome outcome = job.acknowledge(1, {{"a", false}, {"?", true}});
  EXPECT_TRUE(outcome.registration_failed);
  EXPECT_EQ(job.coordinator->pending_checkpoints().at(1)->acknowledged(), 0);
  EXPECT_TRUE(job.deleted.take_private().empty());
  // The task may still acknowledge with what is there.
  EXPECT_TRUE(job.acknowledge(1, {{"b", false}}).known);
  EXPECT_EQ(job.store.checkpoints().back()->id, 1);
}

TEST(SharedState120, ASavepointOwnsItsFiles) {
  Job120 job;
  job.coordinator->trigger_savepoint("savepoints", SavepointFormatType::NATIVE, {});
  job.world.run_due();
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  add_shared_state(*snapshot, job.vertices.front()->operator_ids().front(), 0, 1, {{"a", false}});
  job.coordinator->receive_acknowledge_message({JobId{1}, job.attempt_of(0), 1, {}, snapshot});
  job.world.run_due();
  // Nothing was registered: a checkpoint that says "the one you know" is in error.
  job.trigger();
  EXPECT_TRUE(job.acknowledge(2, {{"a", true}}).registration_failed);
  EXPECT_TRUE(job.deleted.take_shared().empty());
}

TEST(SharedState120, ASavepointCannotHoldAPlaceholder) {
  Job120 job;
  job.complete(1, {{"a", false}});
  job.coordinator->trigger_savepoint("savepoints", SavepointFormatType::NATIVE, {});
  job.world.run_due();
  EXPECT_TRUE(job.acknowledge(2, {{"a", true}}).finalize_failed);
  EXPECT_TRUE(job.coordinator->pending_checkpoints().empty());
  EXPECT_EQ(job.store.checkpoints().back()->id, 1);
  EXPECT_TRUE(job.deleted.take_shared().empty());
}

TEST(SharedState120, AnAbortedSavepointDeletesItsFiles) {
  SetupOptions120 options = Job120::options({});
  options.sources = 2;
  NoListener listener;
  CoordinatorSetup120 two(options, listener, listener);
  Deleted deleted;
  two.journal.note = [&deleted](const std::string& event, CheckpointId, std::int64_t,
                                const std::string& detail, bool) { deleted.note(event, detail); };
  two.coordinator->trigger_savepoint("savepoints", SavepointFormatType::NATIVE, {});
  two.world.run_due();
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  add_shared_state(*snapshot, two.vertices.front()->operator_ids().front(), 0, 1, {{"a", false}});
  two.coordinator->receive_acknowledge_message({JobId{1}, two.attempt_of(0), 1, {}, snapshot});
  two.coordinator->abort_pending_checkpoints(CheckpointFailureReason::JOB_FAILOVER_REGION);
  two.world.run_due();
  EXPECT_EQ(deleted.take_shared(), Names{"a"});
}

TEST(SharedState120, ClaimedFilesAreTheJobsAndOthersAreNot) {
  Job120 first;
  first.complete(1, {{"a", false}});
  for (const ClaimMode mode : {ClaimMode::CLAIM, ClaimMode::NO_CLAIM, ClaimMode::LEGACY}) {
    Job120 job;
    job.restore(first, mode);
    job.complete(2, {{"a", true}, {"b", false}});
    EXPECT_TRUE(job.deleted.take_shared().empty());
    job.complete(3, {{"c", false}});
    EXPECT_EQ(job.deleted.take_shared(), mode == ClaimMode::CLAIM ? (Names{"a", "b"}) : Names{"b"});
  }
}

TEST(SharedState120, AClaimedSavepointStaysWhileItsFilesAreUsed) {
  Job120 first;
  first.coordinator->trigger_savepoint("savepoints", SavepointFormatType::NATIVE, {});
  first.world.run_due();
  EXPECT_TRUE(first.acknowledge(1, {{"a", false}}).known);
  Job120 second;
  second.complete(1, {{"a", false}});
  for (const Job120* from : {&first, &second}) {
    Job120 job;
    job.restore(*from, ClaimMode::CLAIM);
    job.deleted.take_private();
    // A savepoint's files lie in its own directory, as its metadata says: the directory goes last.
    job.complete(2, {{"a", true}});
    EXPECT_EQ(job.deleted.take_private(), from == &first ? Names{} : Names{"meta-backend-0-1"});
    job.complete(3, {{"c", false}});
    EXPECT_EQ(job.deleted.take_shared(), Names{"a"});
  }
}

TEST(SharedState120, TheEndOfTheJobDecidesWhatTheStoreDeletes) {
  for (const JobStatus status :
       {JobStatus::FINISHED, JobStatus::CANCELED, JobStatus::FAILED, JobStatus::SUSPENDED}) {
    SCOPED_TRACE(to_string(status));
    Job120 discarding;
    discarding.complete(1, {{"a", false}});
    discarding.coordinator->shutdown(status);
    discarding.store.shutdown(status);
    EXPECT_EQ(discarding.deleted.take_private(), Names{"meta-backend-0-1"});
    // After a suspension shared files may still be needed.
    EXPECT_EQ(discarding.deleted.take_shared(),
              status == JobStatus::SUSPENDED ? Names{} : Names{"a"});
    EXPECT_TRUE(discarding.store.checkpoints().empty());

    Job120 retaining(CheckpointRetentionPolicy::RETAIN_ON_CANCELLATION);
    retaining.complete(1, {{"a", false}});
    retaining.coordinator->shutdown(status);
    retaining.store.shutdown(status);
    const bool kept = status != JobStatus::FINISHED;
    EXPECT_EQ(retaining.deleted.take_private(), kept ? Names{} : Names{"meta-backend-0-1"});
    EXPECT_EQ(retaining.deleted.take_shared(), kept ? Names{} : Names{"a"});
  }
}

TEST(SharedState120, NothingIsRegisteredAfterTheStoreWasShutDown) {
  Job120 job;
  job.trigger();
  job.store.shutdown(JobStatus::FINISHED);
  EXPECT_TRUE(job.acknowledge(1, {{"a", false}}).registration_failed);
}

}  // namespace
}  // namespace tailrace::engine::test
