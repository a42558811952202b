// Whole stacks in a small world: writers, subpartitions, connections, gates, readers.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/record_deserializer.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/remote_input_channel.hpp"
#include "tests/engine/network/test_world.hpp"

namespace tailrace::engine {
namespace {

using testing::TestProcess;
using testing::TestWorld;

// Sends every record where its number says.
class ByNumber final : public ChannelSelector {
 public:
  std::int32_t select(const Record& record) override {
    return static_cast<std::int32_t>(record.number);
  }
};

// Segments that are neither in the pool of the partition nor in the global one.
std::int32_t segments_in_use(ResultPartition& partition) {
  return partition.buffer_pool().requested() - partition.buffer_pool().free_segments();
}

std::string padding(std::int32_t to) {
  return std::string(to % 2 == 0 ? 0 : 200, '.');
}

ResultPartitionId partition_id(std::int32_t producer) {
  return {0, producer, {static_cast<std::uint64_t>(100 + producer)}};
}

// One producer subtask with a writer.
struct Producer {
  Producer(TestProcess& process, std::int32_t index, std::int32_t subpartitions,
           Duration buffer_timeout = Duration::millis(100),
           std::unique_ptr<ChannelSelector> selector = std::make_unique<ByNumber>())
      : partition(process.network().create_partition(
            {partition_id(index), subpartitions, PartitionerKind::kHash, RecordType::kStringLong})),
        writer(std::make_unique<RecordWriter>(*partition, RecordType::kStringLong,
                                              std::move(selector), buffer_timeout,
                                              process.ports())) {}
  std::unique_ptr<ResultPartition> partition;
  std::unique_ptr<RecordWriter> writer;
};

// One consumer subtask that reads whatever comes, unless it is told to stop.
struct Consumer {
  Consumer(TestProcess& home, std::int32_t index, const std::vector<ProcessId>& producers)
      : process(home) {
    InputGateDescriptor descriptor;
    descriptor.type = RecordType::kStringLong;
    for (std::size_t i = 0; i < producers.size(); ++i) {
      descriptor.channels.push_back(
          {partition_id(static_cast<std::int32_t>(i)), index, producers[i]});
      readers.emplace_back(RecordType::kStringLong);
    }
    texts.resize(producers.size());
    gate = process.network().create_gate(
        descriptor, [this](const std::string& reason) { failures.push_back(reason); });
    gate->set_availability_listener([this] { wake(); });
  }

  void wake() {
    if (!reading || scheduled) return;
    scheduled = true;
    process.schedule(Duration{0}, lifeline.bind([this] {
      scheduled = false;
      read();
    }));
  }

  void read() {
    while (reading) {
      std::optional<BufferOrEvent> next = gate->poll_next();
      if (!next) return;
      const auto channel = static_cast<std::size_t>(next->channel);
      if (!next->is_buffer()) {
        events.push_back(next->event());
        continue;
      }
      Buffer buffer = std::move(std::get<0>(next->item));
      bytes += buffer.size();
      ++buffers;
      if (keep) {
        kept.push_back(std::move(buffer));
        continue;
      }
      readers[channel].set_next_buffer(std::move(buffer));
      Record record;
      while (readers[channel].next(record)) {
        texts[channel].emplace_back(record.text);
        ++records;
      }
    }
  }

