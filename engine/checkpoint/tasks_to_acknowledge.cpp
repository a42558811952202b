#include "engine/checkpoint/tasks_to_acknowledge.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

TaskToAcknowledge::TaskToAcknowledge(ExecutionVertexAccess& of)
    : attempt(*of.current_attempt()),
      vertex(&of),
      vertex_index(of.vertex_index()),
      subtask(of.subtask()),
      attempt_number(of.attempt_number()) {}

TasksToAcknowledge::TasksToAcknowledge(std::vector<TaskToAcknowledge> tasks)
    : tasks_(std::move(tasks)) {
  const auto is_before = [](const TaskToAcknowledge& a, const TaskToAcknowledge& b) {
    return a.attempt < b.attempt;
  };
  if (!std::is_sorted(tasks_.begin(), tasks_.end(), is_before)) {
    ranks_.resize(tasks_.size());
    std::iota(ranks_.begin(), ranks_.end(), 0U);
    std::sort(ranks_.begin(), ranks_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return is_before(tasks_[a], tasks_[b]); });
  }
  for (std::size_t rank = 1; rank < tasks_.size(); ++rank) {
    TAILRACE_ASSERT(by_attempt(rank - 1).attempt < by_attempt(rank).attempt);  // K1
  }
}

const TaskToAcknowledge* TasksToAcknowledge::find(ExecutionAttemptId attempt) const {
  if (tasks_.empty()) return nullptr;
  const std::size_t last = tasks_.size() - 1;
  const ExecutionAttemptId lowest = by_attempt(0).attempt;
  const ExecutionAttemptId highest = by_attempt(last).attempt;
  if (attempt < lowest || highest < attempt) return nullptr;
  // Ranks grow at most as fast as attempts do, from either end.
  const std::uint64_t above_lowest = attempt.value - lowest.value;
  const std::uint64_t below_highest = highest.value - attempt.value;
  std::size_t end = above_lowest < last ? static_cast<std::size_t>(above_lowest) + 1 : last + 1;
  std::size_t begin = below_highest < last ? last - static_cast<std::size_t>(below_highest) : 0;
  if (by_attempt(end - 1).attempt == attempt) return &by_attempt(end - 1);
  if (by_attempt(begin).attempt == attempt) return &by_attempt(begin);
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    const TaskToAcknowledge& task = by_attempt(middle);
    if (task.attempt == attempt) return &task;
    if (task.attempt < attempt) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return nullptr;
}

}  // namespace tailrace::engine
