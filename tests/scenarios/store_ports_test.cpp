// The checkpoint store as a process sees it: what a request costs, and what a removed directory
// still lets in.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/observer.hpp"
#include "scenarios/model.hpp"
#include "scenarios/world/process_ports.hpp"

namespace tailrace::scenarios {
namespace {

class NoObserver final : public engine::Observer {};

class StorePorts : public testing::Test {
 protected:
  StorePorts() {
    world_.simulation = &simulation_;
    world_.store = &store_;
    world_.reads = &store_;
    world_.blobs = &blobs_;
    world_.removed = &removed_;
    world_.trouble = &trouble_;
    process_ =
        std::make_unique<ProcessPorts>(world_, engine::ProcessId{1}, host_, slow_downs_, observer_);
  }

  engine::BlobStore& store() { return *process_->ports().blobs; }
  void put(const std::string& path, std::size_t bytes) {
    store().put(path, std::vector<std::byte>(bytes, std::byte{7}),
                [this](engine::PutStatus status) { last_put_ = status; });
  }

  sim::Simulation simulation_;
  // 1 MB/s for each connection, 10 ms for each request.
  sim::ObjectStore store_{
      simulation_,
      {base::BytesPerSecond{1'000'000'000}, base::BytesPerSecond{1'000'000}, Duration::millis(10)},
      1,
      "store"};
  sim::Host host_{simulation_, 1, 1000};
  SlowDowns slow_downs_;
  StorageTrouble trouble_;
  BlobContents blobs_;
  RemovedDirectories removed_;
  NoObserver observer_;
  SharedWorld world_;
  std::unique_ptr<ProcessPorts> process_;
  std::optional<engine::PutStatus> last_put_;
};

TEST_F(StorePorts, ARangeCostsTheTimeOfItsOwnBytes) {
  put("chk-1/a", 1'000'000);
  simulation_.run();
  ASSERT_EQ(last_put_, engine::PutStatus::kStored);
  const Time before = simulation_.now();
  EXPECT_EQ((before - Time{}), Duration::millis(1010));
  engine::Blob part;
  store().get_range("chk-1/a", 500'000, 2'000, [&](engine::Blob blob) { part = std::move(blob); });
  simulation_.run();
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->size(), 2'000U);
  EXPECT_EQ(simulation_.now() - before, Duration::millis(12));
}

TEST_F(StorePorts, WhatIsOpenIsReadOnWithoutAnotherRequest) {
  put("chk-1/a", 10'000);
  simulation_.run();
  const Time before = simulation_.now();
  engine::Blob part;
  store().get_more("chk-1/a", 5'000, 2'000, [&](engine::Blob blob) { part = std::move(blob); });
  simulation_.run();
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->size(), 2'000U);
  EXPECT_EQ(simulation_.now() - before, Duration::millis(2));
}

TEST_F(StorePorts, ARemovalTakesEffectAtOnceAndIsAnsweredAfterARequest) {
  put("chk-1/a", 100);
  simulation_.run();
  const Time before = simulation_.now();
  bool answered = false;
  store().remove("chk-1/a");
  store().when_removed([&] { answered = true; });
  EXPECT_FALSE(answered);
  EXPECT_FALSE(blobs_.contains("chk-1/a"));
  simulation_.run();
  EXPECT_TRUE(answered);
  EXPECT_EQ(simulation_.now() - before, Duration::millis(10));
}

TEST_F(StorePorts, ARangeBeyondTheEndIsNoRange) {
  put("chk-1/a", 100);
  simulation_.run();
  for (const std::int64_t offset : {1, 100, 101}) {
    bool answered = false;
    store().get_range("chk-1/a", offset, 100, [&](engine::Blob blob) {
      answered = true;
      EXPECT_EQ(blob, nullptr) << offset;
    });
    simulation_.run();
    EXPECT_TRUE(answered);
  }
}

TEST_F(StorePorts, NothingGetsIntoARemovedDirectory) {
  put("job/chk-1/before", 10);
  put("job/chk-10/other", 10);
  simulation_.run();
  put("job/chk-1/on-its-way", 1'000);
  store().remove_directory("job/chk-1");
  EXPECT_EQ(blobs_.size(), 1U);
  simulation_.run();
  EXPECT_EQ(last_put_, engine::PutStatus::kFailed);
  put("job/chk-1/deeper/late", 10);
  simulation_.run();
  EXPECT_EQ(last_put_, engine::PutStatus::kFailed);
  EXPECT_EQ(blobs_.size(), 1U);
  put("job/chk-11/new", 10);
  simulation_.run();
  EXPECT_EQ(last_put_, engine::PutStatus::kStored);
  EXPECT_EQ(blobs_.count("job/chk-10/other") + blobs_.count("job/chk-11/new"), 2U);
}

}  // namespace
}  // namespace tailrace::scenarios
