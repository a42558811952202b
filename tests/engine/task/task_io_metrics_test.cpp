#include "engine/task/task_io_metrics.hpp"

#include <array>
#include <deque>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tailrace::engine {
namespace {

using enum TaskActivity;

struct ManualClock final : Clock {
  [[nodiscard]] Time now() const override { return time; }
  void set_ms(std::int64_t ms) { time = Time{} + Duration::millis(ms); }
  Time time;
};

class TaskTimeline : public testing::Test {
 protected:
  // A task of a process that has begun at 0.
  TaskIOMetrics task_from_ms(std::int64_t ms) {
    clock_.set_ms(ms);
    TaskIOMetrics metrics(clock_, Time{});
    metrics.mark_task_start();
    return metrics;
  }
  TaskTimes read_at_ms(const TaskIOMetrics& metrics, std::int64_t ms) {
    clock_.set_ms(ms);
    return metrics.read();
  }
  void turn_at_ms(TaskIOMetrics& metrics, std::int64_t ms, TaskActivity activity) {
    clock_.set_ms(ms);
    metrics.set_activity(activity);
  }
  ManualClock clock_;
};

TEST_F(TaskTimeline, EachWaitHasItsGaugeAndBusyIsTheRest) {
  TaskIOMetrics metrics = task_from_ms(0);
  turn_at_ms(metrics, 1000, kIdle);
  turn_at_ms(metrics, 2500, kSoftBackPressured);
  turn_at_ms(metrics, 3000, kHardBackPressured);
  turn_at_ms(metrics, 3250, kBusy);
  const TaskTimes times = read_at_ms(metrics, 10'000);
  EXPECT_EQ(times.idle_time_ms_per_second, 300);
  EXPECT_EQ(times.soft_back_pressured_time_ms_per_second, 100);
  EXPECT_EQ(times.hard_back_pressured_time_ms_per_second, 50);
  EXPECT_EQ(times.back_pressured_time_ms_per_second, 150);
  EXPECT_EQ(times.busy_time_ms_per_second, 550);
  EXPECT_EQ(times.max_soft_back_pressure_time_ms, 500);
  EXPECT_EQ(times.max_hard_back_pressure_time_ms, 250);
  EXPECT_EQ(times.accumulate_idle_time_ms, 1500);
  EXPECT_EQ(times.accumulate_back_pressured_time_ms, 750);
  EXPECT_EQ(times.accumulate_busy_time_ms, 10'000 - 1500 - 750);
}

// A task that was deployed between two updates of its process is taken up by the second one.
TEST_F(TaskTimeline, TheFirstIntervalEndsAtTheSecondUpdateOfTheProcess) {
  TaskIOMetrics metrics = task_from_ms(6400);  // updates at 10 and 15 s
  metrics.set_activity(kIdle);
  turn_at_ms(metrics, 11'355, kHardBackPressured);  // 4955 ms idle
  turn_at_ms(metrics, 14'890, kBusy);               // 3535 ms stuck
  EXPECT_EQ(read_at_ms(metrics, 14'999).idle_time_ms_per_second, 0);
  const TaskTimes times = read_at_ms(metrics, 15'000);
  // As Flink does it: the long interval, too, counts as five seconds.
  EXPECT_EQ(times.idle_time_ms_per_second, 991);
  EXPECT_EQ(times.back_pressured_time_ms_per_second, 707);
  EXPECT_EQ(times.busy_time_ms_per_second, 0);
  EXPECT_EQ(times.accumulate_busy_time_ms, 15'000 - 6400 - 4955 - 3535);
}

TEST_F(TaskTimeline, ATaskDeployedAtTheMomentOfAnUpdateComesBehindIt) {
  TaskIOMetrics metrics = task_from_ms(5000);
  metrics.set_activity(kIdle);
  EXPECT_EQ(read_at_ms(metrics, 10'000).idle_time_ms_per_second, 0);
  EXPECT_EQ(read_at_ms(metrics, 15'000).idle_time_ms_per_second, 1000);
}

TEST_F(TaskTimeline, AWaitThatGoesOnCountsUpToTheLastUpdate) {
  TaskIOMetrics metrics = task_from_ms(0);
  turn_at_ms(metrics, 9000, kSoftBackPressured);
  EXPECT_EQ(read_at_ms(metrics, 9999).accumulate_back_pressured_time_ms, 0);
  EXPECT_EQ(read_at_ms(metrics, 14'999).accumulate_back_pressured_time_ms, 1000);
  EXPECT_EQ(read_at_ms(metrics, 14'999).max_soft_back_pressure_time_ms, 1000);
  EXPECT_EQ(read_at_ms(metrics, 15'000).accumulate_back_pressured_time_ms, 6000);
  EXPECT_EQ(read_at_ms(metrics, 15'000).max_soft_back_pressure_time_ms, 6000);
  turn_at_ms(metrics, 16'000, kBusy);
  EXPECT_EQ(read_at_ms(metrics, 16'000).accumulate_back_pressured_time_ms, 7000);
}

TEST_F(TaskTimeline, TurningToTheSameIsOneWait) {
  TaskIOMetrics metrics = task_from_ms(0);
  turn_at_ms(metrics, 6000, kHardBackPressured);
  turn_at_ms(metrics, 8000, kHardBackPressured);
  turn_at_ms(metrics, 9000, kBusy);
  EXPECT_EQ(read_at_ms(metrics, 10'000).max_hard_back_pressure_time_ms, 3000);
}

TEST_F(TaskTimeline, InitialisationEndsWhereTheTaskStarts) {
  clock_.set_ms(100);
  TaskIOMetrics metrics(clock_, Time{});
  EXPECT_EQ(read_at_ms(metrics, 150).initialization_time_ms, 0);
  metrics.mark_task_initialization_started();
  EXPECT_EQ(read_at_ms(metrics, 175).initialization_time_ms, 25);
  metrics.mark_task_initialization_started();
  EXPECT_FALSE(read_at_ms(metrics, 180).accumulate_busy_time_ms.has_value());
  metrics.mark_task_start();
  EXPECT_EQ(read_at_ms(metrics, 300).initialization_time_ms, 30);
  EXPECT_EQ(read_at_ms(metrics, 300).accumulate_busy_time_ms, 120);
}

// What the gauges must say, millisecond by millisecond.
struct Reference {
  std::int64_t merged_at;  // the update of the process that takes the task up
  std::array<std::int64_t, 4> since_update{};
  std::array<std::int64_t, 4> accumulated{};
  std::array<std::deque<std::int64_t>, 4> windows;

  void pass(std::int64_t now_ms, TaskActivity activity) {  // [now_ms, now_ms + 1)
    if (now_ms % 5000 == 0 && now_ms > merged_at) {
      for (std::size_t i = 0; i < windows.size(); ++i) {
        windows[i].push_back(since_update[i]);
        if (windows[i].size() > 12) windows[i].pop_front();
        accumulated[i] += std::exchange(since_update[i], 0);
      }
    }
    ++since_update[static_cast<std::size_t>(activity)];
  }
  [[nodiscard]] std::int64_t value(TaskActivity activity) const {
    const auto& window = windows[static_cast<std::size_t>(activity)];
    if (window.empty()) return 0;
    const std::int64_t total = std::accumulate(window.begin(), window.end(), std::int64_t{0});
    return std::min<std::int64_t>(1000, total / (5 * static_cast<std::int64_t>(window.size())));
  }
};

RC_GTEST_PROP(TaskIOMetrics, AreWhatANaiveCountSays, ()) {
  ManualClock clock;
  const std::int64_t deployed = *rc::gen::inRange(0, 12'000);
  clock.set_ms(deployed);
  TaskIOMetrics metrics(clock, Time{});
  metrics.mark_task_start();
  Reference reference{(deployed / 5000 + 1) * 5000, {}, {}, {}};
  std::int64_t now = deployed;
  const auto script = *rc::gen::container<std::vector<std::pair<std::int64_t, TaskActivity>>>(
      rc::gen::pair(rc::gen::map(rc::gen::inRange<std::int64_t>(0, 9000),
                                 [](std::int64_t ms) { return ms < 500 ? ms * 60 : ms / 20; }),
                    rc::gen::element(kBusy, kIdle, kSoftBackPressured, kHardBackPressured)));
  for (const auto& [ms, activity] : script) {
    metrics.set_activity(activity);
    for (std::int64_t i = 0; i < ms; ++i) reference.pass(now++, activity);
    clock.set_ms(now);
    if (now % 5000 == 0) continue;  // an update is due that the reference makes a moment later
    const TaskTimes times = metrics.read();
    RC_ASSERT(times.idle_time_ms_per_second == reference.value(kIdle));
    RC_ASSERT(times.soft_back_pressured_time_ms_per_second == reference.value(kSoftBackPressured));
    RC_ASSERT(times.hard_back_pressured_time_ms_per_second == reference.value(kHardBackPressured));
    // A wait that has not ended is counted up to the last update.
    const auto counted = [&](TaskActivity wait) {
      const auto i = static_cast<std::size_t>(wait);
      return reference.accumulated[i] + reference.since_update[i];
    };
    const std::int64_t idle = counted(kIdle);
    const std::int64_t waits = idle + counted(kSoftBackPressured) + counted(kHardBackPressured);
    RC_ASSERT(times.accumulate_idle_time_ms <= idle);
    if (activity != kIdle) RC_ASSERT(times.accumulate_idle_time_ms == idle);
    if (activity == kBusy) {
      RC_ASSERT(times.accumulate_back_pressured_time_ms == waits - idle);
      RC_ASSERT(times.accumulate_busy_time_ms == now - deployed - waits);
    }
  }
}

}  // namespace
}  // namespace tailrace::engine
