// The scheduler in a hand-written world. Row ids are of spec rescale.md 10.7 and 10.8.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/rescale/rescale_by_savepoint.hpp"
#include "tests/engine/scheduling/hand_written_world.hpp"

namespace tailrace::engine {
namespace {

using namespace base::literals;

CompletedCheckpointPtr checkpoint(CheckpointId id) {
  auto result = std::make_shared<CompletedCheckpoint>();
  result->id = id;
  result->location.directory = "savepoints/sp-" + std::to_string(id);
  return result;
}

TEST(Scheduler, DeploysSixtyFourSubtasksOverSixtyFourTaskManagersInTheirOrder) {
  Cluster cluster(64);
  const JobId job = cluster.submit(Cluster::job(64, 64, PartitionerKind::kHash));
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
  EXPECT_EQ(cluster.manager->slot_pool().free_slots(), 0);
  for (std::int32_t i = 0; i < 64; ++i) {
    FakeTaskExecutor& executor = *cluster.executors[static_cast<std::size_t>(i)];
    ASSERT_EQ(executor.tasks.size(), 2U);  // one slot holds subtask i of both vertices
    for (const auto& [attempt, task] : executor.tasks) {
      EXPECT_EQ(task->subtask, i);
      EXPECT_EQ(task->attempt_number, 0);
      if (task->vertex == 0) {
        ASSERT_EQ(task->outputs.size(), 1U);
        EXPECT_EQ(task->outputs[0].subpartitions, 64);
        EXPECT_EQ(task->outputs[0].id.producer, attempt);
        continue;
      }
      ASSERT_EQ(task->gates.size(), 1U);
      ASSERT_EQ(task->gates[0].channels.size(), 64U);
      for (std::int32_t c = 0; c < 64; ++c) {
        const auto& channel = task->gates[0].channels[static_cast<std::size_t>(c)];
        EXPECT_EQ(channel.partition.partition, c);
        EXPECT_EQ(channel.subpartition, i);
        EXPECT_EQ(channel.producer, Cluster::process(static_cast<std::size_t>(c)));
        EXPECT_EQ(channel.partition.producer, cluster.vertex(job, 0, c).execution().id);
      }
    }
  }
}

TEST(Scheduler, RestartsTheWholeRegionAfterTheDelayFromTheLatestCheckpoint) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.checkpointing.last->latest = checkpoint(7);
  cluster.checkpointing.log.clear();
  const Time failed = cluster.world.now();
  cluster.fail(job, 1, 0);
  cluster.world.run_for(500_ms);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RESTARTING);
  EXPECT_EQ(cluster.vertex(job, 0, 1).state(), ExecutionState::CANCELED);
  cluster.world.run_for(600_ms);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.vertex(job, 0, 1).attempt_number(), 1);
  // SC-4: running again, then pending checkpoints are aborted, then the restore.
  EXPECT_EQ(cluster.checkpointing.log,
            (std::vector<std::string>{"status RESTARTING", "status RUNNING", "abort", "restore"}));
  ASSERT_EQ(cluster.observer.restores.size(), 1U);
  EXPECT_EQ(cluster.observer.restores[0].second, 7);
  EXPECT_EQ(cluster.observer.restores[0].first, failed + 1_ms + 1_s);
}

TEST(Scheduler, TheDelayRunsInParallelWithCancelling) {  // SC-9
  for (const auto& [cancel, expected] : {std::pair{400_ms, 1_s}, std::pair{4_s, 4_s + 2_ms}}) {
    Cluster cluster(2);
    const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
    for (auto& executor : cluster.executors) executor->cancel_takes = cancel;
    const Time noticed = cluster.world.now() + 1_ms;
    cluster.fail(job, 0, 0);
    cluster.world.run_for(10_s);
    ASSERT_EQ(cluster.observer.restores.size(), 1U);
    EXPECT_EQ((cluster.observer.restores[0].first - noticed).ns, expected.ns);
  }
}

