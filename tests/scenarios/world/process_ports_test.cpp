// The promises of engine/ports.hpp, kept by the world: P1 (later, in order) and P2 (the dead run
// nothing), and what connections do when one end dies.
#include "scenarios/world/process_ports.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/observer.hpp"
#include "scenarios/world/connections.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

class ProcessPortsTest : public testing::Test {
 protected:
  static constexpr Duration kLinkLatency = Duration::micros(200);
  static constexpr Duration kRpcLatency = Duration::micros(500);

  ProcessPortsTest() {
    world_.simulation = &simulation_;
    world_.connections = &connections_;
    world_.store = &store_;
    world_.reads = &store_;
    world_.random = &random_;
    world_.costs = &costs_;
    world_.blobs = &blobs_;
    world_.trouble = &trouble_;
    world_.rpc_latency = kRpcLatency;
    world_.processes = &processes_;
    for (int i = 0; i < 3; ++i) {
      hosts_.push_back(std::make_unique<sim::Host>(simulation_, 1));
      network_.add_host({base::BytesPerSecond{kGigabyte}, base::BytesPerSecond{kGigabyte}});
      start_process(static_cast<std::size_t>(i));
    }
  }
  ProcessPorts& start_process(std::size_t machine) {
    const engine::ProcessId id{static_cast<std::uint32_t>(processes_.size() + 1)};
    machine_of_.push_back(machine);
    processes_.push_back(
        std::make_unique<ProcessPorts>(world_, id, *hosts_[machine], slow_downs_, observer_));
    return *processes_.back();
  }
  // Process 1, 2, 3: one on each machine.
  [[nodiscard]] const engine::Ports& ports(std::uint32_t id) { return processes_[id - 1]->ports(); }
  void die(std::uint32_t id, bool silently = false) { processes_[id - 1]->die(silently); }

  // Notes `what` and the time in microseconds.
  base::Callback note(std::string what) {
    return [this, what = std::make_unique<std::string>(std::move(what))] { add(*what); };
  }
  void add(const std::string& what) {
    story_.push_back(what + " @" + std::to_string(simulation_.now().ns / 1000));
  }
  // A callback that says when it is destroyed without having run.
  base::Callback fragile(std::shared_ptr<int> token) {
    return [token = std::move(token)] { ++*token; };
  }
  void run_us(std::int64_t us) { simulation_.run(Time{} + Duration::micros(us)); }
  using Story = std::vector<std::string>;

  sim::Simulation simulation_;
  engine::Observer observer_;
  RandomStreams random_{7};
  CostModel costs_{Scenario{}};
  BlobContents blobs_;
  StorageTrouble trouble_;
  sim::Network network_{simulation_, kLinkLatency, Duration::micros(10)};
  sim::ObjectStore store_{
      simulation_,
      {base::BytesPerSecond{kGigabyte}, base::BytesPerSecond{kGigabyte}, Duration::millis(1)},
      7,
      "store"};
  SlowDowns slow_downs_;
  std::vector<std::unique_ptr<sim::Host>> hosts_;
  std::vector<std::size_t> machine_of_;
  std::vector<std::unique_ptr<ProcessPorts>> processes_;
  SharedWorld world_;
  Connections connections_{
      network_, kLinkLatency,
      [this](engine::ProcessId id, Duration delay, base::Callback callback) {
        processes_[id.value - 1]->run_after(delay, std::move(callback));
      },
      [this](engine::ProcessId id) {
        return sim::HostId{static_cast<std::int32_t>(machine_of_[id.value - 1])};
      },
      [this](engine::ProcessId id) { return processes_[id.value - 1]->alive(); }};
  Story story_;
};

// --- P1 -----------------------------------------------------------------------------------------

TEST_F(ProcessPortsTest, TimersRunLaterInTheOrderOfTimeAndScheduling) {
  engine::Timers& timers = *ports(1).timers;
  timers.schedule(Duration::micros(5), note("c"));
  timers.schedule({}, note("a"));
  timers.schedule(Duration::micros(5), note("d"));
  timers.schedule({}, note("b"));
  EXPECT_TRUE(story_.empty());  // never inside the call
  run_us(10);
  EXPECT_EQ(story_, (Story{"a @0", "b @0", "c @5", "d @5"}));
}

TEST_F(ProcessPortsTest, ACancelledTimerIsDestroyedAndItsIdIsGoodForNothingAnyMore) {
  engine::Timers& timers = *ports(1).timers;
  const auto token = std::make_shared<int>(0);
  const engine::TimerId first = timers.schedule(Duration::micros(5), fragile(token));
  timers.cancel(first);
  EXPECT_EQ(token.use_count(), 1);
  timers.schedule(Duration::micros(5), note("another in the same slot"));
  timers.cancel(first);
  timers.cancel({});
  run_us(10);
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(story_, Story{"another in the same slot @5"});
}

