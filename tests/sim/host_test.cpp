#include "sim/host.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tailrace::sim {
namespace {

using namespace base::literals;  // NOLINT(google-build-using-namespace): 5_ms
using Log = std::vector<std::string>;

constexpr OwnerTag kA{1};
constexpr OwnerTag kB{2};

class Hosts : public testing::Test {
 protected:
  base::Callback note(std::string what) {
    return [this, what = std::move(what)] {
      log_.push_back(what + "@" + std::to_string(simulation_.now().ns / 1000) + "us");
    };
  }
  void at(Duration time, base::Callback action) { simulation_.schedule(time, std::move(action)); }

  Simulation simulation_;
  Log log_;
};

TEST_F(Hosts, TakeWorkFirstInFirstOutOverTheirCores) {
  Host host(simulation_, 2);
  host.run(kA, 10_ms, {}, note("1"));
  host.run(kA, 4_ms, {}, note("2"));
  host.run(kA, 4_ms, {}, note("3"));
  host.run(kA, 1_ms, {}, note("4"));
  EXPECT_EQ(host.busy_cores(), 2);
  EXPECT_EQ(host.queued(), 2U);
  EXPECT_TRUE(log_.empty());
  simulation_.run();
  EXPECT_EQ(log_, (Log{"2@4000us", "3@8000us", "4@9000us", "1@10000us"}));
  EXPECT_EQ(host.busy_cores(), 0);
}

TEST_F(Hosts, LetWaitingWorkGoBeforeWhatACompletionAsksFor) {
  Host host(simulation_, 1);
  host.run(kA, 1_ms, {}, [&] { host.run(kA, 1_ms, {}, note("second slice")); });
  host.run(kB, 1_ms, {}, note("other"));
  simulation_.run();
  EXPECT_EQ(log_, (Log{"other@2000us", "second slice@3000us"}));
}

TEST_F(Hosts, StretchWorkBySpeedAndSlowDown) {
  Host host(simulation_, 4, 500);
  host.run(kA, 3_ms, {}, note("slow host"));
  host.run(kA, 3_ms, {3, 2}, note("slowed"));
  host.run(kA, Duration{1}, {1, 3}, note("rounded up"));
  simulation_.run();
  EXPECT_EQ(log_, (Log{"rounded up@0us", "slow host@6000us", "slowed@9000us"}));
  EXPECT_EQ(simulation_.now(), Time{9'000'000});
}

TEST_F(Hosts, ConvertWhatIsLeftWhenTheSpeedChanges) {
  Host host(simulation_, 1);
  host.run(kA, 10_ms, {}, note("1"));
  at(4_ms, [&] { host.set_speed(500); });   // 6 ms are left: 12 ms
  at(8_ms, [&] { host.set_speed(2000); });  // 8 of them are left: 2 ms
  simulation_.run();
  EXPECT_EQ(log_, Log{"1@10000us"});
}

TEST_F(Hosts, StandStillWhilePausedHoweverOften) {
  Host host(simulation_, 2);
  host.run(kA, 10_ms, {}, note("a"));
  at(2_ms, [&] { host.pause(); });
  at(3_ms, [&] { host.pause(); });
  at(4_ms, [&] { host.run(kB, 1_ms, {}, note("b")); });
  at(5_ms, [&] { host.resume(); });
  at(5_ms, [&] { host.set_speed(500); });
  at(7_ms, [&] { host.resume(); });
  simulation_.run();
  EXPECT_EQ(log_, (Log{"b@9000us", "a@23000us"}));
}

TEST_F(Hosts, PauseOneProcessWhileTheOtherRuns) {
  Host host(simulation_, 1);
  host.run(kA, 2_ms, {}, note("a"));
  host.run(kB, 2_ms, {}, note("b"));
  host.run(kA, 2_ms, {}, note("a"));
  at(3_ms, [&] { host.pause(kA); });
  at(4_ms, [&] { EXPECT_EQ(host.busy_cores(), 1); });
  at(6_ms, [&] { host.resume(kA); });
  simulation_.run();
  EXPECT_EQ(log_, (Log{"a@2000us", "b@4000us", "a@8000us"}));
}

TEST_F(Hosts, DropEverythingOfAKilledOwnerAndGiveItsCoresToTheOthers) {
  Host host(simulation_, 1);
  auto token = std::make_shared<int>(0);
  for (int i = 0; i < 64; ++i) host.run(kA, 10_ms, {}, [token] { ++*token; });
  host.run(kB, 1_ms, {}, note("b"));
  EXPECT_EQ(token.use_count(), 65);
  at(5_ms, [&] { host.kill(kA); });
  simulation_.run();
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(log_, Log{"b@6000us"});
}

}  // namespace
}  // namespace tailrace::sim
