#include "engine/checkpoint/checkpoint_plan.hpp"

#include <algorithm>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

bool uses_union_list_state(const ExecutionVertexAccess& vertex, const OperatorStates& states) {
  const auto is_union = [](const std::vector<OperatorStateHandle>& handles) {
    for (const OperatorStateHandle& handle : handles) {
      for (const auto& [name, info] : handle.states) {
        if (info.mode == DistributionMode::UNION) return true;
      }
    }
    return false;
  };
  for (const OperatorId& id : vertex.operator_ids()) {
    const auto found = states.find(id);
    if (found == states.end()) continue;
    for (const auto& [subtask, state] : found->second.subtasks) {
      if (is_union(state.managed_operator) || is_union(state.raw_operator)) return true;
    }
  }
  return false;
}

}  // namespace

void CheckpointPlan::report_task_finished_on_restore(const ExecutionVertexAccess& task) {
  finished_on_restore_.try_emplace(task.vertex_index(), &task);
}

void CheckpointPlan::report_task_has_finished_operators(const ExecutionVertexAccess& task) {
  FinishedOperators& entry = finished_operators_[task.vertex_index()];
  entry.task = &task;
  ++entry.reports;
}

std::optional<CheckpointFailureReason> CheckpointPlan::fulfill_finished_task_status(
    OperatorStates& states) const {
  if (!may_have_finished_tasks) return std::nullopt;

  std::map<std::int32_t, const ExecutionVertexAccess*> fully = finished_on_restore_;
  const std::set<std::int32_t> fully_in_plan(fully_finished_vertices.begin(),
                                             fully_finished_vertices.end());
  std::map<std::int32_t, const ExecutionVertexAccess*> partly;
  for (const ExecutionVertexAccess* task : finished_tasks) {
    const std::int32_t vertex = task->vertex_index();
    if (fully_in_plan.contains(vertex)) {
      fully.try_emplace(vertex, task);
    } else if (!fully.contains(vertex)) {
      partly.try_emplace(vertex, task);
    }
  }

  for (const auto& [vertex, task] : partly) {
    if (uses_union_list_state(*task, states)) {
      return CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_CLOSING;
    }
  }
  for (const auto& [vertex, entry] : finished_operators_) {
    if (partly.contains(vertex) || entry.reports == entry.task->parallelism()) continue;
    if (uses_union_list_state(*entry.task, states)) {
      return CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_CLOSING;
    }
  }

  for (const auto& [vertex, task] : fully) {
    for (const OperatorId& id : task->operator_ids()) {
      const auto found = states.find(id);
      TAILRACE_ASSERT(found == states.end() || found->second.subtasks.empty());
      OperatorState finished{id, task->parallelism(), task->max_parallelism(), {}};
      finished.fully_finished = true;
      states.insert_or_assign(id, std::move(finished));  // what its coordinator said is lost
    }
  }
  for (const ExecutionVertexAccess* task : finished_tasks) {
    for (const OperatorId& id : task->operator_ids()) {
      OperatorState& state =
          states
              .try_emplace(id, OperatorState{id, task->parallelism(), task->max_parallelism(), {}})
              .first->second;
      if (!state.fully_finished) state.finished_subtasks.insert(task->subtask());
    }
  }
  return std::nullopt;
}

}  // namespace tailrace::engine
