// What a task does with its time, as Flink's metrics tell it.
//
// Flink 1.20 TaskIOMetricGroup, ViewUpdater. 1.10 has nothing of this: there a task only answers
// whether it is back-pressured right now (StreamTask::is_back_pressured), which is sampled from
// outside.
//
//   idle  there is no input, or a source has nothing to emit yet
//   soft  back-pressured: no buffer for output before the next record is taken
//   hard  back-pressured: stuck inside a record, because there is no buffer for the rest of it
//   busy  all the rest: records, mails, snapshots, and what follows the end of the data
//
// The task reports what it turns to. Flink updates all gauges of a process every five seconds; as
// nothing depends on it, no event does so here: whoever writes or reads catches up. Sources count as
// sources of the new interface (FLIP-27): Flink does not know how busy a legacy source is.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/ports.hpp"
#include "engine/task/timer_gauge.hpp"

namespace tailrace::engine {

enum class TaskActivity : std::uint8_t { kBusy, kIdle, kSoftBackPressured, kHardBackPressured };

// Flink's gauges under its names. Those "per second" are averages over the last minute as of the
// last update of the process, 0 before the first one.
struct TaskTimes {
  std::int64_t idle_time_ms_per_second = 0;
  std::int64_t soft_back_pressured_time_ms_per_second = 0;
  std::int64_t hard_back_pressured_time_ms_per_second = 0;
  std::int64_t back_pressured_time_ms_per_second = 0;  // the sum of both
  std::int64_t busy_time_ms_per_second = 0;            // what is left of 1000
  std::int64_t max_soft_back_pressure_time_ms = 0;     // the longest in the last interval
  std::int64_t max_hard_back_pressure_time_ms = 0;
  // Without the part since the last update of a wait that is still going on.
  std::int64_t accumulate_idle_time_ms = 0;
  std::int64_t accumulate_back_pressured_time_ms = 0;
  // What is left of the time since the task has started to run; none before (Flink: NaN).
  std::optional<std::int64_t> accumulate_busy_time_ms;
  // From the begin of the restore until the task runs; so far, while it restores.
  std::int64_t initialization_time_ms = 0;
};

class TaskIOMetrics {
 public:
  // `process_started`: when the process began, which decides when its gauges are updated. The clock
  // outlives this. Requires: process_started <= now.
  TaskIOMetrics(const Clock& clock, Time process_started);

  void mark_task_initialization_started();  // later calls are ignored
  void mark_task_start();

  // From now on the task does that. It is busy at first.
  void set_activity(TaskActivity activity);
  [[nodiscard]] TaskActivity activity() const { return activity_; }

  // As of now. Cost: O(1), no allocation.
  [[nodiscard]] TaskTimes read() const;

 private:
  // Those of one process are updated at the same moments.
  struct Gauges {
    TimerGauge idle;
    TimerGauge soft_back_pressured;
    TimerGauge hard_back_pressured;
    Time next_update;

    void catch_up(Time now);
    [[nodiscard]] TimerGauge* of(TaskActivity activity);  // null: busy
  };

  const Clock* clock_;
  Gauges gauges_;
  TaskActivity activity_ = TaskActivity::kBusy;
  std::optional<std::int64_t> initializing_since_ms_;
  std::optional<std::int64_t> running_since_ms_;
};

}  // namespace tailrace::engine
