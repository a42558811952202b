#include "engine/checkpoint/f120/default_checkpoint_plan_calculator.hpp"

#include <algorithm>
#include <utility>

#include "engine/graph/f120/subtask_edges.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

DefaultCheckpointPlanCalculator::DefaultCheckpointPlanCalculator(
    const JobGraph& graph, std::vector<ExecutionVertexAccess*> tasks,
    bool checkpoints_after_tasks_finish)
    : graph_(graph),
      tasks_(std::move(tasks)),
      checkpoints_after_tasks_finish_(checkpoints_after_tasks_finish) {
  std::size_t next = 0;
  for (const JobVertex& vertex : graph_.vertices) {
    first_task_.push_back(next);
    next += static_cast<std::size_t>(vertex.parallelism);
  }
  TAILRACE_ASSERT(next == tasks_.size());
}

base::Result<CheckpointPlan, CheckpointFailureReason>
DefaultCheckpointPlanCalculator::calculate_checkpoint_plan() const {
  constexpr auto kNotRunning = CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING;
  const bool any_finished =
      std::any_of(tasks_.begin(), tasks_.end(), [](const ExecutionVertexAccess* task) {
        return task->current_attempt().has_value() && task->state() == ExecutionState::FINISHED;
      });
  if (any_finished && !checkpoints_after_tasks_finish_) return base::Failure{kNotRunning};
  const bool all_initiated = std::all_of(
      tasks_.begin(), tasks_.end(),
      [](const ExecutionVertexAccess* task) { return task->current_attempt().has_value(); });
  if (!all_initiated) return base::Failure{kNotRunning};

  CheckpointPlan plan =
      any_finished ? calculate_after_tasks_finished() : calculate_with_all_tasks_running();
  const bool all_running = std::all_of(
      plan.tasks_to_wait_for.begin(), plan.tasks_to_wait_for.end(),
      [](const ExecutionVertexAccess* task) { return task->state() == ExecutionState::RUNNING; });
  if (!all_running) return base::Failure{kNotRunning};
  plan.may_have_finished_tasks = checkpoints_after_tasks_finish_;
  return plan;
}

CheckpointPlan DefaultCheckpointPlanCalculator::calculate_with_all_tasks_running() const {
  CheckpointPlan plan;
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    if (!graph_.vertices[v].is_source()) continue;
    for (std::int32_t i = 0; i < graph_.vertices[v].parallelism; ++i) {
      plan.tasks_to_trigger.push_back(task(v, i));
    }
  }
  plan.tasks_to_wait_for = tasks_;
  plan.tasks_to_commit_to = tasks_;
  return plan;
}

CheckpointPlan DefaultCheckpointPlanCalculator::calculate_after_tasks_finished() const {
  const std::vector<Running> running = running_by_vertex();
  CheckpointPlan plan;
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    const JobVertex& vertex = graph_.vertices[v];
    if (running[v].count == 0) plan.fully_finished_vertices.push_back(vertex.index);
    // If every subtask is fed for sure, the point-wise connections need not be followed.
    const bool all_fed =
        std::any_of(vertex.inputs.begin(), vertex.inputs.end(), [&](const JobEdge& edge) {
          const auto source = static_cast<std::size_t>(edge.source_vertex);
          return edge.pattern == DistributionPattern::ALL_TO_ALL
                     ? running[source].count > 0
                     : running[source].count == graph_.vertices[source].parallelism;
        });
    for (std::int32_t i = 0; i < vertex.parallelism; ++i) {
      ExecutionVertexAccess* const subtask = task(v, i);
      if (running[v].subtasks[static_cast<std::size_t>(i)] == 0) {
        plan.finished_tasks.push_back(subtask);
        continue;
      }
      plan.tasks_to_wait_for.push_back(subtask);
      plan.tasks_to_commit_to.push_back(subtask);
      if (!all_fed && !has_running_predecessor(vertex, i, running, graph_)) {
        plan.tasks_to_trigger.push_back(subtask);
      }
    }
  }
  return plan;
}

std::vector<DefaultCheckpointPlanCalculator::Running>
DefaultCheckpointPlanCalculator::running_by_vertex() const {
  std::vector<Running> running(graph_.vertices.size());
  for (std::size_t v = 0; v < running.size(); ++v) {
    for (std::int32_t i = 0; i < graph_.vertices[v].parallelism; ++i) {
      const bool runs = !is_terminal(task(v, i)->state());
      running[v].subtasks.push_back(runs ? 1 : 0);
      if (runs) ++running[v].count;
    }
  }
  return running;
}

bool DefaultCheckpointPlanCalculator::has_running_predecessor(const JobVertex& vertex,
                                                              std::int32_t subtask,
                                                              const std::vector<Running>& running,
                                                              const JobGraph& graph) {
  for (const JobEdge& edge : vertex.inputs) {
    if (edge.pattern != DistributionPattern::POINTWISE) continue;
    const auto source = static_cast<std::size_t>(edge.source_vertex);
    for (const ConsumedSubpartition& consumed : f120::consumed_subpartitions(
             edge.pattern, graph.vertices[source].parallelism, vertex.parallelism, subtask)) {
      if (running[source].subtasks[static_cast<std::size_t>(consumed.producer)] != 0) return true;
    }
  }
  return false;
}

}  // namespace tailrace::engine
