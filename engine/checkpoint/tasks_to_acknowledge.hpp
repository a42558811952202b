// The subtasks that a pending checkpoint waits for, and what they have reported.
//
// Flink's PendingCheckpoint keeps maps by attempt. Here it is one table that is sized when the
// checkpoint is triggered, because 10,000 acknowledgements look things up in it. Attempts are
// assigned upwards, so those of a job that was started as a whole are consecutive: then the place of
// an attempt is known without a search.
//
// Invariants
//   K1  No attempt occurs twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

struct TaskToAcknowledge {
  ExecutionAttemptId attempt;
  ExecutionVertexAccess* vertex = nullptr;
  // Of the vertex, which need not be looked at for them.
  std::int32_t vertex_index = 0;
  std::int32_t subtask = 0;
  std::int32_t attempt_number = 0;
  bool acknowledged = false;
  std::shared_ptr<const TaskStateSnapshot> state;  // null: none was reported, or it was collected

  // Requires: vertex.current_attempt().
  explicit TaskToAcknowledge(ExecutionVertexAccess& of);
};

class TasksToAcknowledge {
 public:
  // Requires: K1.
  explicit TasksToAcknowledge(std::vector<TaskToAcknowledge> tasks);

  [[nodiscard]] std::size_t size() const { return tasks_.size(); }
  // In the order that they were given in.
  [[nodiscard]] std::span<const TaskToAcknowledge> all() const { return tasks_; }
  [[nodiscard]] std::span<TaskToAcknowledge> all() { return tasks_; }
  [[nodiscard]] const TaskToAcknowledge& by_attempt(std::size_t rank) const {
    return tasks_[place_of(rank)];
  }

  // Null for an attempt that is not one of them. No allocation.
  // Cost: O(1) if the attempts up to it or those from it on are consecutive, else O(log tasks).
  [[nodiscard]] const TaskToAcknowledge* find(ExecutionAttemptId attempt) const;
  [[nodiscard]] TaskToAcknowledge* find(ExecutionAttemptId attempt) {
    const TaskToAcknowledge* found = std::as_const(*this).find(attempt);
    return found == nullptr ? nullptr : &tasks_[static_cast<std::size_t>(found - tasks_.data())];
  }

 private:
  [[nodiscard]] std::size_t place_of(std::size_t rank) const {
    return ranks_.empty() ? rank : ranks_[rank];
  }

  std::vector<TaskToAcknowledge> tasks_;
  std::vector<std::uint32_t> ranks_;  // places by attempt; empty: they are in that order
};

}  // namespace tailrace::engine
