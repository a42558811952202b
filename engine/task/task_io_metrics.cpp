#include "engine/task/task_io_metrics.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr Duration kInterval = TimerGauge::kUpdateInterval;

// Flink's ViewUpdater updates the views that it knows and takes up new ones afterwards, so the first
// interval of a gauge is longer than the others. The updater of a process is there before its tasks;
// at the moment of an update it is the updater that comes first.
Time first_update(Time process_started, Time now) {
  const std::int64_t updates_before = (now - process_started).ns / kInterval.ns;
  return process_started + kInterval * (updates_before + 2);
}

}  // namespace

TaskIOMetrics::TaskIOMetrics(const Clock& clock, Time process_started) : clock_(&clock) {
  TAILRACE_ASSERT(process_started <= clock.now());
  gauges_.next_update = first_update(process_started, clock.now());
}

void TaskIOMetrics::mark_task_initialization_started() {
  if (!initializing_since_ms_) initializing_since_ms_ = clock_->now().millis_truncated();
}

void TaskIOMetrics::mark_task_start() {
  running_since_ms_ = clock_->now().millis_truncated();
}

void TaskIOMetrics::set_activity(TaskActivity activity) {
  if (activity == activity_) return;
  const Time now = clock_->now();
  gauges_.catch_up(now);
  if (TimerGauge* before = gauges_.of(activity_)) before->mark_end(now.millis_truncated());
  activity_ = activity;
  if (TimerGauge* gauge = gauges_.of(activity_)) gauge->mark_start(now.millis_truncated());
}

TaskTimes TaskIOMetrics::read() const {
  const Time now = clock_->now();
  Gauges gauges = gauges_;  // reading changes nothing
  gauges.catch_up(now);
  const TimerGauge& idle = gauges.idle;
  const TimerGauge& soft = gauges.soft_back_pressured;
  const TimerGauge& hard = gauges.hard_back_pressured;
  TaskTimes times;
  times.idle_time_ms_per_second = idle.value();
  times.soft_back_pressured_time_ms_per_second = soft.value();
  times.hard_back_pressured_time_ms_per_second = hard.value();
  times.back_pressured_time_ms_per_second = soft.value() + hard.value();
  times.busy_time_ms_per_second =
      1000 - std::min<std::int64_t>(
                 1000, times.idle_time_ms_per_second + times.back_pressured_time_ms_per_second);
  times.max_soft_back_pressure_time_ms = soft.max_single_measurement();
  times.max_hard_back_pressure_time_ms = hard.max_single_measurement();
  times.accumulate_idle_time_ms = idle.accumulated_count();
  times.accumulate_back_pressured_time_ms = soft.accumulated_count() + hard.accumulated_count();
  const std::int64_t now_ms = now.millis_truncated();
  if (running_since_ms_) {
    times.accumulate_busy_time_ms =
        std::max<std::int64_t>(0, now_ms - *running_since_ms_ - times.accumulate_idle_time_ms -
                                      times.accumulate_back_pressured_time_ms);
  }
  if (initializing_since_ms_) {
    times.initialization_time_ms = running_since_ms_.value_or(now_ms) - *initializing_since_ms_;
  }
  return times;
}

void TaskIOMetrics::Gauges::catch_up(Time now) {
  if (now < next_update) return;
  const std::int64_t count = (now - next_update).ns / kInterval.ns + 1;
  for (TimerGauge* gauge : {&idle, &soft_back_pressured, &hard_back_pressured}) {
    gauge->update_repeatedly(next_update.millis_truncated(), count);
  }
  next_update = next_update + kInterval * count;
}

TimerGauge* TaskIOMetrics::Gauges::of(TaskActivity activity) {
  switch (activity) {
    case TaskActivity::kBusy:
      return nullptr;
    case TaskActivity::kIdle:
      return &idle;
    case TaskActivity::kSoftBackPressured:
      return &soft_back_pressured;
    case TaskActivity::kHardBackPressured:
      return &hard_back_pressured;
  }
  return nullptr;
}

}  // namespace tailrace::engine