  TestProcess& process;
  std::unique_ptr<SingleInputGate> gate;
  std::vector<RecordDeserializer> readers;
  std::vector<std::vector<std::string>> texts;
  std::vector<RuntimeEvent> events;
  std::vector<std::string> failures;
  std::vector<Buffer> kept;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  std::int64_t buffers = 0;
  bool reading = true;
  bool keep = false;
  bool scheduled = false;
  base::Lifeline lifeline;
};

// A writer that always has more to say, for `until`. One slice is one record.
struct Flood {
  Flood(TestProcess& home, RecordWriter& target, std::string content)
      : process(home), writer(target), text(std::move(content)) {
    writer.set_availability_listener([this] { wake(); });
    wake();
  }
  void wake() {
    if (scheduled) return;
    scheduled = true;
    process.schedule(Duration{0}, [this] {
      scheduled = false;
      while (writer.is_available() && sent < limit) {
        writer.emit({text, 0, process.now()});
        ++sent;
      }
      writer.publish();
    });
  }
  TestProcess& process;
  RecordWriter& writer;
  std::string text;
  std::int64_t sent = 0;
  std::int64_t limit = 1'000'000'000;
  bool scheduled = false;
};

TEST(Transfer, SixtyFourBySixtyFourDeliversEverythingInOrderAndAllBuffersComeHome) {
  NetworkConfig config;
  config.segment_bytes = 1024;
  config.network_memory_bytes = std::int64_t{1024} * 12'000;
  TestWorld world(config);
  constexpr std::int32_t kParallelism = 64;
  std::vector<TestProcess*> processes;
  std::vector<ProcessId> homes;
  for (int i = 0; i < 4; ++i) processes.push_back(&world.start_process());
  for (std::size_t i = 0; i < kParallelism; ++i) homes.push_back(processes[i / 16]->ports().self);
  {
    std::vector<std::unique_ptr<Producer>> producers;
    std::vector<std::unique_ptr<Consumer>> consumers;
    for (std::int32_t i = 0; i < kParallelism; ++i) {
      TestProcess& process = *processes[static_cast<std::size_t>(i) / 16];
      producers.push_back(std::make_unique<Producer>(process, i, kParallelism));
      consumers.push_back(std::make_unique<Consumer>(process, i, homes));
    }
    for (const auto& consumer : consumers) consumer->gate->request_partitions();
    std::int64_t sent = 0;
    for (int round = 0; round < 20; ++round) {
      for (std::int32_t i = 0; i < kParallelism; ++i) {
        RecordWriter& writer = *producers[static_cast<std::size_t>(i)]->writer;
        for (std::int32_t to = 0; to < kParallelism; ++to) {
          // Every second record spans buffers now and then.
          const std::string text = std::to_string(i) + ">" + std::to_string(to) + "#" +
                                   std::to_string(round) + padding(to);
          writer.emit({text, to, world.now()});
          ++sent;
        }
        writer.publish();
      }
      world.run_for(Duration::millis(2));
    }
    world.run_for(Duration::millis(300));
    for (const auto& producer : producers) {
      ASSERT_FALSE(producer->writer->is_blocked());
      producer->writer->broadcast_event(CheckpointBarrier{1, 2, {}});
      producer->writer->broadcast_event(EndOfPartitionEvent{});
    }
    world.run_for(Duration::millis(300));

    std::int64_t received = 0;
    for (std::int32_t to = 0; to < kParallelism; ++to) {
      const Consumer& consumer = *consumers[static_cast<std::size_t>(to)];
      received += consumer.records;
      EXPECT_TRUE(consumer.gate->is_finished());
      EXPECT_TRUE(consumer.failures.empty());
      EXPECT_EQ(consumer.events.size(), 2U * kParallelism);
      for (std::int32_t from = 0; from < kParallelism; ++from) {
        const auto& texts = consumer.texts[static_cast<std::size_t>(from)];
        ASSERT_EQ(texts.size(), 20U);
        for (int round = 0; round < 20; ++round) {
          ASSERT_EQ(texts[static_cast<std::size_t>(round)],
                    std::to_string(from) + ">" + std::to_string(to) + "#" + std::to_string(round) +
                        padding(to));
        }
      }
    }
    EXPECT_EQ(received, sent);
    EXPECT_GT(world.bytes_to_clients, 0);
    for (TestProcess* process : processes) {
      EXPECT_EQ(process->network().client_connections(), 0U);
      EXPECT_EQ(process->network().server_connections(), 0U);
    }
  }
  for (TestProcess* process : processes) {
    EXPECT_EQ(process->network().outstanding_segments(), 0);
  }
}

NetworkConfig config_120() {
  NetworkConfig config;
  config.semantics = &network_semantics_120();
  return config;
}

// 1.20: nothing passes an aligned barrier before the receiver says so; then everything does. The
// consumer has a local and a remote channel.
TEST(Transfer, AnAlignedBarrierStopsItsSenderUntilTheReceiverResumesIt) {
  TestWorld world(config_120());
  world.latency = Duration::millis(5);
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  {
    Producer remote(left, 0, 1);
    Producer local(right, 1, 1);
    Consumer consumer(right, 0, {left.ports().self, right.ports().self});
    consumer.gate->request_partitions();
    for (Producer* producer : {&remote, &local}) {
      producer->writer->emit({"before", 0, world.now()});
      producer->writer->broadcast_event(CheckpointBarrier{1, 2, {}});
      producer->writer->emit({"behind", 0, world.now()});
      producer->writer->broadcast_event(CancelCheckpointMarker{7});
      producer->writer->flush_all();
    }
    world.run_for(Duration::seconds(1));
    for (const std::vector<std::string>& texts : consumer.texts) {
      EXPECT_EQ(texts, std::vector<std::string>{"before"});
    }
    EXPECT_EQ(consumer.events.size(), 2U);
    for (Producer* producer : {&remote, &local}) {
      EXPECT_TRUE(producer->partition->subpartition(0).is_blocked());
      EXPECT_EQ(producer->partition->subpartition(0).buffers_in_backlog(), 0);
    }

    consumer.gate->resume_consumption(1);
    world.run_for(Duration::millis(1));
    EXPECT_EQ(consumer.texts[1].size(), 2U) << "a local sender goes on at once";
    consumer.gate->resume_consumption(0);
    world.run_for(Duration::millis(9));
    EXPECT_EQ(consumer.texts[0].size(), 1U) << "there and back again takes two latencies";
    world.run_for(Duration::millis(10));
    EXPECT_EQ(consumer.texts[0], (std::vector<std::string>{"before", "behind"}));
    EXPECT_EQ(consumer.events.size(), 4U);

    for (Producer* producer : {&remote, &local}) {
      producer->writer->broadcast_event(EndOfPartitionEvent{});
    }
    world.run_for(Duration::seconds(1));
    EXPECT_TRUE(consumer.gate->is_finished());
    EXPECT_TRUE(consumer.failures.empty());
  }
  for (TestProcess* process : {&left, &right}) {
    EXPECT_EQ(process->network().outstanding_segments(), 0);
  }
}

TEST(Transfer, AProducerLearnsWhenAllItsRecordsHaveBeenProcessed) {
  TestWorld world(config_120());
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 2);
  Consumer remote(right, 0, {left.ports().self});
  Consumer local(left, 1, {left.ports().self});
  remote.gate->request_partitions();
  local.gate->request_partitions();
  int told = 0;
  producer.partition->set_all_data_processed_hook([&told] { ++told; });
  producer.writer->broadcast_event(EndOfData{false});
  world.run_for(Duration::seconds(1));
  ASSERT_EQ(remote.events, std::vector<RuntimeEvent>{EndOfData{false}});
  ASSERT_EQ(local.events, std::vector<RuntimeEvent>{EndOfData{false}});
  local.gate->acknowledge_all_records_processed(0);
  world.run_for(Duration::seconds(1));
  EXPECT_FALSE(producer.partition->all_data_processed());
  remote.gate->acknowledge_all_records_processed(0);
  world.run_for(Duration::seconds(1));
  EXPECT_TRUE(producer.partition->all_data_processed());
  EXPECT_EQ(told, 1);
}

// With c credits of s bytes each and a round trip of r, no more than c * s bytes arrive in any r:
// the throughput is c * s / r, whatever the bandwidth. The sender is not told of its last
// announcement before one buffer has crossed and one credit has come back.
TEST(Transfer, ThroughputIsCreditsTimesSizeOverRoundTrip) {
  NetworkConfig config;
  config.exclusive_per_channel = 3;
  config.floating_per_gate = 5;
  TestWorld world(config);
  world.latency = Duration::millis(10);
  world.bytes_per_second = 100'000'000'000;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1);
  Consumer consumer(right, 0, {left.ports().self});
  consumer.gate->request_partitions();
  Flood flood(left, *producer.writer, std::string(1000, 'x'));
  world.run_for(Duration::seconds(1));
  const std::int64_t before = consumer.bytes;
  world.run_for(Duration::seconds(10));
  // The queue at the sender is always long enough for all floating buffers to be asked for.
  const double credits = 3 + 5;
  const double expected = credits * 32768 / 0.020 * 10;
  EXPECT_NEAR(static_cast<double>(consumer.bytes - before) / expected, 1.0, 0.02);
  flood.limit = 0;
}

TEST(Transfer, ABlockedConsumerStopsTheProducerWithEveryQueueFull) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1);
  Consumer consumer(right, 0, {left.ports().self});
  consumer.reading = false;
  consumer.gate->request_partitions();
  Flood flood(left, *producer.writer, std::string(1000, 'x'));
  world.run_for(Duration::seconds(1));
  EXPECT_FALSE(producer.writer->is_available());
  // 2 exclusive and 8 floating buffers there, 2 * 1 + 8 segments here.
  EXPECT_EQ(consumer.gate->queued_buffers(0), 10);
  EXPECT_EQ(consumer.gate->queued_bytes(0), 10 * 32768);
  EXPECT_EQ(left.network().outstanding_segments(), 10);
  const std::int64_t stuck_at = flood.sent;
  world.run_for(Duration::seconds(10));
  EXPECT_EQ(flood.sent, stuck_at);

  consumer.reading = true;
  consumer.wake();
  flood.limit = stuck_at + 1000;
  world.run_for(Duration::seconds(10));
  EXPECT_EQ(flood.sent, stuck_at + 1000);
  EXPECT_EQ(consumer.records, stuck_at + 1000);
  EXPECT_FALSE(producer.writer->is_blocked());
}

