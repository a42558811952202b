// Works out the plan of a checkpoint from what runs and what has finished.
//
// Flink 1.20 DefaultCheckpointPlanCalculator (spec coordinator.md ).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_plan.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/graph/job_graph.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class DefaultCheckpointPlanCalculator {
 public:
  // `tasks`: all subtasks of the graph, in the order of its vertices, then by subtask.
  // The graph and the tasks outlive this.
  DefaultCheckpointPlanCalculator(const JobGraph& graph, std::vector<ExecutionVertexAccess*> tasks,
                                  bool checkpoints_after_tasks_finish);

  // Errors: NOT_ALL_REQUIRED_TASKS_RUNNING.
  // Cost: O(tasks + point-wise connections).
  [[nodiscard]] base::Result<CheckpointPlan, CheckpointFailureReason> calculate_checkpoint_plan()
      const;

  [[nodiscard]] const JobGraph& graph() const { return graph_; }

 private:
  struct Running {
    std::vector<std::uint8_t> subtasks;  // 1: not terminal
    std::int32_t count = 0;
  };

  [[nodiscard]] CheckpointPlan calculate_with_all_tasks_running() const;
  [[nodiscard]] CheckpointPlan calculate_after_tasks_finished() const;
  [[nodiscard]] std::vector<Running> running_by_vertex() const;
  [[nodiscard]] static bool has_running_predecessor(const JobVertex& vertex, std::int32_t subtask,
                                                    const std::vector<Running>& running,
                                                    const JobGraph& graph);
  [[nodiscard]] ExecutionVertexAccess* task(std::size_t vertex, std::int32_t subtask) const {
    return tasks_[first_task_[vertex] + static_cast<std::size_t>(subtask)];
  }

  const JobGraph& graph_;
  std::vector<ExecutionVertexAccess*> tasks_;
  std::vector<std::size_t> first_task_;  // by vertex
  bool checkpoints_after_tasks_finish_;
};

}  // namespace tailrace::engine
