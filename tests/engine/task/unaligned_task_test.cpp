// Tasks whose barriers overtake data: what they write of it, and how they get it back.
#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/network/network_semantics.hpp"
#include "engine/rescale/state_assignment_operation.hpp"
#include "engine/task/f120/channel_state_write_request_executor.hpp"
#include "tests/engine/task/task_world.hpp"

namespace tailrace::engine {
namespace {

constexpr std::int32_t kLines = 100;

FakeLog lines() {
  FakeLog::Lines lines;
  for (std::int32_t i = 0; i < kLines; ++i) {
    lines.emplace_back(std::string(1, static_cast<char>('a' + i % 26)), Time{});
  }
  return FakeLog({lines}, false);
}

// The records of a story, without its events.
std::string records_of(const Story& story) {
  std::string records;
  for (const std::string& entry : story) {
    if (entry.size() == 1) records += entry;
  }
  return records;
}

std::string records_before(const Story& story, const std::string& event) {
  return records_of({story.begin(), std::find(story.begin(), story.end(), event)});
}

std::int64_t channel_bytes(const HostedTask& task) {
  std::int64_t bytes = 0;
  for (const auto& [id, state] : task.last_state->operators) {
    bytes += state.channel_state_size_bytes();
  }
  return bytes;
}

// A quick source and a reader that takes 10 ms for each record, so that what is between them is full.
class Unaligned : public testing::Test {
 protected:
  explicit Unaligned(PartitionerKind partitioner = PartitionerKind::kForward)
      : world_(network()), log_(lines()), tasks_(log_, true, partitioner) {
    tasks_.config.generation = Generation::kFlink120;
    tasks_.config.checkpointing_enabled = true;
    tasks_.config.unaligned = true;
    tasks_.config.segment_bytes = 64;
    tasks_.config.inline_threshold_bytes = 0;
    world_.slice_length = Duration::millis(1);
    world_.record_cost = Duration::millis(10);
    world_.slow_operator = 2;
    for (std::int32_t i = 0; i < kLines; ++i) all_ += static_cast<char>('a' + i % 26);
  }
  static NetworkConfig network() {
    NetworkConfig config;
    config.segment_bytes = 64;
    config.semantics = &network_semantics_120();
    return config;
  }
  static CheckpointOptions options(Duration timeout) {
    CheckpointOptions options;
    if (timeout == Duration{}) {
      options.alignment = AlignmentType::UNALIGNED;
    } else {
      options.aligned_checkpoint_timeout = timeout;
    }
    return options;
  }
  void start() {
    source_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(0), &executors_);
    reader_ = std::make_unique<HostedTask>(world_, tasks_.descriptor(1), &executors_);
    source_->task().invoke();
    reader_->task().invoke();
  }
  // Starts both anew from what they have acknowledged.
  void restart() {
    const auto source = restored(0, *source_);
    const auto reader = restored(1, *reader_);
    source_.reset();
    reader_.reset();
    tasks_.upstream.clear();
    tasks_.downstream.clear();
    source_ = std::make_unique<HostedTask>(world_, source, &executors_);
    reader_ = std::make_unique<HostedTask>(world_, reader, &executors_);
    source_->task().invoke();
    reader_->task().invoke();
  }
  std::shared_ptr<const TaskDeploymentDescriptor> restored(std::int32_t vertex,
                                                           const HostedTask& task) const {
    auto descriptor = std::make_shared<TaskDeploymentDescriptor>(*tasks_.descriptor(vertex));
    descriptor->restore =
        std::make_shared<const JobManagerTaskRestore>(JobManagerTaskRestore{1, *task.last_state});
    return descriptor;
  }