TEST(Scheduler, RegionsRestartAloneAndTheJobRunsWhenTheLastHasStopped) {  // SC-1, SC-2
  Cluster cluster(3);
  const JobId job = cluster.submit(Cluster::job(3, 3, PartitionerKind::kForward));
  cluster.fail(job, 0, 0);
  cluster.world.run_for(300_ms);
  cluster.fail(job, 1, 2);
  cluster.world.run_for(750_ms);
  // The first region is back, the second waits.
  EXPECT_EQ(cluster.vertex(job, 0, 0).state(), ExecutionState::RUNNING);
  EXPECT_EQ(cluster.vertex(job, 0, 0).attempt_number(), 1);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RESTARTING);
  cluster.world.run_for(300_ms);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.vertex(job, 1, 1).attempt_number(), 0);
  EXPECT_EQ(cluster.executors[1]->cancel_calls, 0);
}

TEST(Scheduler, ALaterFailureMakesAnEarlierRestartVoid) {  // SC-3, SC-7
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kForward));
  cluster.fail(job, 0, 0);
  cluster.world.run_for(500_ms);
  cluster.manager->find_scheduler(job)->handle_global_failure("global");
  cluster.world.run_for(600_ms);  // the first delay is over, the second is not
  EXPECT_EQ(cluster.deployments(), 4U);
  cluster.world.run_for(500_ms);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.deployments(), 8U);  // every vertex exactly twice in all
}

TEST(Scheduler, ExhaustedAttemptsFailTheJob) {  // RS-1
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  submission.restart.fixed_delay_attempts = 1;
  const JobId job = cluster.submit(std::move(submission));
  cluster.fail(job, 0, 0);
  cluster.world.run_for(2_s);
  ASSERT_TRUE(cluster.all_running(job));
  cluster.fail(job, 0, 1);
  cluster.world.run_for(2_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FAILED);
  EXPECT_EQ(cluster.manager->slot_pool().free_slots(), 2);
  ASSERT_EQ(cluster.observer.failovers.size(), 2U);
  EXPECT_TRUE(cluster.observer.failovers[0].second);
  EXPECT_FALSE(cluster.observer.failovers[1].second);
  EXPECT_EQ(cluster.checkpointing.log.back(), "shutdown");
}

TEST(Scheduler, ATaskManagerIsLostWhenItsHeartbeatsStop) {  // S-6.26 to S-6.28
  ClusterConfig config;
  config.heartbeat_interval = 1_s;
  config.heartbeat_timeout = 5_s;
  Cluster cluster(3, config);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.world.run_until(Time{} + 3_s + 500_ms);
  cluster.world.kill(Cluster::process(0));
  cluster.world.run_until(Time{} + 20_s);
  ASSERT_EQ(cluster.observer.lost.size(), 1U);
  EXPECT_EQ(cluster.observer.lost[0].second, Cluster::process(0));
  // Its last answer arrived two latencies after the third second.
  EXPECT_EQ(cluster.observer.lost[0].first, Time{} + 8_s + 2_ms);
  EXPECT_EQ(cluster.observer.failovers.size(), 1U);  // one failure for the whole region
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.vertex(job, 0, 0).execution().slot->task_manager.process, Cluster::process(1));
  EXPECT_EQ(cluster.vertex(job, 0, 1).execution().slot->task_manager.process, Cluster::process(2));
}

// Flink 1.20 FineGrainedSlotManager: it looks at changed requirements after a delay, once for all that have
// changed until then. A restart has declared its slots before.
TEST(Scheduler, ANewJobWaitsUntilTheSlotManagerLooks) {
  ClusterConfig config;
  config.requirement_check_delay = 50_ms;
  Cluster cluster(2, config);
  const JobId job = cluster.submit(Cluster::job(1, 1, PartitionerKind::kHash));  // 10 ms pass
  EXPECT_EQ(cluster.vertex(job, 0, 0).state(), ExecutionState::SCHEDULED);
  const JobId second = cluster.submit(Cluster::job(1, 1, PartitionerKind::kHash));
  cluster.world.run_until(Time{} + 49_ms);
  EXPECT_EQ(cluster.vertex(job, 0, 0).state(), ExecutionState::SCHEDULED);
  cluster.world.run_until(Time{} + 60_ms);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_TRUE(cluster.all_running(second));

  cluster.fail(job, 0, 0);
  cluster.world.run_for(1_s + 10_ms);  // its delay, and calls
  EXPECT_TRUE(cluster.all_running(job));
}