// Inside a record the writer keeps the rest, and what is emitted behind it, and goes on by itself.
TEST(Transfer, ARecordLargerThanThePoolGetsThroughInPieces) {
  NetworkConfig config;
  config.segment_bytes = 256;
  config.network_memory_bytes = 256 * 100;
  TestWorld world(config);
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1);
  Consumer consumer(right, 0, {left.ports().self});
  consumer.gate->request_partitions();
  std::string large;
  for (int i = 0; i < 20'000; ++i) large += static_cast<char>('a' + i % 26);
  producer.writer->emit({large, 0, {}});
  EXPECT_TRUE(producer.writer->is_blocked());
  EXPECT_FALSE(producer.writer->is_available());
  producer.writer->emit({"behind", 0, {}});
  producer.writer->publish();
  world.run_for(Duration::seconds(1));
  EXPECT_FALSE(producer.writer->is_blocked());
  ASSERT_EQ(consumer.texts[0].size(), 2U);
  EXPECT_EQ(consumer.texts[0][0], large);
  EXPECT_EQ(consumer.texts[0][1], "behind");
}

TEST(Transfer, ALocalChannelReadsTheProducersOwnSegmentsWithoutASingleMessage) {
  TestWorld world;
  TestProcess& both = world.start_process();
  Producer producer(both, 0, 1);
  Consumer consumer(both, 0, {both.ports().self});
  consumer.keep = true;
  consumer.gate->request_partitions();
  Flood flood(both, *producer.writer, std::string(1000, 'x'));
  world.run_for(Duration::seconds(1));
  EXPECT_EQ(world.bytes_to_clients + world.bytes_to_servers, 0);
  EXPECT_FALSE(producer.writer->is_available());
  EXPECT_EQ(both.network().outstanding_segments(), 10);
  flood.limit = 0;
  consumer.kept.clear();
  world.run_for(Duration::seconds(1));
  EXPECT_TRUE(producer.writer->is_available());
}

