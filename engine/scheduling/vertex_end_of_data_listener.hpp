// Which tasks of a job have processed all their data.
//
// Flink 1.20 VertexEndOfDataListener (spec coordinator.md ).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/graph/job_graph.hpp"
#include "engine/graph/pipelined_regions.hpp"

namespace tailrace::engine {

class VertexEndOfDataListener {
 public:
  explicit VertexEndOfDataListener(const JobGraph& graph) {
    for (const JobVertex& vertex : graph.vertices) {
      ended_.emplace_back(static_cast<std::size_t>(vertex.parallelism), 0);
    }
  }

  void record_task_end_of_data(ExecutionVertexId id) { of(id) = 1; }
  // The subtask starts again.
  void restore_vertex(ExecutionVertexId id) { of(id) = 0; }
  [[nodiscard]] bool are_all_tasks_of_job_vertex_end_of_data(std::int32_t vertex) const {
    return all(ended_[static_cast<std::size_t>(vertex)]);
  }
  [[nodiscard]] bool are_all_tasks_end_of_data() const {
    return std::all_of(ended_.begin(), ended_.end(), &all);
  }

 private:
  using Subtasks = std::vector<std::uint8_t>;

  [[nodiscard]] static bool all(const Subtasks& subtasks) {
    return std::find(subtasks.begin(), subtasks.end(), 0) == subtasks.end();
  }
  [[nodiscard]] std::uint8_t& of(ExecutionVertexId id) {
    return ended_[static_cast<std::size_t>(id.vertex)][static_cast<std::size_t>(id.subtask)];
  }

  std::vector<Subtasks> ended_;  // by vertex
};

}  // namespace tailrace::engine