TEST_F(ProcessPortsTest, ATimerMayScheduleAndCancelFromInside) {
  engine::Timers& timers = *ports(1).timers;
  const engine::TimerId victim = timers.schedule(Duration::micros(5), note("victim"));
  timers.schedule(Duration::micros(5), [&, victim] {
    timers.cancel(victim);  // has run: the order of scheduling
    timers.schedule({}, note("next"));
  });
  run_us(10);
  EXPECT_EQ(story_, (Story{"victim @5", "next @5"}));
}

TEST_F(ProcessPortsTest, CallsArriveInOrderAfterTheLatencyAndToOneselfAtOnceButLater) {
  ports(1).calls->send({2}, 100, note("first"));
  ports(1).calls->send({2}, 100, note("second"));
  ports(1).calls->send({1}, 100, note("myself"));
  EXPECT_TRUE(story_.empty());
  run_us(1000);
  EXPECT_EQ(story_, (Story{"myself @0", "first @500", "second @500"}));
}

TEST_F(ProcessPortsTest, WorkWaitsForACoreAndIsStretchedBySlowDowns) {
  const engine::ComputeClient slow{3, 0};
  slow_downs_.set(3, 0, 2500);
  ports(1).compute->run(slow, Duration::micros(10), note("slow"));
  ports(1).compute->run({3, 1}, Duration::micros(10), note("behind it"));
  EXPECT_TRUE(story_.empty());
  run_us(100);
  EXPECT_EQ(story_, (Story{"slow @25", "behind it @35"}));
}

