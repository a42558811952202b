// What a task can see of its cuts, and the numbers of its buffers: both hold, and both stop a run.
#include "engine/task/task_cuts.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/unpooled_segment.hpp"
#include "engine/observer.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/task/channel_reader.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

using base::InvariantViolation;

Buffer buffer_of(std::size_t size, std::uint32_t number) {
  Buffer buffer = UnpooledSegment::make_buffer(std::vector<std::byte>(size));
  buffer.set_sequence_number(number);
  return buffer;
}

TEST(ChannelReader, TakesBuffersInTheirOrder) {
  ChannelReader reader(RecordType::kString);
  reader.received(buffer_of(3, 1));
  reader.received(buffer_of(3, 2));
  EXPECT_EQ(reader.bytes, 6);
}

TEST(ChannelReader, ALostOrRepeatedBufferStopsTheRun) {
  ChannelReader reader(RecordType::kString);
  EXPECT_THROW(reader.received(buffer_of(3, 2)), InvariantViolation);
  reader.received(buffer_of(3, 1));
  EXPECT_THROW(reader.received(buffer_of(3, 1)), InvariantViolation);
  EXPECT_THROW(reader.received(buffer_of(3, 3)), InvariantViolation);
  EXPECT_NO_THROW(reader.received(buffer_of(3, 2)));
}

TEST(ChannelReader, WhatComesFromNoChannelHasNoNumber) {
  ChannelReader reader(RecordType::kString);
  reader.received(buffer_of(3, 0));
  EXPECT_NO_THROW(reader.received(buffer_of(3, 1)));
}

struct Seen final : Observer {
  void on_input_cut(JobId, const ResultPartitionId&, std::int32_t subpartition,
                    const InputCut& cut) override {
    subpartitions.push_back(subpartition);
    cuts.push_back(cut);
  }
  void on_input_state(JobId, const ResultPartitionId&, std::int32_t, CheckpointId,
                      std::int64_t bytes) override {
    input_state += bytes;
  }
  std::vector<std::int32_t> subpartitions;
  std::vector<InputCut> cuts;
  std::int64_t input_state = 0;
};

class TwoChannels : public testing::Test {
 protected:
  TwoChannels() {
    descriptor_.gates.resize(2);
    for (std::int32_t g = 0; g < 2; ++g) {
      descriptor_.gates[static_cast<std::size_t>(g)].channels.push_back({{g, 0, {}}, 5 + g, {}});
    }
    readers_[0].received(buffer_of(10, 1));
    readers_[1].received(buffer_of(20, 1));
  }
  Seen seen_;
  TaskDeploymentDescriptor descriptor_;
  std::vector<ChannelReader> readers_{ChannelReader(RecordType::kString),
                                      ChannelReader(RecordType::kString)};
};

TEST_F(TwoChannels, AnAlignedSnapshotIsWhereItsBarriersAre) {
  TaskCuts cuts(seen_, descriptor_);
  cuts.on_barrier(0, 3, 10);
  cuts.on_barrier(1, 3, 20);
  cuts.on_snapshot(3, false, readers_);
  ASSERT_EQ(seen_.cuts.size(), 2u);
  EXPECT_EQ(seen_.subpartitions, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(seen_.cuts[0].consumed, 10);
  EXPECT_EQ(seen_.cuts[1].consumed, 20);
}

TEST_F(TwoChannels, ARecordBehindABarrierStopsTheRun) {
  TaskCuts cuts(seen_, descriptor_);
  cuts.on_barrier(0, 3, 10);
  readers_[0].received(buffer_of(1, 2));
  cuts.on_barrier(1, 3, 20);
  EXPECT_THROW(cuts.on_snapshot(3, false, readers_), InvariantViolation);
}

TEST_F(TwoChannels, WhatAnUnalignedSnapshotLeavesBehindIsNotConsumed) {
  TaskCuts cuts(seen_, descriptor_);
  readers_[1].set_next_buffer(buffer_of(20, 1));
  cuts.on_barrier(0, 3, 10);
  cuts.on_snapshot(3, true, readers_);
  EXPECT_EQ(seen_.cuts[1].consumed, 0);
}

TEST_F(TwoChannels, HalfARecordAtAnAlignedBarrierStopsTheRun) {
  TaskCuts cuts(seen_, descriptor_);
  readers_[1].set_next_buffer(buffer_of(20, 1));
  cuts.on_barrier(1, 3, 20);
  EXPECT_THROW(cuts.on_snapshot(3, false, readers_), InvariantViolation);
}

TEST_F(TwoChannels, AtLeastOnceHasNoCuts) {
  descriptor_.config.mode = CheckpointingMode::AT_LEAST_ONCE;
  TaskCuts cuts(seen_, descriptor_);
  cuts.on_barrier(0, 3, 10);
  readers_[0].received(buffer_of(1, 2));
  EXPECT_NO_THROW(cuts.on_snapshot(3, false, readers_));
  EXPECT_TRUE(seen_.cuts.empty());
}

TEST_F(TwoChannels, WhatTheWriterIsGivenIsCounted) {
  TaskCuts cuts(seen_, descriptor_);
  const auto writer = cuts.watch(std::make_unique<NoChannelStateWriter>());
  std::vector<Buffer> data;
  data.push_back(buffer_of(7, 0));
  data.push_back(buffer_of(9, 0));
  writer->add_input_data(3, {1, 0}, ChannelStateWriter::kSequenceNumberUnknown, std::move(data));
  EXPECT_EQ(seen_.input_state, 16);
}

}  // namespace
}  // namespace tailrace::engine