TEST(Scheduler, UnansweredCancelCallsEndAfterFourAskTimeouts) {  // S-6.18, S-6.28b
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  const JobId job = cluster.submit(std::move(submission));
  cluster.executors[1]->answers_cancel = false;
  const Time noticed = cluster.world.now() + 1_ms;
  cluster.fail(job, 0, 0);
  cluster.world.run_until(noticed + 40_s - 1_ns);
  EXPECT_EQ(cluster.vertex(job, 0, 1).state(), ExecutionState::CANCELING);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RESTARTING);
  cluster.world.run_until(noticed + 40_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
  EXPECT_EQ(cluster.executors[1]->cancel_calls, 8);  // four for each of its two tasks
}

TEST(Scheduler, ADeploymentThatIsNotAnsweredFailsAfterTheAskTimeout) {
  Cluster cluster(2);
  cluster.world.run_for(5_ms);
  cluster.world.kill(Cluster::process(1));
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.world.run_for(9_s);
  EXPECT_EQ(cluster.observer.failovers.size(), 0U);
  cluster.world.run_for(2_s);
  ASSERT_EQ(cluster.observer.failovers.size(), 1U);
  EXPECT_NE(cluster.observer.failovers[0].first.find("not responding"), std::string::npos);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RESTARTING);
}

TEST(Scheduler, MissingSlotsAreWaitedForAndThenFailTheJob) {  // SC-8
  Cluster cluster(1);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  submission.restart.kind = RestartStrategyConfig::Kind::kNone;
  const JobId job = cluster.submit(submission);
  cluster.world.run_for(200_s);
  EXPECT_EQ(cluster.deployments(), 0U);  // all or nothing
  cluster.world.run_for(100_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FAILED);
  EXPECT_NE(cluster.observer.failovers[0].first.find("NoResourceAvailable"), std::string::npos);

  const JobId second = cluster.submit(submission);
  cluster.world.run_for(10_s);
  cluster.add_task_manager(1);
  cluster.world.run_for(10_ms);
  EXPECT_TRUE(cluster.all_running(second));
}

TEST(Scheduler, CancellingWhileARestartWaitsDeploysNothing) {  // SC-6
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  for (auto& executor : cluster.executors) executor->cancel_takes = 3_s;
  cluster.fail(job, 0, 0);
  cluster.world.run_for(500_ms);
  cluster.manager->cancel_job(job);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::CANCELLING);
  cluster.world.run_for(10_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::CANCELED);
  EXPECT_EQ(cluster.deployments(), 4U);
  EXPECT_EQ(cluster.manager->slot_pool().free_slots(), 2);
}

TEST(Scheduler, ARestoreThatFailsIsAGlobalFailure) {  // SC-5
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kForward);
  submission.graph.max_parallelism = 8;
  const JobId job = cluster.submit(std::move(submission));
  auto bad = std::make_shared<CompletedCheckpoint>();
  bad->id = 3;
  const OperatorId op = cluster.vertex(job, 0, 0).operator_ids()[0];
  bad->operator_states[op] = OperatorState{op, 2, 16, {}};  // another max parallelism
  cluster.checkpointing.last->latest = bad;
  cluster.fail(job, 0, 0);
  cluster.world.run_for(1_s + 100_ms);
  ASSERT_EQ(cluster.observer.failovers.size(), 2U);
  cluster.checkpointing.last->latest = nullptr;
  cluster.world.run_for(2_s);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_EQ(cluster.vertex(job, 1, 1).attempt_number(), 1);  // of the other region
}

TEST(Scheduler, AJobThatFailsWhileARestartAbortsItsCheckpointsIsRestoredFirst) {
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  submission.restart.kind = RestartStrategyConfig::Kind::kFixedDelay;
  submission.restart.fixed_delay_attempts = 1;
  const JobId job = cluster.submit(std::move(submission));
  cluster.checkpointing.last->abort_fails_job = true;
  cluster.fail(job, 0, 0);
  cluster.world.run_for(5_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FAILED);
  const std::vector<std::string>& log = cluster.checkpointing.log;
  const auto restored = std::find(log.begin(), log.end(), "restore");
  ASSERT_NE(restored, log.end());
  EXPECT_NE(std::find(restored, log.end(), "shutdown"), log.end());
}

