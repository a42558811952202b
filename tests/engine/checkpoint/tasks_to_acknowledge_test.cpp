// Whatever attempts take part, and in whatever order, each is found and no other.
#include "engine/checkpoint/tasks_to_acknowledge.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_setup_110.hpp"

namespace tailrace::engine {
namespace {

std::vector<TaskToAcknowledge> tasks_of(const std::vector<std::uint64_t>& attempts) {
  test::Journal journal;
  std::vector<TaskToAcknowledge> tasks;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const auto subtask = static_cast<std::int32_t>(i);
    test::NotingVertex vertex(journal, subtask, 0, subtask,
                              static_cast<std::int32_t>(attempts.size()),
                              ExecutionAttemptId{attempts[i]});
    tasks.emplace_back(vertex);
  }
  return tasks;
}

void expect_all_found(const std::vector<std::uint64_t>& attempts) {
  const TasksToAcknowledge tasks(tasks_of(attempts));
  RC_ASSERT(tasks.size() == attempts.size());
  std::vector<std::uint64_t> sorted = attempts;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    RC_ASSERT(tasks.all()[i].attempt.value == attempts[i]);
    RC_ASSERT(tasks.by_attempt(i).attempt.value == sorted[i]);
  }
  const std::uint64_t end = sorted.empty() ? 2 : sorted.back() + 2;
  for (std::uint64_t attempt = 0; attempt <= end; ++attempt) {
    const auto found = std::find(attempts.begin(), attempts.end(), attempt);
    const TaskToAcknowledge* task = tasks.find(ExecutionAttemptId{attempt});
    RC_ASSERT((task != nullptr) == (found != attempts.end()));
    if (task == nullptr) continue;
    RC_ASSERT(task == &tasks.all()[static_cast<std::size_t>(found - attempts.begin())]);
  }
}

RC_GTEST_PROP(TasksToAcknowledge, FindsEveryAttemptAndNoOther, ()) {
  expect_all_found(
      *rc::gen::unique<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 200)));
}

// As after a restart of a region: runs of consecutive attempts, not in the order of the subtasks.
RC_GTEST_PROP(TasksToAcknowledge, FindsAttemptsOfRestartedRegions,
              (const std::vector<std::uint8_t>& runs)) {
  std::vector<std::uint64_t> attempts;
  std::uint64_t next = 1;
  for (const std::uint8_t run : runs) {
    next += run / 16;
    std::vector<std::uint64_t> region;
    for (int i = 0; i < run % 16; ++i) region.push_back(next++);
    const bool in_front = run % 2 == 0;
    attempts.insert(in_front ? attempts.begin() : attempts.end(), region.begin(), region.end());
  }
  expect_all_found(attempts);
}

TEST(TasksToAcknowledge, RefuseAnAttemptThatOccursTwice) {
  EXPECT_THROW(TasksToAcknowledge(tasks_of({3, 5, 3})), base::InvariantViolation);
  EXPECT_THROW(TasksToAcknowledge(tasks_of({3, 3})), base::InvariantViolation);
}

}  // namespace
}  // namespace tailrace::engine
