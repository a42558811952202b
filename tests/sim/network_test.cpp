#include "sim/network.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms

constexpr BytesPerSecond kGigabyte{1'000'000'000};  // a byte a nanosecond
constexpr Duration kLatency = 100_us;
constexpr std::int64_t kBuffer = 32'768;

class Networks : public testing::Test {
 protected:
  void add_hosts(int count, BytesPerSecond bandwidth = kGigabyte) {
    for (int i = 0; i < count; ++i) network_.add_host({bandwidth, bandwidth});
  }
  FlowId open(std::int32_t from, std::int32_t to) { return network_.open_flow({from}, {to}); }
  // Keeps when each message was delivered.
  void send(FlowId flow, std::int64_t bytes, std::vector<std::int64_t>* delivered) {
    network_.send(flow, bytes, {}, [this, delivered] { delivered->push_back(now()); });
  }
  [[nodiscard]] std::int64_t now() const { return simulation_.now().ns; }

  Simulation simulation_;
  Network network_{simulation_, kLatency, 10_us};
};

TEST_F(Networks, DeliverOneMessageAfterItsBytesOverTheBandwidthAndTheLatency) {
  add_hosts(2);
  std::int64_t written = 0;
  std::int64_t delivered = 0;
  network_.send(
      open(0, 1), kBuffer, [&] { written = now(); }, [&] { delivered = now(); });
  simulation_.run();
  EXPECT_EQ(written, kBuffer);
  EXPECT_EQ(delivered, kBuffer + kLatency.ns);
}

TEST_F(Networks, TakeTheSlowerOfTwoInterfacesOnTheWay) {
  network_.add_host({kGigabyte, kGigabyte});
  network_.add_host({{250'000'000}, {250'000'000}});
  std::vector<std::int64_t> down;
  std::vector<std::int64_t> up;
  send(open(0, 1), kBuffer, &down);
  send(open(1, 0), kBuffer, &up);
  simulation_.run();
  EXPECT_EQ(down, std::vector<std::int64_t>{4 * kBuffer + kLatency.ns});
  EXPECT_EQ(up, std::vector<std::int64_t>{4 * kBuffer + kLatency.ns});
}

TEST_F(Networks, GiveAStreamTheWholeBandwidthHoweverOddItIs) {
  const BytesPerSecond odd{1'180'000'007};
  add_hosts(2, odd);
  std::vector<std::int64_t> delivered;
  const FlowId flow = open(0, 1);
  for (int i = 0; i < 10'000; ++i) send(flow, 1'001, &delivered);
  simulation_.run();
  ASSERT_EQ(delivered.size(), 10'000U);
  const std::int64_t exact = odd.time_for(10'010'000).ns + kLatency.ns;
  EXPECT_GE(delivered.back(), exact);
  EXPECT_LE(delivered.back(), exact + 1);
  EXPECT_TRUE(std::is_sorted(delivered.begin(), delivered.end()));
}

TEST_F(Networks, DeliverMessagesOfDifferentSizesEachInItsOwnTime) {
  network_.add_host({kGigabyte, kGigabyte});
  network_.add_host({kGigabyte, {100'000'000}});  // ten nanoseconds a byte
  std::vector<std::int64_t> delivered;
  const FlowId flow = open(0, 1);
  for (const std::int64_t bytes : {1000, 10, 500}) send(flow, bytes, &delivered);
  simulation_.run();
  const std::int64_t first = kLatency.ns + 10'000;
  EXPECT_EQ(delivered, (std::vector<std::int64_t>{first, first + 100, first + 5'100}));
}

TEST_F(Networks, ShareASendersInterfaceEquallyByBytesWhateverTheSizesOfMessages) {
  add_hosts(3);
  std::vector<std::int64_t> large;
  std::vector<std::int64_t> small;
  const FlowId to_first = open(0, 1);
  const FlowId to_second = open(0, 2);
  for (int i = 0; i < 100; ++i) send(to_first, kBuffer, &large);
  for (int i = 0; i < 1600; ++i) send(to_second, kBuffer / 16, &small);
  simulation_.run(Time{50 * kBuffer + kLatency.ns});
  const auto large_bytes = static_cast<std::int64_t>(large.size()) * kBuffer;
  const auto small_bytes = static_cast<std::int64_t>(small.size()) * (kBuffer / 16);
  EXPECT_LE(std::abs(large_bytes - 25 * kBuffer), kBuffer);
  EXPECT_LE(std::abs(small_bytes - 25 * kBuffer), kBuffer);
  simulation_.run();
  EXPECT_EQ(std::max(large.back(), small.back()), 200 * kBuffer + kLatency.ns);
}

TEST_F(Networks, LetASmallMessageOfAnIdleFlowPassAQueueOfLargeOnes) {
  add_hosts(2);
  std::vector<std::int64_t> bulk;
  std::vector<std::int64_t> credit;
  for (int flow = 0; flow < 64; ++flow) {
    const FlowId id = open(0, 1);
    for (int i = 0; i < 10; ++i) send(id, kBuffer, &bulk);
  }
  const FlowId announcements = open(0, 1);
  simulation_.schedule(Duration{100 * kBuffer}, [&] { send(announcements, 20, &credit); });
  simulation_.run();
  ASSERT_EQ(credit.size(), 1U);
  // It may wait for the message in service at either interface, not for the round of 64.
  EXPECT_LE(credit[0] - 100 * kBuffer, kLatency.ns + 3 * kBuffer);
}

TEST_F(Networks, ShareAReceiversInterfaceEquallyInAnIncastOf64) {
  add_hosts(65);
  std::vector<std::vector<std::int64_t>> delivered(64);
  for (std::int32_t sender = 0; sender < 64; ++sender) {
    const FlowId flow = open(sender, 64);
    for (int i = 0; i < 20; ++i) send(flow, kBuffer, &delivered[static_cast<std::size_t>(sender)]);
  }
  simulation_.run(Time{64 * 10 * kBuffer + kLatency.ns});
  for (const auto& of_sender : delivered) {
    EXPECT_GE(of_sender.size(), 9U);
    EXPECT_LE(of_sender.size(), 11U);
  }
  simulation_.run();
  EXPECT_EQ(now(), 64 * 20 * kBuffer + kLatency.ns);  // the last byte of the last message
  EXPECT_EQ(network_.bytes_received({64}), 64 * 20 * kBuffer);
}

TEST_F(Networks, DoNotLetASlowSenderHoldUpTheReceiver) {
  network_.add_host({{10'000'000}, kGigabyte});  // a hundredth
  add_hosts(2);
  std::vector<std::int64_t> slow;
  std::vector<std::int64_t> fast;
  send(open(0, 2), kBuffer, &slow);
  const FlowId flow = open(1, 2);
  for (int i = 0; i < 50; ++i) send(flow, kBuffer, &fast);
  simulation_.run();
  EXPECT_EQ(fast.back(), 50 * kBuffer + kLatency.ns);
  EXPECT_EQ(slow.back(), 100 * kBuffer + kLatency.ns);
}

TEST_F(Networks, FinishAnAllToAllOf64HostsAtFullBandwidthWithThreeEventsAMessage) {
  constexpr std::int32_t kHosts = 64;
  constexpr int kMessages = 8;
  add_hosts(kHosts);
  std::uint64_t delivered = 0;
  for (std::int32_t from = 0; from < kHosts; ++from) {
    for (std::int32_t to = 0; to < kHosts; ++to) {
      if (from == to) continue;
      const FlowId flow = open(from, to);
      for (int i = 0; i < kMessages; ++i) network_.send(flow, kBuffer, {}, [&] { ++delivered; });
    }
  }
  simulation_.run();
  constexpr std::uint64_t kAll = std::uint64_t{kHosts} * (kHosts - 1) * kMessages;
  EXPECT_EQ(delivered, kAll);
  EXPECT_EQ(simulation_.events_processed(), 3 * kAll);
  // Each interface has (kHosts - 1) * kMessages buffers to pass; senders that all serve their flows
  // in the same order meet at the receivers, which costs each receiver a round at most.
  const std::int64_t ideal = (kHosts - 1) * kMessages * kBuffer + kLatency.ns;
  EXPECT_GE(now(), ideal);
  EXPECT_LE(now(), ideal + (kHosts - 1) * kBuffer);
  for (std::int32_t host = 0; host < kHosts; ++host) {
    EXPECT_EQ(network_.bytes_sent({host}), (kHosts - 1) * kMessages * kBuffer);
  }
}

TEST_F(Networks, DropWhatAClosedFlowHasOnTheWayAndServeTheOthersAtOnce) {
  add_hosts(2);
  auto token = std::make_shared<int>(0);
  const FlowId closed = open(0, 1);
  const FlowId open_flow = open(0, 1);
  std::vector<std::int64_t> delivered;
  for (int i = 0; i < 10; ++i) {
    network_.send(
        closed, kBuffer, [token] { ++*token; }, [token] { *token += 100; });
  }
  send(open_flow, 1000 * kBuffer, &delivered);
  // Some are delivered by then, some in flight, some queued, one is being sent.
  const Duration moment{kLatency.ns + kBuffer + 10};
  simulation_.schedule(moment, [&] {
    EXPECT_EQ(*token, 100 + 4);
    EXPECT_EQ(network_.undelivered(closed), 9U);
    network_.close_flow(closed);
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_FALSE(network_.is_open(closed));
    network_.close_flow(closed);
  });
  simulation_.run();
  EXPECT_EQ(*token, 104);
  EXPECT_EQ(delivered, std::vector<std::int64_t>{moment.ns + 1000 * kBuffer + kLatency.ns});
  EXPECT_THROW(network_.send(closed, 1, {}, {}), base::InvariantViolation);
  // Its place is given out again, under another id.
  const FlowId next = open(1, 0);
  EXPECT_NE(next, closed);
  send(next, kBuffer, &delivered);
  simulation_.run();
  EXPECT_EQ(delivered.size(), 2U);
}

TEST_F(Networks, MayBeClosedFromWithinADelivery) {
  add_hosts(2);
  const FlowId flow = open(0, 1);
  int delivered = 0;
  for (int i = 0; i < 5; ++i) {
    network_.send(flow, kBuffer, {}, [&] {
      if (++delivered == 2) network_.close_flow(flow);
    });
  }
  EXPECT_EQ(simulation_.run(), RunEnd::kIdle);
  EXPECT_EQ(delivered, 2);
  EXPECT_EQ(now(), 2 * kBuffer + kLatency.ns);
}

TEST_F(Networks, KeepAFlowsOrderWhenItsLatencyShrinks) {
  add_hosts(2);
  network_.set_latency({0}, {1}, 1_ms);
  EXPECT_EQ(network_.latency({0}, {1}), 1_ms);
  EXPECT_EQ(network_.latency({1}, {0}), kLatency);
  const FlowId flow = open(0, 1);
  std::vector<std::int64_t> order;
  network_.send(flow, 1000, {}, [&] { order.push_back(1); });
  simulation_.schedule(2_us, [&] {
    network_.set_latency({0}, {1}, 0_ms);
    network_.send(flow, 10, {}, [&] { order.push_back(2); });
  });
  simulation_.run();
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(now(), 1'000'000 + 1000 + 10);
}

TEST_F(Networks, PassNoInterfaceWithinOneHost) {
  add_hosts(1, {1});  // would take hours
  const FlowId flow = open(0, 0);
  std::vector<std::int64_t> log;
  for (int i = 0; i < 2; ++i) {
    network_.send(
        flow, kBuffer, [&] { log.push_back(now()); }, [&] { log.push_back(now()); });
  }
  EXPECT_TRUE(log.empty());
  simulation_.run();
  EXPECT_EQ(log, (std::vector<std::int64_t>{0, 0, 10'000, 10'000}));
  const FlowId closed = open(0, 0);
  network_.send(
      closed, 1, [&] { log.push_back(-1); }, [&] { log.push_back(-1); });
  network_.close_flow(closed);
  EXPECT_EQ(simulation_.pending(), 0U);
}

}  // namespace
}  // namespace tailrace::sim
