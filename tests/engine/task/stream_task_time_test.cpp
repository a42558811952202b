// What a task says it does with its time, where it waits and where it works.
#include <string>

#include <gtest/gtest.h>

#include "engine/network/network_gauges.hpp"
#include "engine/network/network_semantics.hpp"
#include "tests/engine/task/task_world.hpp"

namespace tailrace::engine {
namespace {

using enum TaskActivity;

FakeLog lines_at_once(std::int32_t count, std::size_t length = 1) {
  FakeLog::Lines lines;
  for (std::int32_t i = 0; i < count; ++i) lines.emplace_back(std::string(length, 'x'), Time{});
  return FakeLog({lines}, false);
}

// A source that spends 2 ms on a record, and a reader behind the network that spends 1 ms; ten
// buffers of 32 bytes. The process begins at 0, so gauges are updated at 10 s, 15 s and so on.
class TaskTime : public testing::Test {
 protected:
  explicit TaskTime(FakeLog log = lines_at_once(100))
      : world_(network()), log_(std::move(log)), tasks_(log_, true) {
    tasks_.config.generation = Generation::kFlink120;
    tasks_.config.checkpointing_enabled = true;
    tasks_.config.segment_bytes = 32;
    world_.slice_length = Duration::millis(1);
  }
  static NetworkConfig network() {
    NetworkConfig config;
    config.segment_bytes = 32;
    config.semantics = &network_semantics_120();
    return config;
  }
  StreamTask& start_source() {
    source_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0));
    source_->task().invoke();
    return source_->task();
  }
  StreamTask& start_reader() {
    reader_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(1));
    reader_->task().invoke();
    return reader_->task();
  }
  TaskWorld world_;
  FakeLog log_;
  TwoTasks tasks_;
  std::unique_ptr<HostedTask> source_;
  std::unique_ptr<HostedTask> reader_;
};

