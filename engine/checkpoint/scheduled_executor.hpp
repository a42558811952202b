// The coordinator's timer thread.
//
// Flink's timer is a Java ScheduledThreadPoolExecutor with one thread; this keeps its order (spec
// coordinator.md ). One alarm of the world's timers stands for all that is scheduled here.
//
// Invariants
//   X1  Tasks due at the same instant run in the order in which they were scheduled; a fixed-rate
//       task keeps the place of its first scheduling.
//   X2  What is handed over by `execute` runs after all tasks due at that instant.
//   X3  While somebody waits on it, nothing runs: whatever is due then runs when the wait is over.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/ports.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

enum class ScheduledTaskKind : std::uint8_t { ScheduledTrigger, CheckpointCanceller };

// Watches what is scheduled; for traces and replays.
class ScheduleListener {
 public:
  // `period`: of a fixed-rate task; Duration::max() for one that never runs again.
  virtual void on_schedule(ScheduledTaskKind kind, Duration delay,
                           std::optional<Duration> period) = 0;

 protected:
  ~ScheduleListener() = default;
};

class ScheduledExecutor {
 public:
  using TaskId = std::uint64_t;  // 0: no task

  struct Waiting {
    Time due;
    ScheduledTaskKind kind;
  };

  ScheduledExecutor(const Clock& clock, Timers& timers, ScheduleListener* listener)
      : clock_(clock), timers_(timers), listener_(listener) {}
  ~ScheduledExecutor() { timers_.cancel(alarm_); }
  ScheduledExecutor(const ScheduledExecutor&) = delete;
  ScheduledExecutor& operator=(const ScheduledExecutor&) = delete;

  TaskId schedule(ScheduledTaskKind kind, Duration delay, Callback action);
  // Requires: period > 0.
  TaskId schedule_at_fixed_rate(ScheduledTaskKind kind, Duration delay, Duration period,
                                Callback action);
  void execute(Callback action);
  // Also from inside a running task, its own included. An unknown task is ignored.
  void cancel(TaskId task);

  // The one thread of the executor waits for somebody else's answer, until `resume`.
  void wait() { ++waits_; }
  void resume();

  // In the order in which they will run.
  [[nodiscard]] std::vector<Waiting> waiting() const;

 private:
  // `id` counts upwards: the place among tasks of the same instant.
  struct Key {
    Time due;
    TaskId id;
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
  };
  struct Task {
    ScheduledTaskKind kind;
    std::optional<Duration> period;
    Callback action;
  };

  TaskId insert(ScheduledTaskKind kind, Duration delay, std::optional<Duration> period,
                Callback action);
  void run_due();
  void set_alarm();

  const Clock& clock_;
  Timers& timers_;
  ScheduleListener* listener_;
  TaskId next_id_ = 1;
  std::map<Key, Task> tasks_;
  std::map<TaskId, Time> due_;
  std::deque<Callback> immediate_;
  TaskId running_ = 0;
  bool running_cancelled_ = false;
  bool in_round_ = false;
  std::int32_t waits_ = 0;
  TimerId alarm_{};
  Time alarm_at_ = Time::max();
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
