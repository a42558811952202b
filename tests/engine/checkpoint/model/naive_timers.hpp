// A clock and the coordinator's timer thread, restated for tests: one list that is searched from
// end to end (spec coordinator.md ).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

struct NaiveTimers {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Task {
    std::int64_t number;  // the place among tasks of the same instant
    std::int64_t at;
    std::int64_t period;  // kNever: runs once
    std::string what;
    std::function<void()> action;
  };

  std::int64_t now = 0;
  std::vector<Task> tasks;
  std::vector<std::function<void()>> handed_over;

  std::int64_t schedule(std::string what, std::int64_t delay, std::int64_t period,
                        std::function<void()> action) {
    const std::int64_t at = delay > kNever - now ? kNever : now + delay;
    tasks.push_back({++last_number_, at, period, std::move(what), std::move(action)});
    return last_number_;
  }
  void cancel(std::int64_t number) {
    std::erase_if(tasks, [number](const Task& task) { return task.number == number; });
  }
  // Delayed tasks that are due, then one round of what was handed over, and again.
  void run_until(std::int64_t end) {
    for (;;) {
      if (run_first_due()) continue;
      if (!handed_over.empty()) {
        for (const auto& action : std::exchange(handed_over, {})) action();
        continue;
      }
      std::int64_t next = kNever;
      for (const Task& task : tasks) next = std::min(next, task.at);
      if (next > end || next == kNever) break;
      now = next;
    }
    now = end;
  }
  // In the order in which they will run.
  [[nodiscard]] nlohmann::json waiting() const {
    std::vector<const Task*> sorted;
    for (const Task& task : tasks) sorted.push_back(&task);
    std::sort(sorted.begin(), sorted.end(), [](const Task* a, const Task* b) {
      return std::pair(a->at, a->number) < std::pair(b->at, b->number);
    });
    nlohmann::json result = nlohmann::json::array();
    for (const Task* task : sorted) result.push_back({{"what", task->what}, {"at", task->at}});
    return result;
  }

 private:
  bool run_first_due() {
    const Task* first = nullptr;
    for (const Task& task : tasks) {
      if (task.at > now) continue;
      if (first == nullptr ||
          std::pair(task.at, task.number) < std::pair(first->at, first->number)) {
        first = &task;
      }
    }
    if (first == nullptr) return false;
    const Task due = *first;
    if (due.period == kNever) {
      cancel(due.number);
    } else {
      for (Task& task : tasks) {
        if (task.number == due.number) task.at += task.period;
      }
    }
    due.action();
    return true;
  }

  std::int64_t last_number_ = 0;
};

}  // namespace tailrace::engine::test