TEST(Transfer, ReadersAreNotToldBeforeTheSliceIsPublished) {
  TestWorld world;
  TestProcess& both = world.start_process();
  Producer producer(both, 0, 1);
  Consumer consumer(both, 0, {both.ports().self});
  consumer.gate->request_partitions();
  for (int i = 0; i < 100; ++i) producer.writer->emit({std::string(1000, 'x'), 0, {}});
  world.run_for(Duration::millis(250));
  EXPECT_EQ(consumer.records, 0);
  producer.writer->publish();
  world.run_for(Duration::millis(1));
  // Two flush periods have passed: the flush that was due took effect with the publish.
  EXPECT_EQ(consumer.records, 100);
}

TEST(Transfer, ALoneRecordLeavesWithTheFlushTimer) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1, Duration::millis(50));
  Consumer consumer(right, 0, {left.ports().self});
  consumer.gate->request_partitions();
  producer.writer->emit({"lone", 0, {}});
  producer.writer->publish();
  world.run_until(Time{} + Duration::millis(49));
  EXPECT_EQ(consumer.records, 0);
  world.run_until(Time{} + Duration::millis(51));
  EXPECT_EQ(consumer.records, 1);
}

TEST(Transfer, ABufferTimeoutOfZeroFlushesWithEveryPublish) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 2, Duration{0});
  Consumer consumer(right, 1, {left.ports().self});
  consumer.gate->request_partitions();
  world.run_for(Duration::millis(1));
  producer.writer->emit({"one", 1, {}});
  producer.writer->publish();
  world.run_for(Duration::millis(1));
  EXPECT_EQ(consumer.records, 1);
}

