#include "sim/storage.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr OwnerTag kReader{1};
constexpr OwnerTag kWriter{2};

class Stores : public testing::Test {
 protected:
  // Keeps when a request ended; a failure as a negative time.
  ObjectStore::Done note(std::int64_t* ended) {
    return [this, ended](StorageStatus status) {
      *ended = status == StorageStatus::kOk ? simulation_.now().ns : -simulation_.now().ns;
    };
  }
  void at(Duration time, base::Callback action) { simulation_.schedule(time, std::move(action)); }

  Simulation simulation_;
};

TEST_F(Stores, TakeTheLatencyAndTheBytesOverTheBandwidthOfOneConnection) {
  ObjectStore store(simulation_, {{1000 * kMegabyte}, {7 * kMegabyte}, 30_ms}, 1, "store");
  std::int64_t put = 0;
  std::int64_t touched = 0;
  store.put(kMegabyte, kReader, note(&put));
  store.touch(kReader, note(&touched));
  EXPECT_EQ(put, 0);
  simulation_.run();
  EXPECT_EQ(put, 30'000'000 + 142'857'143);  // rounded up
  EXPECT_EQ(touched, 30'000'000);
  EXPECT_EQ(store.bytes_put(), kMegabyte);
  EXPECT_EQ(store.pending_requests(), 0U);
}

TEST_F(Stores, ShareTheTotalEquallyBetween64Transfers) {
  ObjectStore store(simulation_, {{640 * kMegabyte}, {100 * kMegabyte}, 0_ms}, 1, "store");
  std::vector<std::int64_t> ended(64, 0);
  for (std::int64_t& end : ended) store.get(10 * kMegabyte, kReader, note(&end));
  simulation_.run();
  for (const std::int64_t end : ended) EXPECT_EQ(end, 1'000'000'000);
  EXPECT_EQ(store.bytes_got(), 640 * kMegabyte);
}

TEST_F(Stores, GiveWhatOneTransferLeavesToTheOthers) {
  ObjectStore store(simulation_, {{100 * kMegabyte}, {100 * kMegabyte}, 0_ms}, 1, "store");
  std::int64_t first = 0;
  std::int64_t second = 0;
  store.put(100 * kMegabyte, kReader, note(&first));
  at(500_ms, [&] { store.put(100 * kMegabyte, kWriter, note(&second)); });
  simulation_.run();
  EXPECT_EQ(first, 1'500'000'000);   // 50 MB alone, 50 MB at half the rate
  EXPECT_EQ(second, 2'000'000'000);  // 50 MB at half the rate, 50 MB alone
}

TEST_F(Stores, WasteNoBandwidthHoweverManyTransfersComeAndGo) {
  // An odd bandwidth, 500 transfers that overlap: the last byte leaves when all bytes over the
  // bandwidth have passed, within a nanosecond for each change.
  ObjectStore store(simulation_, {{333'333'333}, {333'333'333}, 0_ms}, 1, "store");
  std::vector<std::int64_t> ended(500, 0);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const std::int64_t size = 100'000 + static_cast<std::int64_t>(i) * 997;
    bytes += size;
    at(Duration{static_cast<std::int64_t>(i) * 1009},
       [&store, &ended, i, size, this] { store.put(size, kReader, note(&ended[i])); });
  }
  simulation_.run();
  const std::int64_t exact = base::BytesPerSecond{333'333'333}.time_for(bytes).ns;
  EXPECT_GE(simulation_.now().ns, exact - 1);
  EXPECT_LE(simulation_.now().ns, exact + 1000);
  for (const std::int64_t end : ended) EXPECT_GT(end, 0);
}

TEST_F(Stores, SlowDownRunningTransfersAndTheLatencyOfNewOnes) {
  ObjectStore store(simulation_, {{100 * kMegabyte}, {100 * kMegabyte}, 10_ms}, 1, "store");
  std::int64_t running = 0;
  std::int64_t later = 0;
  store.put(100 * kMegabyte, kReader, note(&running));
  at(510_ms, [&] {
    store.set_slow_down({5, 2});
    store.touch(kReader, note(&later));
  });
  simulation_.run();
  EXPECT_EQ(later, 535'000'000);
  EXPECT_EQ(running, 510'000'000 + 1'250'000'000);
}

TEST_F(Stores, FailWhatRunsAndWhatComesWhileTheyAreSwitchedOff) {
  ObjectStore store(simulation_, {{100 * kMegabyte}, {100 * kMegabyte}, 10_ms}, 1, "store");
  std::int64_t running = 0;
  std::int64_t later = 0;
  std::int64_t healthy = 0;
  store.put(10 * kMegabyte, kReader, note(&running));
  at(50_ms, [&] { store.set_failing(true); });
  at(60_ms, [&] { store.get(10 * kMegabyte, kReader, note(&later)); });
  at(200_ms, [&] {
    store.set_failing(false);
    store.get(10 * kMegabyte, kReader, note(&healthy));
  });
  simulation_.run();
  EXPECT_EQ(running, -110'000'000);
  EXPECT_EQ(later, -70'000'000);
  EXPECT_EQ(healthy, 310'000'000);
  EXPECT_EQ(store.bytes_put(), 0);
}

TEST_F(Stores, FailAsOftenAsTheErrorRateSays) {
  ObjectStore store(simulation_, {{100 * kMegabyte}, {100 * kMegabyte}, 1_ms}, 1, "store");
  store.set_error_ppm(200'000);
  int failed = 0;
  for (int i = 0; i < 10'000; ++i) {
    store.get(1, kReader,
              [&](StorageStatus status) { failed += status == StorageStatus::kFailed; });
  }
  simulation_.run();
  EXPECT_NEAR(failed, 2'000, 200);
}

TEST_F(Stores, DropTheRequestsOfADeadOwnerAndGiveItsShareToTheOthers) {
  ObjectStore store(simulation_, {{100 * kMegabyte}, {100 * kMegabyte}, 0_ms}, 1, "store");
  auto token = std::make_shared<int>(0);
  std::int64_t survivor = 0;
  store.put(100 * kMegabyte, kWriter, note(&survivor));
  for (int i = 0; i < 3; ++i) {
    store.put(100 * kMegabyte, kReader, [token](StorageStatus) { ++*token; });
  }
  at(1_s, [&] {
    store.put(1, kReader, [token](StorageStatus) { ++*token; });
    EXPECT_EQ(store.active_transfers(), 4U);
    store.cancel(kReader);
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_EQ(store.pending_requests(), 1U);
  });
  simulation_.run();
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(survivor, 1'750'000'000);
}

}  // namespace
}  // namespace tailrace::sim