TEST(Scheduler, AJobWhoseTasksFinishIsFinished) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.finish_all(job);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FINISHED);
  EXPECT_EQ(cluster.manager->slot_pool().free_slots(), 2);
}

TEST(StopWithSavepoint, IsDoneWhenTheJobHasFinished) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.checkpointing.log.clear();
  std::string stopped;
  cluster.manager->stop_with_savepoint(job, "there", false, [&stopped](StopResult result) {
    stopped = result.ok() ? result.value()->external_pointer() : "error " + result.error();
  });
  EXPECT_EQ(cluster.checkpointing.log, (std::vector<std::string>{"stop", "savepoint there"}));
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  EXPECT_EQ(stopped, "");
  cluster.finish_all(job);
  EXPECT_EQ(stopped, "savepoints/sp-5");
}

TEST(StopWithSavepoint, AFailedSavepointStartsTheSchedulerAgain) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  bool failed = false;
  cluster.manager->stop_with_savepoint(job, "", false,
                                       [&failed](StopResult result) { failed = !result.ok(); });
  cluster.checkpointing.last->savepoint_done(
      base::Failure{CheckpointFailureReason::CHECKPOINT_EXPIRED});
  EXPECT_TRUE(failed);
  EXPECT_EQ(cluster.checkpointing.log.back(), "start");
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
}

TEST(StopWithSavepoint, AJobThatFailsAfterItsSavepointGoesOnUntilItIsStoppedAgain) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  std::vector<std::string> answers;
  const auto stop = [&](const char* name) {
    cluster.manager->stop_with_savepoint(job, "", false, [&answers, name](StopResult result) {
      answers.push_back(name +
                        (result.ok() ? " " + result.value()->external_pointer() : " failed"));
    });
  };
  stop("first");
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  cluster.checkpointing.last->latest = checkpoint(5);
  cluster.fail(job, 1, 0);
  cluster.world.run_for(5_s);
  EXPECT_TRUE(cluster.all_running(job));
  EXPECT_TRUE(answers.empty());

  stop("second");
  cluster.checkpointing.last->savepoint_done(checkpoint(6));
  cluster.finish_all(job);
  EXPECT_EQ(answers, (std::vector<std::string>{"first savepoints/sp-5", "second savepoints/sp-6"}));
}

TEST(StopWithSavepoint, NeedsNoPeriodicCheckpoints) {
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  submission.tasks.checkpointing_enabled = false;
  submission.checkpoints.interval.reset();
  const JobId job = cluster.submit(std::move(submission));
  bool stopped = false;
  cluster.manager->stop_with_savepoint(job, "", false,
                                       [&stopped](StopResult result) { stopped = result.ok(); });
  cluster.checkpointing.last->savepoint_done(checkpoint(1));
  cluster.finish_all(job);
  EXPECT_TRUE(stopped);
}

// Spec coordinator.md, rescale.md S-7.6.
class StopWithSavepoint120 : public testing::Test {
 protected:
  StopWithSavepoint120() {
    JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
    submission.tasks.generation = Generation::kFlink120;
    job = cluster.submit(std::move(submission));
    cluster.checkpointing.log.clear();
    cluster.manager->stop_with_savepoint(job, "", false, [this](StopResult result) {
      answer = result.ok() ? result.value()->external_pointer() : "error " + result.error();
    });
  }

  Cluster cluster{2};
  JobId job;
  std::string answer;
};

TEST_F(StopWithSavepoint120, IsDoneWhenAllAttemptsHaveFinished) {
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  EXPECT_EQ(answer, "");
  cluster.finish_all(job);
  EXPECT_EQ(answer, "savepoints/sp-5");
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FINISHED);
}

TEST_F(StopWithSavepoint120, IsDoneIfTheTasksFinishBeforeTheSavepointIsHeardOf) {
  cluster.finish_all(job);
  EXPECT_EQ(answer, "");
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  cluster.world.run_for(1_ms);
  EXPECT_EQ(answer, "savepoints/sp-5");
}