  TaskWorld world_;
  f120::ChannelStateWriteRequestExecutorFactory executors_{world_.ports()};
  FakeLog log_;
  TwoTasks tasks_;
  std::string all_;
  std::unique_ptr<HostedTask> source_;
  std::unique_ptr<HostedTask> reader_;
};

TEST_F(Unaligned, ABarrierOvertakesWhatHasNotBeenRead) {
  start();
  world_.run_until_ms(100);
  source_->trigger(1, options({}));
  world_.run_until_ms(130);
  ASSERT_EQ(source_->acknowledged, std::vector<CheckpointId>{1});
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  const std::string sent = records_before(tasks_.upstream, "snapshot 1");
  const std::string read = records_before(tasks_.downstream, "snapshot 1");
  EXPECT_GT(sent.size(), read.size() + 5);
  EXPECT_GT(channel_bytes(*source_), 0);
  EXPECT_EQ(source_->last_metrics.bytes_persisted_during_alignment, channel_bytes(*source_));
  EXPECT_TRUE(source_->last_metrics.unaligned);
  // One file for both, if both have something.
  EXPECT_EQ(std::count_if(world_.stored.begin(), world_.stored.end(),
                          [](const std::string& path) {
                            return path.find("channel-state") != std::string::npos;
                          }),
            1);
}

TEST_F(Unaligned, WhatWasInFlightIsReadBackInFrontOfEverythingNew) {
  start();
  world_.run_until_ms(105);
  source_->trigger(1, options({}));
  world_.run_until_ms(300);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  const std::string before = records_before(tasks_.downstream, "snapshot 1");
  ASSERT_LT(before.size(), all_.size());
  restart();
  world_.run_until_ms(5'000);
  EXPECT_EQ(source_->failure + reader_->failure, "");
  EXPECT_EQ(before + records_of(tasks_.downstream), all_);
}

TEST_F(Unaligned, ARestoredTaskTakesUnalignedCheckpointsAgain) {
  start();
  world_.run_until_ms(105);
  source_->trigger(1, options({}));
  world_.run_until_ms(200);
  const std::string first = records_before(tasks_.downstream, "snapshot 1");
  restart();
  world_.run_until_ms(300);
  ASSERT_TRUE(source_->restored.has_value() && reader_->restored.has_value());
  source_->trigger(2, options({}));
  world_.run_until_ms(400);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{2});
  const std::string second = records_before(tasks_.downstream, "snapshot 2");
  restart();
  world_.run_until_ms(5'000);
  EXPECT_EQ(first + second + records_of(tasks_.downstream), all_);
}

// What was read back takes segments of its partition: a task that has it may not fill the pool besides.
TEST_F(Unaligned, RestartsDoNotAddToWhatIsInFlight) {
  std::vector<std::int64_t> in_flight;
  start();
  for (CheckpointId id = 1; id <= 4; ++id) {
    if (id > 1) restart();
    const Time begin = world_.now();
    world_.run_until(begin + Duration::millis(60));
    source_->trigger(id, options({}));
    world_.run_until(begin + Duration::millis(100));
    ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{id});
    in_flight.push_back(channel_bytes(*source_));
  }
  const std::int64_t pool = 64 * (2 + 8);  // one subpartition: exclusive and floating buffers
  for (const std::int64_t bytes : in_flight)
    EXPECT_LE(bytes, pool + 64) << testing::PrintToString(in_flight);
}

TEST_F(Unaligned, ABarrierThatMayTimeOutOvertakesWhenItsTimeIsUp) {
  start();
  world_.run_until_ms(100);
  source_->trigger(1, options(Duration::millis(20)));
  world_.run_until_ms(115);
  EXPECT_TRUE(world_.snapshots.size() < 2U);  // the reader has not come so far
  world_.run_until_ms(150);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  EXPECT_GT(channel_bytes(*source_), 0);
}

TEST_F(Unaligned, ABarrierInTimeOvertakesNothing) {
  start();
  world_.run_until_ms(100);
  source_->trigger(1, options(Duration::seconds(100)));
  world_.run_until_ms(3'000);
  ASSERT_EQ(source_->acknowledged, std::vector<CheckpointId>{1});
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  EXPECT_EQ(channel_bytes(*source_) + channel_bytes(*reader_), 0);
  EXPECT_FALSE(reader_->last_metrics.unaligned);
  EXPECT_EQ(records_before(tasks_.upstream, "snapshot 1"),
            records_before(tasks_.downstream, "snapshot 1"));
}

TEST_F(Unaligned, AnAbortedCheckpointLeavesNoBufferBehind) {
  start();
  world_.run_until_ms(100);
  source_->trigger(1, options(Duration::seconds(100)));
  world_.run_until_ms(101);
  source_->task().notify_checkpoint_aborted(1, kNoCheckpoint);
  reader_->task().notify_checkpoint_aborted(1, kNoCheckpoint);
  world_.run_until_ms(2'000);
  EXPECT_EQ(source_->failure + reader_->failure, "");
  EXPECT_EQ(records_of(tasks_.downstream).size(), all_.size());
  source_->task().cancel();
  reader_->task().cancel();
  world_.run_until_ms(2'100);
  source_.reset();
  reader_.reset();
  EXPECT_EQ(world_.network().outstanding_segments(), 0);
}

// --- another parallelism -------------------------------------------------------------------------

class UnalignedRescale : public Unaligned {
 protected:
  UnalignedRescale() : Unaligned(PartitionerKind::kHash) {}

  // Starts the source and so many readers from what one of each has acknowledged.
  void restart_with(std::int32_t readers) {
    std::map<OperatorId, OperatorState> states;
    for (const HostedTask* task : {source_.get(), reader_.get()}) {
      for (const auto& [id, state] : task->last_state->operators) {
        states[id] = OperatorState{id, 1, 128, {}};
        states[id].subtasks.emplace(0, state);
      }
    }
    std::vector<VertexToRestore> vertices(2);
    for (std::size_t v = 0; v < 2; ++v) {
      const auto& chain = tasks_.descriptor(static_cast<std::int32_t>(v))->job_vertex().chain;
      for (std::size_t op = chain.size(); op-- > 0;) {
        vertices[v].operator_ids.push_back(chain[op].id);
      }
    }
    vertices[1].parallelism = readers;
    const SubtaskStateMapper upstream = upstream_subtask_state_mapper(PartitionerKind::kHash);
    const SubtaskStateMapper downstream = downstream_subtask_state_mapper(PartitionerKind::kHash);
    vertices[0].outputs.push_back({1, 0, upstream, downstream});
    vertices[1].inputs.push_back({0, 0, upstream, downstream});
    const StateAssignmentOperation assignment{1, states, false, kStateAssignment120};
    ASSERT_TRUE(assignment.assign_states(vertices).ok());

    source_.reset();
    reader_.reset();
    tasks_.downstream.clear();
    const auto with = [this, readers](std::int32_t vertex, std::int32_t subtask,
                                      std::shared_ptr<const JobManagerTaskRestore> restore) {
      auto descriptor =
          std::make_shared<TaskDeploymentDescriptor>(*tasks_.descriptor(vertex, subtask, readers));
      descriptor->restore = std::move(restore);
      return std::make_unique<HostedTask>(world_, std::move(descriptor), &executors_);
    };
    source_ = with(0, 0, vertices[0].restores[0]);
    for (std::int32_t i = 0; i < readers; ++i) {
      readers_.push_back(with(1, i, vertices[1].restores[static_cast<std::size_t>(i)]));
    }
    source_->task().invoke();
    for (const auto& reader : readers_) reader->task().invoke();
  }

  std::vector<std::unique_ptr<HostedTask>> readers_;
};

TEST_F(UnalignedRescale, EveryRecordInFlightReachesOneOfTheNewReaders) {
  start();
  world_.run_until_ms(105);
  source_->trigger(1, options({}));
  world_.run_until_ms(300);
  ASSERT_EQ(reader_->acknowledged, std::vector<CheckpointId>{1});
  ASSERT_GT(channel_bytes(*source_), 0);
  std::string records = records_before(tasks_.downstream, "snapshot 1");
  restart_with(3);
  world_.run_until_ms(5'000);
  EXPECT_EQ(source_->failure, "");
  for (const auto& reader : readers_) {
    EXPECT_EQ(reader->failure, "");
    EXPECT_TRUE(reader->restored.has_value());
    EXPECT_GT(reader->task().records_in(), 0);
  }
  records += records_of(tasks_.downstream);
  std::sort(records.begin(), records.end());
  std::string all = all_;
  std::sort(all.begin(), all.end());
  EXPECT_EQ(records, all);
}

}  // namespace
}  // namespace tailrace::engine
