#include "sim/process.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms
using Log = std::vector<std::string>;

class Processes : public testing::Test {
 protected:
  void note(const std::string& what) {
    log_.push_back(what + "@" + std::to_string(simulation_.now().millis_truncated()));
  }

  Simulation simulation_;
  Signal signal_{simulation_};
  Mailbox<int> mailbox_{simulation_};
  ProcessGroup group_{simulation_};  // last: its processes leave before what they wait for
  Log log_;

 public:
  struct Lease {  // gives something back when its frame dies
    explicit Lease(int* counter) : counter_(counter) { ++*counter_; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { --*counter_; }
    int* counter_;
  };

  static Process tick(Processes* test, std::string name, Duration pace, int* leases) {
    const Lease lease(leases);
    for (int i = 0; i < 3; ++i) {
      co_await delay(test->simulation_, pace);
      test->note(name);
    }
  }
  static Process wait(Processes* test, std::string name) {
    for (;;) {
      co_await test->signal_.wait();
      test->note(name);
    }
  }
  static Process receive(Processes* test, std::string name, int count) {
    for (int i = 0; i < count; ++i) {
      const int item = co_await test->mailbox_.receive();
      test->note(name + std::to_string(item));
    }
  }
  static Process fail(Processes* test) {
    co_await delay(test->simulation_, 4_ms);
    TAILRACE_ASSERT(false);
  }
  static Process spawn_more(Processes* test, int left) {
    if (left > 0) test->group_.spawn(spawn_more(test, left - 1));
    co_await delay(test->simulation_, 1_ms);
    test->note(std::string("d").append(std::to_string(left)));
  }
};

TEST_F(Processes, InterleaveByTheirDelaysAndGiveBackWhatTheyHeld) {
  int leases = 0;
  group_.spawn(tick(this, "a", 2_ms, &leases));
  group_.spawn(tick(this, "b", 3_ms, &leases));
  EXPECT_EQ(leases, 0) << "a process starts with an event of its own";
  simulation_.run(Time{1});
  EXPECT_EQ(leases, 2);
  simulation_.run();
  // At 6 ms b was scheduled first (at 3 ms, a at 4 ms).
  EXPECT_EQ(log_, (Log{"a@2", "b@3", "a@4", "b@6", "a@6", "b@9"}));
  EXPECT_EQ(leases, 0);
}

TEST_F(Processes, LeaveNoEventBehindWhenTheyAreKilledInADelay) {
  int leases = 0;
  const SpawnId a = group_.spawn(tick(this, "a", 2_ms, &leases));
  const SpawnId unstarted = group_.spawn(tick(this, "u", 2_ms, &leases));
  group_.kill(unstarted);
  simulation_.run(Time{2'500'000});
  EXPECT_TRUE(group_.alive(a));
  EXPECT_EQ(simulation_.pending(), 1U);
  group_.kill(a);
  EXPECT_FALSE(group_.alive(a));
  EXPECT_EQ(simulation_.pending(), 0U);
  EXPECT_EQ(leases, 0);
  simulation_.run();
  EXPECT_EQ(log_, Log{"a@2"});
}

TEST_F(Processes, AreNotResumedInsideTheCallThatNotifiesThem) {
  group_.spawn(wait(this, "a"));
  group_.spawn(wait(this, "b"));
  simulation_.run(Time{1'000'000});
  signal_.notify_all();
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(signal_.waiting(), 0U);
  simulation_.run();
  EXPECT_EQ(log_, (Log{"a@1", "b@1"}));
  EXPECT_EQ(signal_.waiting(), 2U);
}

TEST_F(Processes, HandAWakeUpOnWhenTheyDieBeforeTheyRun) {
  const SpawnId a = group_.spawn(wait(this, "a"));
  group_.spawn(wait(this, "b"));
  simulation_.run(Time{1'000'000});
  EXPECT_TRUE(signal_.notify_one());
  group_.kill(a);
  simulation_.run();
  EXPECT_EQ(log_, Log{"b@1"});
}

TEST_F(Processes, LeaveTheLineOfASignalWhenTheyAreKilled) {
  group_.spawn(wait(this, "a"));
  const SpawnId b = group_.spawn(wait(this, "b"));
  group_.spawn(wait(this, "c"));
  simulation_.run(Time{1'000'000});
  group_.kill(b);
  EXPECT_EQ(signal_.waiting(), 2U);
  signal_.notify_all();
  simulation_.run();
  EXPECT_EQ(log_, (Log{"a@1", "c@1"}));
}

TEST_F(Processes, ReceiveEachMessageOnceInTheOrderInWhichTheyCame) {
  group_.spawn(receive(this, "a", 2));
  group_.spawn(receive(this, "b", 2));
  simulation_.run(Time{1'000'000});
  for (int item = 0; item < 4; ++item) mailbox_.push(item);
  EXPECT_EQ(mailbox_.try_receive(), 2) << "0 and 1 are spoken for";
  simulation_.run();
  EXPECT_EQ(log_, (Log{"a0@1", "a3@1", "b1@1"}));
  mailbox_.push(4);
  simulation_.run();
  EXPECT_EQ(log_.back(), "b4@1");
}

TEST_F(Processes, DoNotTakeAMessageToTheGrave) {
  const SpawnId a = group_.spawn(receive(this, "a", 1));
  group_.spawn(receive(this, "b", 1));
  simulation_.run(Time{1'000'000});
  mailbox_.push(7);
  group_.kill(a);
  simulation_.run();
  EXPECT_EQ(log_, Log{"b7@1"});
}

TEST_F(Processes, NeverContinueOnceWhatTheyWaitForIsGone) {
  auto signal = std::make_unique<Signal>(simulation_);
  struct Local {
    static Process wait(Signal* on, int* resumed) {
      co_await on->wait();
      ++*resumed;
    }
  };
  int resumed = 0;
  group_.spawn(Local::wait(signal.get(), &resumed));
  group_.spawn(Local::wait(signal.get(), &resumed));
  simulation_.run();
  signal->notify_one();
  signal.reset();
  simulation_.run();
  EXPECT_EQ(resumed, 0);
}

TEST_F(Processes, CarryTheTimeOutOfTheRunWhenTheyBreakAnInvariant) {
  group_.spawn(fail(this));
  try {
    simulation_.run();
    FAIL() << "nothing was thrown";
  } catch (const TimedInvariantViolation& violation) {
    EXPECT_EQ(violation.at(), Time{4'000'000});
  }
}

TEST_F(Processes, MaySpawnHundredsOfOthersWhileEndedOnesAreForgotten) {
  group_.spawn(spawn_more(this, 300));
  simulation_.run();
  EXPECT_EQ(log_.size(), 301U);
  EXPECT_EQ(log_.front(), "d300@1");
  EXPECT_EQ(log_.back(), "d0@1");
}

}  // namespace
}  // namespace tailrace::sim
