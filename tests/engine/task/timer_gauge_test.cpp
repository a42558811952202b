#include "engine/task/timer_gauge.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tailrace::engine {
namespace {

constexpr std::int64_t kStart = 42'000'000;
constexpr std::int64_t kInterval = 5000;

TEST(TimerGauge, CountsWhatWasMarkedAtTheNextUpdate) {
  TimerGauge gauge(5);
  gauge.update(kStart);
  EXPECT_EQ(gauge.value(), 0);

  gauge.mark_start(kStart);
  gauge.mark_end(kStart + 10);
  EXPECT_EQ(gauge.value(), 0);
  EXPECT_EQ(gauge.max_single_measurement(), 0);
  EXPECT_EQ(gauge.accumulated_count(), 10);
  gauge.update(kStart + 10);
  EXPECT_EQ(gauge.value(), 2);
  EXPECT_EQ(gauge.max_single_measurement(), 10);

  gauge.mark_start(kStart + 10);
  gauge.mark_end(kStart + 15);
  gauge.update(kStart + 15);
  EXPECT_EQ(gauge.value(), 1);
  EXPECT_EQ(gauge.max_single_measurement(), 5);  // goes down again
  EXPECT_EQ(gauge.accumulated_count(), 15);
}

TEST(TimerGauge, CountsAMeasurementThatGoesOn) {
  TimerGauge gauge(5);
  gauge.mark_start(kStart);
  EXPECT_TRUE(gauge.is_measuring());
  gauge.update(kStart + 10);
  EXPECT_EQ(gauge.value(), 2);
  EXPECT_EQ(gauge.max_single_measurement(), 10);
  gauge.update(kStart + 20);
  EXPECT_EQ(gauge.value(), 2);
  EXPECT_EQ(gauge.max_single_measurement(), 20);  // from its very start
  EXPECT_EQ(gauge.accumulated_count(), 20);
  gauge.mark_end(kStart + 25);
  EXPECT_EQ(gauge.accumulated_count(), 25);  // what an update has counted is not counted again
  gauge.update(kStart + 30);
  EXPECT_EQ(gauge.value(), 1);
  EXPECT_EQ(gauge.max_single_measurement(), 25);
  EXPECT_FALSE(gauge.is_measuring());
}

TEST(TimerGauge, AveragesOverItsSpanAndForgetsWhatIsBehind) {
  TimerGauge gauge(14);  // two intervals, the rest is cut off
  gauge.mark_start(kStart);
  gauge.mark_end(kStart + 100);
  gauge.update(kStart + kInterval);
  EXPECT_EQ(gauge.value(), 20);  // there is one so far
  gauge.update(kStart + 2 * kInterval);
  EXPECT_EQ(gauge.value(), 10);
  gauge.update(kStart + 3 * kInterval);
  EXPECT_EQ(gauge.value(), 0);
  EXPECT_EQ(gauge.accumulated_count(), 100);
}

TEST(TimerGauge, IsAtMostAThousand) {
  TimerGauge gauge(5);
  gauge.mark_start(kStart);
  gauge.update(kStart + 9000);
  EXPECT_EQ(gauge.value(), 1000);
}

TEST(TimerGauge, MarksWithoutAChangeHaveNoEffectAlsoAtTheBeginOfTime) {
  TimerGauge gauge(5);
  gauge.mark_end(0);
  gauge.mark_start(0);
  gauge.mark_start(70);
  gauge.mark_end(100);
  gauge.mark_end(200);
  EXPECT_EQ(gauge.accumulated_count(), 100);
}

RC_GTEST_PROP(TimerGauge, UpdatesInOneGoAreTheSameAsOneByOne, ()) {
  const auto span = *rc::gen::inRange(5, 61);
  TimerGauge one_go(span);
  TimerGauge one_by_one(span);
  std::int64_t now = 0;
  for (const bool measures : *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>())) {
    now += *rc::gen::inRange(0, 8000);
    for (TimerGauge* gauge : {&one_go, &one_by_one}) {
      measures ? gauge->mark_start(now) : gauge->mark_end(now);
    }
    const std::int64_t first = now + *rc::gen::inRange(0, 8000);
    const auto count = *rc::gen::inRange(0, 40);
    one_go.update_repeatedly(first, count);
    for (std::int64_t i = 0; i < count; ++i) one_by_one.update(first + i * kInterval);
    if (count > 0) now = first + (count - 1) * kInterval;
    RC_ASSERT(one_go.value() == one_by_one.value());
    RC_ASSERT(one_go.max_single_measurement() == one_by_one.max_single_measurement());
    RC_ASSERT(one_go.accumulated_count() == one_by_one.accumulated_count());
  }
}

}  // namespace
}  // namespace tailrace::engine
