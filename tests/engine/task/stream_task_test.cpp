#include "engine/task/stream_task.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/task/task_world.hpp"

namespace tailrace::engine {
namespace {

Time at_ms(std::int64_t ms) {
  return Time{} + Duration::millis(ms);
}

// One partition of lines that are there from the beginning.
FakeLog lines(std::int32_t count, std::size_t length = 1, bool finite = false) {
  FakeLog::Lines lines;
  for (std::int32_t i = 0; i < count; ++i) {
    lines.emplace_back(std::string(length, static_cast<char>('a' + i % 26)), Time{});
  }
  return FakeLog({lines}, finite);
}

std::int64_t records_in(const Story& story) {
  return std::count_if(story.begin(), story.end(), [](const std::string& event) {
    return event.find(' ') == std::string::npos && event != "close";
  });
}

// Each record costs 2 ms (the source's and the storyteller's 1 ms); a slice is 5 ms of work at least,
// so three records.
class OneTask : public testing::Test {
 protected:
  explicit OneTask(FakeLog log = lines(100)) : log_(std::move(log)), tasks_(log_, false) {
    tasks_.config.inline_threshold_bytes = 0;  // all state goes to the store
  }
  HostedTask& start() {
    hosted_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0));
    hosted_->task().invoke();
    return *hosted_;
  }
  TaskWorld world_;
  FakeLog log_;
  TwoTasks tasks_;
  std::unique_ptr<HostedTask> hosted_;
};

TEST_F(OneTask, PaysForItsRecordsInSlices) {
  HostedTask& hosted = start();
  world_.run_until_ms(5);  // inside the first slice
  EXPECT_EQ(records_in(tasks_.upstream), 3);
  world_.run_until_ms(6);  // the second has begun
  EXPECT_EQ(records_in(tasks_.upstream), 6);
  world_.run_until_ms(1000);
  EXPECT_EQ(hosted.task().records_in(), 100);  // and now it waits for more
  EXPECT_FALSE(hosted.finished.has_value());
}

TEST_F(OneTask, RunsItsMailsBetweenSlicesOnly) {
  HostedTask& hosted = start();
  world_.run_until_ms(2);
  hosted.trigger(1);
  hosted.task().notify_checkpoint_complete(0);
  world_.run_until_ms(5);
  EXPECT_EQ(tasks_.upstream, (Story{"a", "b", "c"}));
  world_.run_until_ms(6);
  // The notice overtakes the trigger; the snapshot comes before the next record.
  EXPECT_EQ((Story{tasks_.upstream.begin(), tasks_.upstream.begin() + 5}),
            (Story{"a", "b", "c", "complete 0", "snapshot 1"}));
  EXPECT_EQ(world_.snapshots, (std::vector<TaskWorld::Snapshot>{{0, 1, at_ms(6)}}));
  EXPECT_TRUE(hosted.acknowledged.empty());  // the store takes 1 ms for each stream
  world_.run_until_ms(20);
  EXPECT_EQ(hosted.acknowledged, std::vector<CheckpointId>{1});
}

TEST_F(OneTask, AnIdleSourceTakesItsSnapshotAtOnce) {
  HostedTask& hosted = start();
  world_.run_until_ms(1000);
  hosted.trigger(1);
  world_.run_until_ms(1000);
  EXPECT_EQ(world_.snapshots, (std::vector<TaskWorld::Snapshot>{{0, 1, at_ms(1000)}}));
}

TEST_F(OneTask, CancelledInsideASliceItStopsAtItsEnd) {
  HostedTask& hosted = start();
  world_.run_until_ms(2);
  hosted.trigger(1);
  hosted.task().cancel();
  world_.run_until_ms(5);
  EXPECT_FALSE(hosted.stopped.has_value());
  world_.run_until_ms(100);
  EXPECT_EQ(hosted.stopped, at_ms(6));
  EXPECT_EQ(tasks_.upstream, (Story{"a", "b", "c", "close"}));
  EXPECT_TRUE(world_.snapshots.empty());
  EXPECT_FALSE(hosted.finished.has_value());
}

TEST_F(OneTask, CancelledWhileItWaitsItStopsAtOnce) {
  HostedTask& hosted = start();
  world_.run_until_ms(1000);
  hosted.task().cancel();
  world_.run_until_ms(1000);
  EXPECT_EQ(hosted.stopped, at_ms(1000));
}

TEST_F(OneTask, CancellingDiscardsWhatCheckpointsAreWriting) {  // spec coordinator.md
  HostedTask& hosted = start();
  world_.run_until_ms(1000);
  hosted.trigger(1);
  world_.run_until_ms(1000);
  EXPECT_FALSE(world_.stored.empty());  // under way
  hosted.task().cancel();
  world_.run_until_ms(1100);
  EXPECT_TRUE(hosted.acknowledged.empty());
  EXPECT_TRUE(hosted.declined.empty());
  EXPECT_TRUE(world_.stored.empty());
}