TEST(Transfer, ABroadcastSharesOneSegmentAmongAllSubpartitions) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(
      left, 0, 64, Duration::millis(100),
      make_channel_selector(
          {.kind = PartitionerKind::kBroadcast, .channels = 64, .random_stream = {}}));
  std::vector<std::unique_ptr<Consumer>> consumers;
  for (std::int32_t i = 0; i < 64; ++i) {
    consumers.push_back(
        std::make_unique<Consumer>(right, i, std::vector<ProcessId>{left.ports().self}));
    consumers.back()->gate->request_partitions();
  }
  producer.writer->emit({"to all", 0, {}});
  producer.writer->publish();
  EXPECT_EQ(segments_in_use(*producer.partition), 1);
  world.run_for(Duration::millis(200));
  producer.writer->broadcast_event(CancelCheckpointMarker{3});
  world.run_for(Duration::millis(10));
  EXPECT_EQ(segments_in_use(*producer.partition), 0);
  for (const auto& consumer : consumers) {
    EXPECT_EQ(consumer->texts[0], std::vector<std::string>{"to all"});
    EXPECT_EQ(consumer->events, std::vector<RuntimeEvent>{CancelCheckpointMarker{3}});
  }
}

TEST(Transfer, ARequestIsRepeatedUntilThePartitionExists) {
  for (const bool local : {true, false}) {
    TestWorld world;
    TestProcess& left = world.start_process();
    TestProcess& right = local ? left : world.start_process();
    Consumer consumer(right, 0, {left.ports().self});
    consumer.gate->request_partitions();
    world.run_for(Duration::millis(650));  // asked at 0, 100, 300 ms; next at 700
    Producer producer(left, 0, 1);
    producer.writer->emit({"late", 0, {}});
    producer.writer->broadcast_event(CancelCheckpointMarker{1});
    world.run_until(Time{} + Duration::millis(699));
    EXPECT_EQ(consumer.records, 0);
    world.run_until(Time{} + Duration::millis(703));
    EXPECT_EQ(consumer.records, 1);
    EXPECT_TRUE(consumer.failures.empty());
  }
}

