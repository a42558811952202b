#include "engine/network/network_gauges.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/channel_selector.hpp"
#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/single_input_gate.hpp"
#include "tests/engine/network/test_world.hpp"

namespace tailrace::engine {
namespace {

using testing::TestProcess;
using testing::TestWorld;

class ToTheFirst final : public ChannelSelector {
 public:
  std::int32_t select(const Record&) override { return 0; }
};

constexpr ResultPartitionId kPartition{0, 0, {100}};

// A producer of one subpartition and a gate that reads it, wherever they are. Buffers of 32 KiB, 2
// exclusive and 8 floating ones.
class NetworkGauges : public ::testing::Test {
 protected:
  void connect(TestProcess& producer, TestProcess& consumer) {
    partitions_.push_back(producer.network().create_partition(
        {kPartition, 1, PartitionerKind::kHash, RecordType::kStringLong}));
    writer_ = std::make_unique<RecordWriter>(*partitions_.back(), RecordType::kStringLong,
                                             std::make_unique<ToTheFirst>(), Duration::millis(100),
                                             producer.ports());
    InputGateDescriptor descriptor;
    descriptor.type = RecordType::kStringLong;
    descriptor.channels.push_back({kPartition, 0, producer.ports().self});
    gates_.push_back(consumer.network().create_gate(
        descriptor, [](const std::string& reason) { FAIL() << reason; }));
    gates_.back()->request_partitions();
    world_.run_for(Duration::millis(10));
  }
  // A buffer for each record, as long as there are any, and time to send it.
  void write(std::int32_t buffers) {
    const std::string text(32768 - 24, 'x');  // which its frame makes up to a whole one
    for (std::int32_t i = 0; i < buffers && writer_->is_available(); ++i) {
      writer_->emit({text, 0, world_.now()});
      writer_->publish();
      writer_->flush_all();
      world_.run_for(Duration::millis(10));
    }
  }
  TestWorld world_;
  std::vector<std::unique_ptr<ResultPartition>> partitions_;
  std::vector<std::unique_ptr<SingleInputGate>> gates_;
  std::unique_ptr<RecordWriter> writer_;
};

TEST_F(NetworkGauges, ARemoteGateUsesWhatItHasReceivedAndNotWhatIsOnlyTaken) {
  TestProcess& left = world_.start_process();
  connect(left, world_.start_process());
  EXPECT_EQ(in_pool_usage(gates_), 0.0F);
  EXPECT_EQ(input_queue_length(gates_), 0);
  write(1);
  EXPECT_EQ(input_queue_length(gates_), 1);
  // Of two exclusive and eight floating ones.
  EXPECT_EQ(in_pool_usage(gates_), 1.0F / 10.0F);
  write(100);
  EXPECT_EQ(input_queue_length(gates_), 10);
  EXPECT_EQ(input_exclusive_buffers_usage(gates_), 1.0F);
  EXPECT_EQ(input_floating_buffers_usage(gates_), 1.0F);
  EXPECT_EQ(in_pool_usage(gates_), 1.0F);
  EXPECT_EQ(output_queue_length(partitions_), 10);
  EXPECT_EQ(out_pool_usage(partitions_), 1.0F);

  while (gates_[0]->poll_next()) {
  }
  EXPECT_EQ(input_queue_length(gates_), 0);
  EXPECT_EQ(input_exclusive_buffers_usage(gates_), 0.0F);
  EXPECT_EQ(input_floating_buffers_usage(gates_), 0.0F);
}

TEST_F(NetworkGauges, AHeldBufferIsUsedButNotQueued) {
  TestProcess& left = world_.start_process();
  connect(left, world_.start_process());
  write(2);
  const std::optional<BufferOrEvent> held = gates_[0]->poll_next();
  ASSERT_TRUE(held && held->is_buffer());
  const std::optional<BufferOrEvent> second = gates_[0]->poll_next();
  EXPECT_EQ(input_queue_length(gates_), 0);
  EXPECT_EQ(in_pool_usage(gates_), second ? 0.2F : 0.1F);
}

TEST_F(NetworkGauges, ALocalGateHasNoBuffersAndCountsTheSendersQueue) {
  TestProcess& both = world_.start_process();
  connect(both, both);
  write(3);
  EXPECT_EQ(in_pool_usage(gates_), 0.0F);
  EXPECT_EQ(input_exclusive_buffers_usage(gates_), 0.0F);
  EXPECT_EQ(output_queue_length(partitions_), 3);
  EXPECT_EQ(input_queue_length(gates_), 3);
  EXPECT_EQ(out_pool_usage(partitions_), 0.3F);
}

TEST_F(NetworkGauges, AReleasedPartitionUsesNothing) {
  TestProcess& both = world_.start_process();
  connect(both, both);
  write(3);
  writer_->close();
  partitions_[0]->release();
  EXPECT_EQ(out_pool_usage(partitions_), 0.0F);
  EXPECT_EQ(output_queue_length(partitions_), 0);
  EXPECT_EQ(out_pool_usage({}), 0.0F);
  EXPECT_EQ(in_pool_usage({}), 0.0F);
}

TEST_F(NetworkGauges, TheTimeToConsumeIsTheSlowestGates) {
  BufferDebloater fast({}, 32768);
  BufferDebloater slow({}, 32768);
  const std::array<const BufferDebloater*, 2> both{&fast, &slow};
  EXPECT_EQ(estimated_time_to_consume_buffers_ms(both), 0);
  fast.recalculate_buffer_size(1'000'000'000, 10);
  slow.recalculate_buffer_size(100'000, 20);
  EXPECT_EQ(estimated_time_to_consume_buffers_ms(both), 6024);
}

}  // namespace
}  // namespace tailrace::engine