TEST_F(OneTask, DeclinesACheckpointThatTheStoreDoesNotTakeAndGoesOn) {
  HostedTask& hosted = start();
  world_.store_works = false;
  hosted.trigger(1);
  world_.run_until_ms(50);
  ASSERT_EQ(hosted.declined.size(), 1u);
  EXPECT_EQ(hosted.declined[0].first, 1);
  EXPECT_EQ(hosted.declined[0].second, CheckpointFailureReason::JOB_FAILURE);
  EXPECT_TRUE(hosted.acknowledged.empty());
  EXPECT_TRUE(hosted.failure.empty());

  world_.store_works = true;
  hosted.trigger(2);
  world_.run_until_ms(1000);
  EXPECT_EQ(hosted.acknowledged, std::vector<CheckpointId>{2});
  EXPECT_EQ(hosted.task().records_in(), 100);
}

// Spec coordinator.md: a source goes on emitting until the savepoint is complete.
TEST_F(OneTask, ASourceGoesOnDuringASynchronousSavepointAndFinishesWithIt) {
  HostedTask& hosted = start();
  world_.run_until_ms(2);
  hosted.trigger(1, CheckpointType::SYNC_SAVEPOINT);
  world_.run_until_ms(30);
  EXPECT_EQ(hosted.acknowledged, std::vector<CheckpointId>{1});
  EXPECT_GT(records_in(tasks_.upstream), 10);
  EXPECT_FALSE(hosted.finished.has_value());
  hosted.task().notify_checkpoint_complete(1);
  world_.run_until_ms(200);
  ASSERT_TRUE(hosted.finished.has_value());
  EXPECT_EQ(hosted.finished, at_ms(36));  // at the end of the slice
  EXPECT_EQ((Story{tasks_.upstream.end() - 2, tasks_.upstream.end()}),
            (Story{"complete 1", "close"}));
  EXPECT_LT(records_in(tasks_.upstream), 100);
}

// Spec coordinator.md: what is left in the mailbox finds a task that does not run.
TEST_F(OneTask, ATriggerThatComesTooLateIsDeclined) {
  HostedTask& hosted = start();
  world_.run_until_ms(2);
  hosted.trigger(1, CheckpointType::SYNC_SAVEPOINT);
  world_.run_until_ms(30);
  ASSERT_EQ(hosted.acknowledged, std::vector<CheckpointId>{1});
  hosted.trigger(2);
  hosted.task().notify_checkpoint_complete(1);  // overtakes, and releases the task
  world_.run_until_ms(200);
  EXPECT_TRUE(hosted.finished.has_value());
  ASSERT_EQ(hosted.declined.size(), 1u);
  EXPECT_EQ(hosted.declined[0].first, 2);
  EXPECT_EQ(hosted.declined[0].second, CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY);
  EXPECT_EQ(std::count(tasks_.upstream.begin(), tasks_.upstream.end(), "snapshot 2"), 0);
}

class FiniteTask : public OneTask {
 protected:
  FiniteTask() : OneTask(lines(4, 1, true)) {}
};

TEST_F(FiniteTask, FinishesAfterItsLastRecord) {
  HostedTask& hosted = start();
  world_.run_until_ms(100);
  EXPECT_EQ(hosted.finished, at_ms(8));  // paid for
  EXPECT_EQ(tasks_.upstream, (Story{"a", "b", "c", "d", "close"}));
}

// A reader behind the network; buffers of 32 bytes, ten of them.
class ConnectedTasks : public testing::Test {
 protected:
  static NetworkConfig small_buffers() {
    NetworkConfig config;
    config.segment_bytes = 32;
    return config;
  }
  explicit ConnectedTasks(FakeLog log = lines(100))
      : world_(small_buffers()), log_(std::move(log)), tasks_(log_, true) {
    tasks_.config.checkpointing_enabled = true;
    tasks_.config.segment_bytes = 32;
    world_.slice_length = Duration::millis(1);
  }
  HostedTask& start_source() {
    source_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0));
    source_->task().invoke();
    return *source_;
  }
  HostedTask& start_reader() {
    reader_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(1));
    reader_->task().invoke();
    return *reader_;
  }
  TaskWorld world_;
  FakeLog log_;
  TwoTasks tasks_;
  std::unique_ptr<HostedTask> source_;
  std::unique_ptr<HostedTask> reader_;
};

TEST_F(ConnectedTasks, RecordsArriveOnceAndInOrder) {
  start_source();
  start_reader();
  world_.run_until_ms(2000);
  EXPECT_EQ(tasks_.upstream.size(), 100u);
  EXPECT_EQ(tasks_.downstream, tasks_.upstream);
  EXPECT_EQ(reader_->task().records_in(), source_->task().records_out());
}