TEST(Transfer, APartitionThatNeverAppearsFailsTheGateOnceAfterTheLargestBackoff) {
  for (const bool local : {true, false}) {
    TestWorld world;
    TestProcess& left = world.start_process();
    TestProcess& right = local ? left : world.start_process();
    Consumer consumer(right, 0, {left.ports().self});
    consumer.gate->request_partitions();
    // 100 + 200 + ... + 6400 + 10000 ms.
    world.run_for(Duration::millis(22'699));
    EXPECT_TRUE(consumer.failures.empty());
    world.run_for(Duration::seconds(60));
    EXPECT_EQ(consumer.failures, std::vector<std::string>{"Partition 0#0@100 not found."});
  }
}

TEST(Transfer, TheDeathOfAProducersProcessFailsTheGateOnce) {
  TestWorld world;
  TestProcess& right = world.start_process();
  const ProcessId left_id = world.start_process().ports().self;
  Consumer consumer(right, 0, {left_id, left_id, left_id});
  consumer.gate->request_partitions();
  world.run_for(Duration::millis(50));
  world.kill(left_id);
  world.run_for(Duration::seconds(60));
  EXPECT_EQ(consumer.failures,
            std::vector<std::string>{
                "Connection unexpectedly closed by remote task manager 'process-2'. This might "
                "indicate that the remote task manager was lost."});
  consumer.gate.reset();
  EXPECT_EQ(right.network().outstanding_segments(), 0);
  EXPECT_EQ(right.network().client_connections(), 0U);
}

TEST(Transfer, TheDeathOfAConsumersProcessReleasesItsSubpartitions) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1);
  auto consumer = std::make_unique<Consumer>(right, 0, std::vector{left.ports().self});
  consumer->reading = false;
  consumer->gate->request_partitions();
  Flood flood(left, *producer.writer, std::string(1000, 'x'));
  world.run_for(Duration::seconds(1));
  EXPECT_FALSE(producer.writer->is_available());
  flood.limit = 0;
  consumer.reset();
  world.kill(right.ports().self);
  world.run_for(Duration::seconds(1));
  EXPECT_EQ(left.network().server_connections(), 0U);
  EXPECT_TRUE(producer.partition->is_consumed());
  EXPECT_LE(segments_in_use(*producer.partition), 1);  // the open buffer
}

TEST(Transfer, AGateThatIsDestroyedTakesItsBuffersHomeAndCancelsAtTheProducer) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 2);
  Consumer first(right, 0, {left.ports().self});
  Consumer second(right, 1, {left.ports().self});
  first.gate->request_partitions();
  second.gate->request_partitions();
  Flood flood(left, *producer.writer, std::string(1000, 'x'));
  first.keep = true;
  world.run_for(Duration::millis(100));
  EXPECT_EQ(right.network().client_connections(), 1U);  // shared by both gates
  EXPECT_EQ(first.kept.size(), 10U);
  flood.limit = 0;
  first.gate.reset();
  second.gate.reset();
  world.run_for(Duration::millis(100));
  EXPECT_EQ(right.network().client_connections(), 0U);
  EXPECT_EQ(left.network().server_connections(), 0U);
  EXPECT_EQ(right.network().outstanding_segments(), 10);
  first.kept.clear();  // held longer than the gate and its pool
  EXPECT_EQ(right.network().outstanding_segments(), 0);
}

TEST(Transfer, AKeptPartitionGoesWhenItsReadersHaveHadEverything) {
  TestWorld world;
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer producer(left, 0, 1);
  producer.writer->emit({"last words", 0, {}});
  producer.writer->broadcast_event(EndOfPartitionEvent{});
  producer.writer.reset();
  left.network().keep_until_consumed(std::move(producer.partition));
  EXPECT_EQ(left.network().outstanding_segments(), 1);
  Consumer consumer(right, 0, {left.ports().self});
  consumer.gate->request_partitions();
  world.run_for(Duration::seconds(1));
  EXPECT_EQ(consumer.texts[0], std::vector<std::string>{"last words"});
  EXPECT_TRUE(consumer.gate->is_finished());
  EXPECT_EQ(left.network().outstanding_segments(), 0);
}

TEST(Transfer, TooFewBuffersAreRefusedInFlinksWords) {
  NetworkConfig config;
  config.network_memory_bytes = 10 * config.segment_bytes;
  TestWorld world(config);
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  std::string error;
  EXPECT_EQ(left.network().create_partition({partition_id(0), 10}, &error), nullptr);
  EXPECT_TRUE(error.starts_with(
      "Insufficient number of network buffers: required 11, but only 10 available."))
      << error;
  Consumer consumer(right, 0, std::vector(6, left.ports().self));
  consumer.gate->request_partitions();
  world.run_for(Duration::millis(1));
  ASSERT_EQ(consumer.failures.size(), 1U);
  EXPECT_TRUE(consumer.failures[0].starts_with("Insufficient number of network buffers"));
}