TEST_F(StopWithSavepoint120, AFailedSavepointStartsTheSchedulerAgain) {
  cluster.checkpointing.last->savepoint_done(
      base::Failure{CheckpointFailureReason::CHECKPOINT_EXPIRED});
  EXPECT_EQ(answer.substr(0, 6), "error ");
  EXPECT_EQ(cluster.checkpointing.log.back(), "start");
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
}

TEST_F(StopWithSavepoint120, AFailureBehindTheSavepointFailsTheJobForGood) {
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  cluster.fail(job, 1, 0);
  cluster.world.run_for(5_s);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FAILED);
  EXPECT_NE(answer.find("A savepoint has been created at: savepoints/sp-5"), std::string::npos);
  EXPECT_FALSE(cluster.observer.failovers.back().second);
}

TEST_F(StopWithSavepoint120, AFailureBeforeTheSavepointIsAnOrdinaryOne) {
  cluster.fail(job, 1, 0);
  cluster.checkpointing.last->savepoint_done(
      base::Failure{CheckpointFailureReason::CHECKPOINT_COORDINATOR_SUSPEND});
  cluster.world.run_for(5_s);
  EXPECT_TRUE(cluster.all_running(job));
}

TEST(CancelWithSavepoint, CancelsTheJobWhenTheSavepointIsComplete) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  cluster.checkpointing.log.clear();
  std::string answer;
  cluster.manager->trigger_savepoint(job, "there", true, [&answer](StopResult result) {
    answer = result.value()->external_pointer();
  });
  EXPECT_EQ(cluster.checkpointing.log, (std::vector<std::string>{"stop", "plain savepoint there"}));
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  cluster.world.run_for(1_s);
  EXPECT_EQ(answer, "savepoints/sp-5");
  EXPECT_EQ(cluster.manager->status(job), JobStatus::CANCELED);
}

TEST(CancelWithSavepoint, AFailedSavepointStartsTheSchedulerAgain) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  bool failed = false;
  cluster.manager->trigger_savepoint(job, "", true,
                                     [&failed](StopResult result) { failed = !result.ok(); });
  cluster.checkpointing.last->savepoint_done(
      base::Failure{CheckpointFailureReason::CHECKPOINT_DECLINED});
  EXPECT_TRUE(failed);
  EXPECT_EQ(cluster.checkpointing.log.back(), "start");
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
}

// Spec coordinator.md.
TEST(EndOfData, OneMoreCheckpointIsTakenWhenAllTasksHaveReachedIt) {
  for (const Generation generation : {Generation::kFlink110, Generation::kFlink120}) {
    Cluster cluster(2);
    JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
    submission.tasks.generation = generation;
    submission.checkpoints.interval = 1_s;
    const JobId job = cluster.submit(std::move(submission));
    cluster.checkpointing.log.clear();
    DefaultScheduler& scheduler = *cluster.manager->find_scheduler(job);
    for (const ExecutionVertexId id : scheduler.execution_graph().all_vertices()) {
      EXPECT_TRUE(cluster.checkpointing.log.empty());
      scheduler.notify_end_of_data(*scheduler.execution_graph().vertex(id).current_attempt());
    }
    EXPECT_EQ(cluster.checkpointing.log, generation == Generation::kFlink110
                                             ? std::vector<std::string>{}
                                             : std::vector<std::string>{"checkpoint"});
  }
}

TEST(RescaleBySavepoint, SubmitsNothingForAClientThatIsGone) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  bool answered = false;
  {
    const base::Lifeline client;
    rescale_by_savepoint(*cluster.manager, job, {{"sink", 1}}, "", client,
                         [&answered](auto) { answered = true; });
  }
  cluster.checkpointing.last->savepoint_done(checkpoint(5));
  cluster.finish_all(job);
  cluster.world.run_for(1_s);
  EXPECT_FALSE(answered);
  EXPECT_EQ(cluster.manager->find_scheduler(JobId{job.value + 1}), nullptr);
}