TEST_F(ConnectedTasks, TheBarrierStandsBetweenTheRecordsBeforeAndAfterTheSnapshot) {
  start_source();
  start_reader();
  world_.run_until_ms(31);
  source_->trigger(1);
  world_.run_until_ms(2000);
  EXPECT_EQ(tasks_.downstream, tasks_.upstream);  // the snapshot at the same place
  EXPECT_EQ(std::count(tasks_.downstream.begin(), tasks_.downstream.end(), "snapshot 1"), 1);
  EXPECT_NE(tasks_.downstream.front(), "snapshot 1");
  EXPECT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
}

// Spec coordinator.md: behind the snapshot of a synchronous savepoint a task runs nothing but
// completion notices.
TEST_F(ConnectedTasks, ASynchronousSavepointHoldsTheReaderUntilItIsComplete) {
  start_source();
  start_reader();
  world_.run_until_ms(31);
  source_->trigger(1, CheckpointType::SYNC_SAVEPOINT);
  world_.run_until_ms(1000);
  EXPECT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  EXPECT_EQ(tasks_.downstream.back(), "snapshot 1");
  EXPECT_NE(tasks_.upstream.back(), "snapshot 1");  // the source has gone on
  EXPECT_FALSE(reader_->finished.has_value());

  reader_->trigger(2);  // an ordinary mail: it must wait, for good
  reader_->task().notify_checkpoint_complete(0);
  world_.run_until_ms(1100);
  EXPECT_EQ(tasks_.downstream.back(), "complete 0");
  EXPECT_FALSE(reader_->finished.has_value());

  reader_->task().notify_checkpoint_complete(1);
  world_.run_until_ms(1200);
  EXPECT_TRUE(reader_->finished.has_value());
  EXPECT_EQ((Story{tasks_.downstream.end() - 3, tasks_.downstream.end()}),
            (Story{"complete 0", "complete 1", "close"}));
  EXPECT_EQ(std::count(tasks_.downstream.begin(), tasks_.downstream.end(), "snapshot 2"), 0);
}

TEST_F(ConnectedTasks, ACancelledReaderComesOutOfASynchronousSavepoint) {
  start_source();
  start_reader();
  source_->trigger(1, CheckpointType::SYNC_SAVEPOINT);
  world_.run_until_ms(1000);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  reader_->task().cancel();
  world_.run_until_ms(1001);
  EXPECT_TRUE(reader_->stopped.has_value());
}

class FiniteConnectedTasks : public ConnectedTasks {
 protected:
  FiniteConnectedTasks() : ConnectedTasks(lines(10, 1, true)) {}
};

TEST_F(FiniteConnectedTasks, TheReaderFinishesBehindTheLastRecordOfTheSource) {
  start_source();
  start_reader();
  world_.run_until_ms(1000);
  ASSERT_TRUE(source_->finished.has_value());
  ASSERT_TRUE(reader_->finished.has_value());
  EXPECT_GE(*reader_->finished, *source_->finished);
  EXPECT_EQ(records_in(tasks_.downstream), 10);
  EXPECT_EQ(tasks_.downstream.back(), "close");
}

// A record of 500 bytes does not fit into all buffers together.
class LongRecords : public ConnectedTasks {
 protected:
  LongRecords() : ConnectedTasks(lines(3, 500)) {}
};

TEST_F(LongRecords, BlockedInsideARecordATaskRunsNoMail) {  // spec barriers.md 6.1
  HostedTask& source = start_source();
  world_.run_until_ms(10);
  EXPECT_EQ(records_in(tasks_.upstream), 1);  // and half of it is written
  source.trigger(1);
  source.task().notify_checkpoint_complete(0);
  world_.run_until_ms(500);
  EXPECT_EQ(records_in(tasks_.upstream), 1);
  EXPECT_EQ(tasks_.upstream.size(), 1u);
  EXPECT_TRUE(world_.snapshots.empty());

  start_reader();  // which takes the buffers
  world_.run_until_ms(2000);
  EXPECT_EQ(tasks_.upstream[1], "complete 0");
  EXPECT_EQ(tasks_.upstream[2], "snapshot 1");
  EXPECT_EQ(records_in(tasks_.upstream), 3);
  Story without_notice = tasks_.upstream;
  std::erase(without_notice, "complete 0");
  EXPECT_EQ(tasks_.downstream, without_notice);
}

TEST_F(LongRecords, CancelledInsideARecordATaskStopsAtOnce) {
  HostedTask& source = start_source();
  world_.run_until_ms(10);
  source.task().cancel();
  world_.run_until_ms(11);
  EXPECT_EQ(source.stopped, at_ms(10));
}

}  // namespace
}  // namespace tailrace::engine