TEST_F(TaskTime, ATaskIsBusyWhileItPaysAndIdleWithoutInput) {
  const StreamTask& source = start_source();
  const StreamTask& reader = start_reader();
  world_.run_until_ms(1);
  EXPECT_EQ(source.io_metrics()->activity(), kBusy);
  EXPECT_EQ(reader.io_metrics()->activity(), kIdle);
  world_.run_until_ms(10'000);
  EXPECT_EQ(source.io_metrics()->activity(), kIdle);
  EXPECT_EQ(reader.io_metrics()->activity(), kIdle);
  const TaskTimes of_source = source.io_metrics()->read();
  EXPECT_EQ(of_source.accumulate_busy_time_ms, 200);
  EXPECT_EQ(of_source.accumulate_idle_time_ms, 9800);
  EXPECT_EQ(of_source.accumulate_back_pressured_time_ms, 0);
  EXPECT_EQ(of_source.idle_time_ms_per_second, 1000);  // 9.8 s of a first interval of 10
  const TaskTimes of_reader = reader.io_metrics()->read();
  EXPECT_EQ(of_reader.accumulate_busy_time_ms, 100);
  EXPECT_EQ(of_reader.accumulate_idle_time_ms, 9900);
  world_.run_until_ms(65'000);  // the first interval is still in the window of twelve
  EXPECT_EQ(source.io_metrics()->read().idle_time_ms_per_second, 1000);
  EXPECT_EQ(source.io_metrics()->read().busy_time_ms_per_second, 0);
}

TEST_F(TaskTime, BetweenRecordsATaskWithoutBuffersIsSoftBackPressured) {
  const StreamTask& source = start_source();  // nobody reads
  EXPECT_FALSE(source.is_back_pressured());
  world_.run_until_ms(10'000);
  EXPECT_EQ(source.io_metrics()->activity(), kSoftBackPressured);
  EXPECT_TRUE(source.is_back_pressured());
  EXPECT_EQ(out_pool_usage(source.partitions()), 1.0F);
  EXPECT_EQ(output_queue_length(source.partitions()), 11);  // one is the end of channel state
  const TaskTimes times = source.io_metrics()->read();
  EXPECT_EQ(*times.accumulate_busy_time_ms, 2 * source.records_in());
  EXPECT_EQ(times.accumulate_back_pressured_time_ms, 10'000 - 2 * source.records_in());
  EXPECT_EQ(times.hard_back_pressured_time_ms_per_second, 0);
  EXPECT_EQ(times.soft_back_pressured_time_ms_per_second,
            times.accumulate_back_pressured_time_ms / 5 < 1000
                ? times.accumulate_back_pressured_time_ms / 5
                : 1000);
  EXPECT_EQ(times.max_soft_back_pressure_time_ms, times.accumulate_back_pressured_time_ms);

  start_reader();
  world_.run_until_ms(11'000);
  EXPECT_EQ(source.io_metrics()->activity(), kIdle);
  EXPECT_FALSE(source.is_back_pressured());
  EXPECT_EQ(out_pool_usage(source.partitions()), 0.1F);  // the one that is open
}

TEST_F(TaskTime, AMailInterruptsAWait) {
  const StreamTask& source = start_source();
  world_.run_until_ms(8000);
  source_->task().notify_checkpoint_complete(0);
  world_.run_until_ms(10'000);
  const TaskTimes times = source.io_metrics()->read();
  // It takes no time here, but the two waits are not one.
  EXPECT_EQ(times.accumulate_back_pressured_time_ms, 10'000 - 2 * source.records_in());
  EXPECT_EQ(times.max_soft_back_pressure_time_ms, 8000 - 2 * source.records_in());
}

// A record of 500 bytes does not fit into all buffers together.
class TaskTimeOfLongRecords : public TaskTime {
 protected:
  TaskTimeOfLongRecords() : TaskTime(lines_at_once(3, 500)) {}
};

TEST_F(TaskTimeOfLongRecords, InsideARecordATaskWithoutBuffersIsHardBackPressured) {
  const StreamTask& source = start_source();
  world_.run_until_ms(1);
  EXPECT_EQ(source.io_metrics()->activity(), kBusy);  // the work is paid for first
  world_.run_until_ms(10'000);
  EXPECT_EQ(source.io_metrics()->activity(), kHardBackPressured);
  const TaskTimes times = source.io_metrics()->read();
  EXPECT_EQ(times.accumulate_busy_time_ms, 2);
  EXPECT_EQ(times.accumulate_back_pressured_time_ms, 9998);
  EXPECT_EQ(times.soft_back_pressured_time_ms_per_second, 0);
  EXPECT_EQ(times.hard_back_pressured_time_ms_per_second, 1000);
  EXPECT_EQ(times.max_hard_back_pressure_time_ms, 9998);
  EXPECT_EQ(times.busy_time_ms_per_second, 0);

  start_reader();
  world_.run_until_ms(15'000);
  EXPECT_EQ(source.io_metrics()->activity(), kIdle);
}

TEST_F(TaskTimeOfLongRecords, ACancelledTaskDoesNotWaitAnyMore) {
  const StreamTask& source = start_source();
  world_.run_until_ms(1000);
  source_->task().cancel();
  world_.run_until_ms(20'000);
  EXPECT_EQ(source.io_metrics()->read().accumulate_back_pressured_time_ms, 998);
  EXPECT_FALSE(source.is_back_pressured());
}

TEST_F(TaskTime, TheStartDelayIsFromTheTriggerToTheTask) {
  const StreamTask& source = start_source();
  const StreamTask& reader = start_reader();
  EXPECT_EQ(source.checkpoint_start_delay(), Duration{});
  world_.run_until_ms(1000);
  source_->task().trigger_checkpoint({1, 950}, {CheckpointType::CHECKPOINT, {}}, false);
  world_.run_until_ms(2000);
  EXPECT_EQ(source.checkpoint_start_delay(), Duration::millis(50));
  EXPECT_EQ(reader.checkpoint_start_delay(), Duration::millis(50));
  EXPECT_FALSE(source.checkpoint_alignment_time().has_value());
  EXPECT_EQ(reader.checkpoint_alignment_time(), Duration{});  // of one channel
}

TEST_F(TaskTime, InTheOlderVersionOnlyBackPressureCanBeAskedFor) {
  tasks_.config.generation = Generation::kFlink110;
  const StreamTask& source = start_source();
  EXPECT_EQ(source.io_metrics(), nullptr);
  EXPECT_FALSE(source.checkpoint_start_delay().has_value());
  world_.run_until_ms(1000);
  EXPECT_TRUE(source.is_back_pressured());
  const StreamTask& reader = start_reader();
  EXPECT_TRUE(reader.checkpoint_alignment_time().has_value());
}

}  // namespace
}  // namespace tailrace::engine