TEST(Transfer, ExclusiveBuffersWaitForAPoolToShrinkAndFailAfterTheTimeout) {
  NetworkConfig config;
  config.network_memory_bytes = 10 * config.segment_bytes;
  TestWorld world(config);
  TestProcess& both = world.start_process();
  TestProcess& other = world.start_process();
  Producer hog(both, 0, 1);
  Flood flood(both, *hog.writer, std::string(1000, 'x'));
  world.run_for(Duration::millis(1));
  EXPECT_EQ(both.network().outstanding_segments(), 10);
  Producer source(other, 1, 1);
  {
    Consumer waiting(both, 0, std::vector{both.ports().self, other.ports().self});
    waiting.gate->request_partitions();
    world.run_for(Duration::millis(29'000));
    EXPECT_TRUE(waiting.failures.empty());
    world.run_for(Duration::millis(2'000));
    ASSERT_EQ(waiting.failures.size(), 1U);
    EXPECT_TRUE(waiting.failures[0].starts_with("Timeout triggered when requesting exclusive"));
  }
  Consumer patient(both, 0, std::vector{both.ports().self, other.ports().self});
  patient.gate->request_partitions();
  flood.limit = 0;
  world.run_for(Duration::millis(500));
  EXPECT_EQ(patient.records, 0);
  hog.writer.reset();
  hog.partition.reset();
  source.writer->emit({"there", 0, {}});
  source.writer->publish();
  world.run_for(Duration::seconds(1));
  EXPECT_EQ(patient.texts[1], std::vector<std::string>{"there"});
}

RC_GTEST_PROP(Transfer, EveryByteArrivesHoweverTheReaderStallsAndHoldsBuffers, ()) {
  NetworkConfig config;
  config.segment_bytes = 64;
  config.network_memory_bytes = 64 * 400;
  config.exclusive_per_channel = *rc::gen::inRange(1, 4);
  config.floating_per_gate = *rc::gen::inRange(1, 9);
  TestWorld world(config);
  TestProcess& left = world.start_process();
  TestProcess& right = world.start_process();
  Producer first(left, 0, 1);
  Producer second(left, 1, 1);
  Consumer consumer(right, 0, {left.ports().self, left.ports().self});
  consumer.keep = true;
  consumer.gate->request_partitions();
  for (int step = 0; step < 30; ++step) {
    RecordWriter& writer = **rc::gen::element(first.writer.get(), second.writer.get());
    const auto count = *rc::gen::inRange(0, 20);
    for (int i = 0; i < count && writer.is_available(); ++i) {
      writer.emit({std::string(30, 'x'), 0, {}});
    }
    writer.publish();
    while (!consumer.kept.empty() && *rc::gen::inRange(0, 3) > 0) {
      consumer.kept.erase(consumer.kept.begin() +
                          *rc::gen::inRange(0, static_cast<int>(consumer.kept.size())));
    }
    consumer.reading = *rc::gen::element(true, true, false);
    consumer.wake();
    world.run_for(Duration::millis(*rc::gen::element(0, 5)));
    std::int64_t held = consumer.gate->queued_buffers(0) + consumer.gate->queued_buffers(1) +
                        static_cast<std::int64_t>(consumer.kept.size());
    RC_ASSERT(held <= 2 * config.exclusive_per_channel + config.floating_per_gate);
  }
  // Not one credit may have been lost or invented on the way.
  consumer.reading = true;
  for (int i = 0; i < 200; ++i) {
    consumer.kept.clear();
    consumer.wake();
    world.run_for(Duration::millis(5));
  }
  consumer.kept.clear();
  world.run_for(Duration::millis(5));
  RC_ASSERT(consumer.bytes == first.writer->bytes_written() + second.writer->bytes_written());
  for (const ChannelIndex index : {0, 1}) {
    const auto& channel = dynamic_cast<const RemoteInputChannel&>(consumer.gate->channel(index));
    RC_ASSERT(channel.unannounced_credit() == 0);
    RC_ASSERT(channel.available_buffers() >= config.exclusive_per_channel);
  }
}

}  // namespace
}  // namespace tailrace::engine