TEST_F(ProcessPortsTest, BlobsAreThereWhenTheirUploadIsDone) {
  ports(1).blobs->put("a", std::vector<std::byte>(1000), [this](engine::PutStatus status) {
    add(status == engine::PutStatus::kStored ? "stored" : "failed");
  });
  const auto get = [this](const std::string& path) {
    ports(2).blobs->get(path, [this](engine::Blob blob) {
      add(blob == nullptr ? "nothing" : "got " + std::to_string(blob->size()));
    });
  };
  get("a");  // too early
  EXPECT_TRUE(story_.empty());
  run_us(1500);
  get("a");
  run_us(5000);
  EXPECT_EQ(story_, (Story{"nothing @1000", "stored @1001", "got 1000 @2501"}));
  ports(1).blobs->remove("a");
  ports(1).blobs->remove("never there");
  get("a");
  run_us(10'000);
  EXPECT_EQ(story_.back(), "nothing @6000");
}

TEST_F(ProcessPortsTest, AFullStoreRefusesAndAnotherLatencyIsAdded) {
  const auto put = [this] {
    ports(1).blobs->put("a", std::vector<std::byte>(1000), [this](engine::PutStatus status) {
      add(status == engine::PutStatus::kStored ? "stored" : "failed");
    });
  };
  trouble_.full = true;
  put();
  run_us(2000);
  trouble_ = {};
  trouble_.extra_latency = Duration::millis(3);
  put();
  run_us(20'000);
  EXPECT_EQ(story_, (Story{"failed @1000", "stored @6001"}));
  EXPECT_EQ(blobs_.size(), 1u);
}

TEST_F(ProcessPortsTest, RandomStreamsBelongToTheSeedAndNotToTheProcess) {
  std::vector<std::int64_t> drawn;
  for (int i = 0; i < 10; ++i) drawn.push_back(ports(1).random->uniform("s", 0, 1'000'000));
  RandomStreams again(7);
  for (const std::int64_t draw : drawn) EXPECT_EQ(again.stream("s").uniform(0, 1'000'000), draw);
  EXPECT_NE(ports(2).random->uniform("s", 0, 1'000'000), drawn.front());  // goes on
}

// --- P2 -----------------------------------------------------------------------------------------

TEST_F(ProcessPortsTest, NothingOfADeadProcessRunsAnyMore) {
  const auto token = std::make_shared<int>(0);
  ports(1).timers->schedule(Duration::micros(5), fragile(token));
  ports(1).compute->run({}, Duration::micros(5), fragile(token));
  ports(1).compute->run({}, Duration::micros(5), fragile(token));  // waits for the core
  ports(1).blobs->put("a", std::vector<std::byte>(10), [token](engine::PutStatus) { ++*token; });
  ports(1).blobs->get("b", [token](engine::Blob) { ++*token; });
  ports(2).calls->send({1}, 10, fragile(token));  // on its way to it
  ports(1).calls->send({1}, 10, fragile(token));
  EXPECT_EQ(token.use_count(), 8);
  die(1);
  EXPECT_EQ(token.use_count(), 1) << "destroyed, not kept";
  simulation_.run();
  EXPECT_EQ(*token, 0);
  EXPECT_TRUE(blobs_.empty());
}

TEST_F(ProcessPortsTest, ADeadProcessCannotStartAnything) {
  die(1);
  const auto token = std::make_shared<int>(0);
  const engine::TimerId timer = ports(1).timers->schedule({}, fragile(token));
  ports(1).timers->cancel(timer);
  ports(1).calls->send({2}, 10, fragile(token));
  ports(2).calls->send({1}, 10, fragile(token));
  ports(1).compute->run({}, {}, fragile(token));
  ports(1).blobs->put("a", {}, [token](engine::PutStatus) { ++*token; });
  ports(1).blobs->get("a", [token](engine::Blob) { ++*token; });
  EXPECT_EQ(token.use_count(), 1);
  simulation_.run();
  EXPECT_EQ(*token, 0);
}

TEST_F(ProcessPortsTest, WhatADeadProcessHasSentStillArrives) {
  ports(1).calls->send({2}, 10, note("sent before"));
  die(1);
  simulation_.run();
  EXPECT_EQ(story_, Story{"sent before @500"});
}

TEST_F(ProcessPortsTest, ANewProcessOfTheMachineHearsNothingMeantForTheOldOne) {
  ports(2).calls->send({1}, 10, note("for the old one"));
  ports(1).compute->run({}, Duration::micros(900), note("old work"));
  die(1);
  ProcessPorts& next = start_process(0);
  next.ports().compute->run({}, Duration::micros(10), note("new work"));
  simulation_.run();
  EXPECT_EQ(story_, Story{"new work @10"});  // the core is free
}

// --- connections ----------------------------------------------------------------------------------

class ConnectionsTest : public ProcessPortsTest {
 protected:
  // From process 1 (client) to process 2 (server), accepted.
  engine::ConnectionId connect() {
    const engine::ConnectionId id = ports(1).links->open({2}, note("client: closed"));
    ports(2).links->accept(id, note("server: closed"));
    return id;
  }
};

TEST_F(ConnectionsTest, MessagesLeaveAndArriveInOrderEachWay) {
  const engine::ConnectionId id = connect();
  // 100'000 bytes at 1 GB/s take 100 us on the wire.
  ports(1).links->send(id, 100'000, note("written 1"), note("delivered 1"));
  ports(1).links->send(id, 100'000, note("written 2"), note("delivered 2"));
  ports(2).links->send(id, 100'000, {}, note("answer"));
  EXPECT_TRUE(story_.empty());
  run_us(10'000);
  EXPECT_EQ(story_, (Story{"written 1 @100", "written 2 @200", "delivered 1 @300", "answer @300",
                           "delivered 2 @400"}));
}

TEST_F(ConnectionsTest, WhenOneEndDiesTheOtherHearsOfItOneLatencyLater) {
  connect();
  run_us(1000);
  die(2);
  run_us(5000);
  EXPECT_EQ(story_, Story{"client: closed @1200"});
}

TEST_F(ConnectionsTest, TheServerHearsOfTheDeathOfItsClient) {
  connect();
  die(1);
  run_us(5000);
  EXPECT_EQ(story_, Story{"server: closed @200"});
}

TEST_F(ConnectionsTest, OfAPowerCutNobodyHears) {
  const engine::ConnectionId id = connect();
  ports(1).links->send(id, 10, note("written"), note("delivered"));
  die(2, true);
  ports(1).links->send(id, 10, note("written"), note("delivered"));
  run_us(60'000'000);
  EXPECT_EQ(story_, Story{});
}

TEST_F(ConnectionsTest, DeathDropsWhatIsOnItsWay) {
  const engine::ConnectionId id = connect();
  const auto token = std::make_shared<int>(0);
  ports(1).links->send(id, 100'000, fragile(token), fragile(token));
  ports(2).links->send(id, 100'000, fragile(token), fragile(token));
  run_us(50);
  die(1);
  EXPECT_EQ(token.use_count(), 1);
  run_us(5000);
  EXPECT_EQ(*token, 0);
}

TEST_F(ConnectionsTest, ClosingIsSilentAndDropsWhatIsOnItsWay) {
  const engine::ConnectionId id = connect();
  ports(1).links->send(id, 10, {}, note("delivered"));
  ports(1).links->close(id);
  ports(1).links->close(id);
  ports(2).links->send(id, 10, {}, note("answer"));
  die(2);
  run_us(5000);
  EXPECT_EQ(story_, Story{});
}

TEST_F(ConnectionsTest, ToADeadProcessIsRefusedAfterAWayThereAndBack) {
  die(2);
  const engine::ConnectionId id = ports(1).links->open({2}, note("refused"));
  ports(1).links->send(id, 10, note("written"), note("delivered"));
  EXPECT_TRUE(story_.empty());
  run_us(5000);
  EXPECT_EQ(story_, Story{"refused @400"});
}

TEST_F(ConnectionsTest, OtherConnectionsOfTheSurvivorLive) {
  const engine::ConnectionId doomed = connect();
  const engine::ConnectionId other = ports(1).links->open({3}, note("other closed"));
  die(2);
  ports(1).links->send(doomed, 10, {}, note("lost"));
  ports(1).links->send(other, 100'000, {}, note("delivered"));
  run_us(5000);
  EXPECT_EQ(story_, (Story{"client: closed @200", "delivered @300"}));
}

}  // namespace
}  // namespace tailrace::scenarios
