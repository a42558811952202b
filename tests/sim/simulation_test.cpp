#include "sim/simulation.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms

TEST(Simulation, RunsEventsOfOneInstantInTheOrderInWhichTheyWereScheduled) {
  Simulation simulation;
  std::vector<int> order;
  simulation.schedule(5_ms, [&] { order.push_back(2); });
  simulation.schedule(1_ms, [&] {
    order.push_back(0);
    simulation.schedule(4_ms, [&] { order.push_back(4); });
    simulation.schedule(0_ms, [&] { order.push_back(1); });
  });
  simulation.schedule(5_ms, [&] { order.push_back(3); });
  EXPECT_EQ(simulation.run(), RunEnd::kIdle);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(simulation.now(), Time{5'000'000});
  EXPECT_EQ(simulation.events_processed(), 5U);
}

TEST(Simulation, StopsAtTheHorizonWhichIsThenThePresent) {
  Simulation simulation;
  int fired = 0;
  simulation.schedule(10_ms, [&] { ++fired; });
  simulation.schedule(11_ms, [&] { ++fired; });
  EXPECT_EQ(simulation.run(Time{10'000'000}), RunEnd::kHorizon);
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(simulation.run(Time{10'500'000}), RunEnd::kHorizon);
  EXPECT_EQ(simulation.now(), Time{10'500'000});
  simulation.schedule(1_us, [&] { fired += 10; });
  EXPECT_EQ(simulation.run(), RunEnd::kIdle);
  EXPECT_EQ(fired, 12);
}

TEST(Simulation, DestroysACancelledCallbackAtOnceAndNeverRunsIt) {
  Simulation simulation;
  auto token = std::make_shared<int>(0);
  const EventId id = simulation.schedule(1_ms, [token] { ++*token; });
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_TRUE(simulation.cancel(id));
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_FALSE(simulation.cancel(id));
  simulation.run();
  EXPECT_EQ(*token, 0);
}

TEST(Simulation, KeepsCallbacksApartFromPlainEventsThatReuseTheirSlots) {
  struct Counter final : EventHandler {
    void on_event(std::uint64_t argument) override { sum += argument; }
    std::uint64_t sum = 0;
  } counter;
  Simulation simulation;
  int ran = 0;
  for (int round = 0; round < 100; ++round) {
    const EventId callback = simulation.schedule(1_ms, [&] { ++ran; });
    simulation.cancel(callback);
    const EventId plain = simulation.schedule(1_ms, counter, 1);
    simulation.schedule(2_ms, [&] { ++ran; });
    if (round % 2 == 0) simulation.cancel(plain);
    simulation.run(simulation.now() + 3_ms);
  }
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(counter.sum, 50U);
}

TEST(Simulation, MayDieWithCallbacksThatCancelOthersWhenTheyDie) {
  struct Timer {
    explicit Timer(Simulation* s) : simulation(s) {}
    Timer(Timer&& other) noexcept
        : simulation(std::exchange(other.simulation, nullptr)), id(other.id) {}
    Timer& operator=(Timer&&) = delete;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      if (simulation != nullptr) simulation->cancel(id);
    }
    Simulation* simulation;
    EventId id;
  };
  auto token = std::make_shared<int>(0);
  {
    Simulation simulation;
    for (int i = 0; i < 64; ++i) {
      Timer timer(&simulation);
      timer.id = simulation.schedule(1_ms, [token] {});
      simulation.schedule(1_ms, [held = std::make_unique<Timer>(std::move(timer))] {});
    }
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Simulation, StopsOnRequestAndGoesOnWhereItStopped) {
  Simulation simulation;
  std::atomic<bool> interrupt{false};
  std::uint64_t ticks = 0;
  struct Clockwork final : EventHandler {
    Clockwork(Simulation* s, std::uint64_t* t) : simulation(s), ticks(t) {}
    void on_event(std::uint64_t) override {
      if (++*ticks == 10) simulation->stop();
      simulation->schedule(Duration::nanos(1), *this);
    }
    Simulation* simulation;
    std::uint64_t* ticks;
  } clockwork(&simulation, &ticks);
  simulation.schedule(0_ms, clockwork);
  EXPECT_EQ(simulation.run(Time::max(), &interrupt), RunEnd::kStopped);
  EXPECT_EQ(ticks, 10U);
  interrupt = true;
  EXPECT_EQ(simulation.run(Time::max(), &interrupt), RunEnd::kInterrupted);
  EXPECT_EQ(ticks, 1024U);
}

TEST(Simulation, ReportsWhenAnInvariantBroke) {
  Simulation simulation;
  simulation.schedule(3_ms, [] { TAILRACE_ASSERT(1 + 1 == 3); });
  try {
    simulation.run();
    FAIL() << "nothing was thrown";
  } catch (const base::InvariantViolation& violation) {
    const auto* timed = dynamic_cast<const TimedInvariantViolation*>(&violation);
    ASSERT_NE(timed, nullptr);
    EXPECT_EQ(timed->at(), Time{3'000'000});
    EXPECT_NE(std::string(violation.what()).find("3000000 ns"), std::string::npos);
    EXPECT_NE(std::string(violation.what()).find("1 + 1 == 3"), std::string::npos);
  }
}

TEST(Simulation, RefusesToScheduleInThePast) {
  Simulation simulation;
  EXPECT_THROW(simulation.schedule(Duration{-1}, [] {}), base::InvariantViolation);
  simulation.schedule(Duration::max(), [] {});
  simulation.schedule(1_ms, [&] { simulation.schedule(Duration::max(), [] {}); });
  EXPECT_THROW(simulation.run(), base::InvariantViolation);  // beyond the end of time
}

std::uint64_t hash_after(Duration first, Duration second, int records) {
  Simulation simulation;
  simulation.schedule(first, [] {});
  simulation.schedule(second, [&] {
    for (int i = 0; i < records; ++i) {
      simulation.trace().record({simulation.now(), TraceKind{7}, {i, 2}, "text"});
    }
  });
  simulation.run();
  return simulation.trace().hash();
}

TEST(Trace, IsEqualForEqualRunsAndDiffersWithAnyTimeOrderOrRecord) {
  const std::uint64_t hash = hash_after(1_ms, 2_ms, 2);
  EXPECT_EQ(hash, hash_after(1_ms, 2_ms, 2));
  EXPECT_NE(hash, hash_after(1_ms, Duration{2'000'001}, 2));
  EXPECT_NE(hash, hash_after(2_ms, 1_ms, 2));
  EXPECT_NE(hash, hash_after(1_ms, 2_ms, 1));
}

// The value is the contract: what changes it makes every published hash another one.
TEST(Trace, HasTheValueThatItHadOnEveryOtherMachine) {
  EXPECT_EQ(hash_after(1_ms, 2_ms, 2), 6271499050211781831ULL);
}

TEST(Trace, ShowsItsRecordsToTheSink) {
  Trace trace;
  std::vector<std::string> seen;
  trace.set_sink([&seen](const TraceRecord& record) {
    seen.push_back(std::to_string(record.at.ns) + ":" + std::to_string(record.fields[1]) +
                   std::string(record.text));
  });
  trace.record({Time{5}, TraceKind{1}, {0, 42}, "x"});
  EXPECT_EQ(seen, std::vector<std::string>{"5:42x"});
  EXPECT_EQ(trace.records(), 1U);
}

}  // namespace
}  // namespace tailrace::sim