TEST(RescaleBySavepoint, SubmitsAnewWithTheSavepointsState) {
  Cluster cluster(3);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  std::optional<JobId> next;
  const base::Lifeline client;
  rescale_by_savepoint(*cluster.manager, job, {{"sink", 3}}, "", client, [&next](auto result) {
    if (result.ok()) next = result.value();
  });
  auto savepoint = std::make_shared<CompletedCheckpoint>(*checkpoint(9));
  const OperatorId sink = cluster.vertex(job, 1, 0).operator_ids()[0];
  OperatorState state{sink, 2, 128, {}};
  for (std::int32_t i = 0; i < 2; ++i) {
    KeyGroupRangeOffsets offsets{{64 * i, 64 * i + 63}, std::vector<std::int64_t>(64, 1)};
    state.subtasks[i].managed_keyed.push_back(std::make_shared<const KeyGroupsStateHandle>(
        offsets, std::make_shared<const StreamStateHandle>(FileStateHandle{"f", 1})));
  }
  savepoint->operator_states[sink] = state;
  cluster.checkpointing.savepoint = savepoint;
  cluster.world.put("savepoints/sp-9/_metadata", {std::byte{1}}, [](PutStatus) {});
  cluster.checkpointing.last->savepoint_done(CompletedCheckpointPtr(savepoint));
  cluster.finish_all(job);
  cluster.world.run_for(100_ms);
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(cluster.all_running(*next));
  ASSERT_EQ(cluster.observer.restores.size(), 1U);
  EXPECT_EQ(cluster.observer.restores[0].second, 9);
  const auto& restore = cluster.vertex(*next, 1, 1).execution().restore;
  ASSERT_NE(restore, nullptr);
  // Key groups 43 to 85, of both old subtasks.
  ASSERT_EQ(restore->snapshot.operators.at(sink).managed_keyed.size(), 2U);
  EXPECT_EQ(restore->snapshot.operators.at(sink).managed_keyed[0]->key_group_range(),
            (KeyGroupRange{43, 63}));
  EXPECT_EQ(cluster.vertex(*next, 0, 0).execution().restore, nullptr);
}

TEST(RescaleBySavepoint, AMistakeDoesNotCostTheRunningJob) {
  Cluster cluster(2);
  const JobId job = cluster.submit(Cluster::job(2, 2, PartitionerKind::kHash));
  std::string error;
  const base::Lifeline client;
  rescale_by_savepoint(*cluster.manager, job, {{"sinks", 3}}, "", client, [&error](auto result) {
    if (!result.ok()) error = result.error();
  });
  EXPECT_NE(error.find("no operator 'sinks'"), std::string::npos);
  EXPECT_EQ(cluster.manager->status(job), JobStatus::RUNNING);
}

TEST(RescaleBySavepoint, ASavepointThatIsNotThereFailsTheNewJob) {
  Cluster cluster(2);
  JobSubmission submission = Cluster::job(2, 2, PartitionerKind::kHash);
  submission.savepoint_path = "nowhere";
  const JobId job = cluster.submit(std::move(submission));
  EXPECT_EQ(cluster.manager->status(job), JobStatus::FAILED);
}

TEST(RestartStrategy, FailureRateOf110ToleratesOneFailureLess) {  // RS-3
  World world;
  FailureRateRestartBackoffTimeStrategy strategy(world, 3, 10_s, 1_s, {});
  std::vector<bool> answers;
  for (int i = 0; i < 3; ++i) {
    strategy.notify_failure();
    answers.push_back(strategy.can_restart());
  }
  EXPECT_EQ(answers, (std::vector<bool>{true, true, false}));
  world.run_for(10_s + 1_ns);
  EXPECT_TRUE(strategy.can_restart());
}

TEST(RestartStrategy, UnsetIsEndlessWithCheckpointingAndNoneWithout) {  // RS-13
  World world;
  const RestartStrategySemantics& semantics = scheduling_semantics_110().restart;
  const auto with = make_restart_strategy({}, true, semantics, world, world);
  const auto without = make_restart_strategy({}, false, semantics, world, world);
  for (int i = 0; i < 1000; ++i) with->notify_failure();
  EXPECT_TRUE(with->can_restart());
  EXPECT_EQ(with->backoff_time(), 1_s);
  without->notify_failure();
  EXPECT_FALSE(without->can_restart());
}

}  // namespace
}  // namespace tailrace::engine
