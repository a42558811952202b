// A job while it runs: its status, its subtasks and their attempts.
//
// Flink 1.10 ExecutionGraph and Execution (spec rescale.md S-1.1, S-1.2, 6.4): moves attempts through
// their states, talks to task managers, tells the scheduler what became of them. It decides nothing.
//
// Invariants
//   G1  A terminal attempt never changes and holds no slot.
//   G2  A listener hears of each terminal attempt once.
//   G3  Messages about attempts that are not current change nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/graph/execution_vertex.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/scheduling/gateways.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// Numbers attempts of all jobs of a job manager.
struct ExecutionAttemptIds {
  std::uint64_t last = 0;
  ExecutionAttemptId next() { return ExecutionAttemptId{++last}; }
};

class ExecutionGraphListener {
 public:
  // The attempt has ended; its slot is free again. Nothing may be reset from inside this call.
  virtual void on_execution_terminal(ExecutionVertexId vertex, const LogicalSlot* slot) = 0;
  // It ended FAILED; follows on_execution_terminal.
  virtual void on_execution_failed(ExecutionVertexId vertex, const std::string& cause) = 0;
  virtual void on_job_status(JobStatus status) = 0;

 protected:
  ~ExecutionGraphListener() = default;
};

class ExecutionGraph {
 public:
  // Requires: `graph` is valid (from generate_job_graph); the rest outlives the execution graph.
  ExecutionGraph(JobId job, std::shared_ptr<const JobGraph> graph, TaskConfig config,
                 const Ports& ports, Duration ask_timeout, ExecutionAttemptIds& attempt_ids,
                 ExecutionGraphListener& listener);
  ExecutionGraph(const ExecutionGraph&) = delete;
  ExecutionGraph& operator=(const ExecutionGraph&) = delete;
  ~ExecutionGraph();

  [[nodiscard]] JobId job() const { return job_; }
  [[nodiscard]] const JobGraph& job_graph() const { return *graph_; }
  [[nodiscard]] JobStatus status() const { return status_; }
  [[nodiscard]] std::vector<ExecutionJobVertex>& job_vertices() { return job_vertices_; }
  [[nodiscard]] ExecutionVertex& vertex(ExecutionVertexId id) {
    return *job_vertices_[static_cast<std::size_t>(id.vertex)]
                .subtasks[static_cast<std::size_t>(id.subtask)];
  }
  // Topological order of vertices, then subtasks.
  [[nodiscard]] const std::vector<ExecutionVertexId>& all_vertices() const { return all_; }
  // Null for an attempt that is not current (any more).
  [[nodiscard]] ExecutionVertex* find_vertex(ExecutionAttemptId attempt);
  [[nodiscard]] bool all_terminal() const { return terminal_ == all_.size(); }
  [[nodiscard]] bool all_finished() const { return finished_ == all_.size(); }

  // False, and nothing happens, if the status is not `from`.
  bool transition_job_status(JobStatus from, JobStatus to);
  void set_job_status(JobStatus to);

  void reset_for_new_execution(ExecutionVertexId id);
  // Requires: CREATED.
  void transition_to_scheduled(ExecutionVertexId id);
  // Requires: SCHEDULED.
  void assign_slot(ExecutionVertexId id, const LogicalSlot& slot);
  // Sends the subtask to its task manager; without any answer within the ask timeout it fails.
  // Requires: SCHEDULED; it and all its producers have slots.
  void deploy(ExecutionVertexId id);
  // S-6.18. An attempt that is not deployed ends at once; else its task manager is asked to cancel
  // it, up to four times with the ask timeout each, after which it counts as canceled.
  void cancel(ExecutionVertexId id);
  // The attempt ends FAILED (CANCELED if it was canceling), without the task's doing.
  void fail(ExecutionVertexId id, const std::string& cause);

  // From task managers.
  void update_state(const TaskExecutionState& update);
  void cancel_acknowledged(ExecutionAttemptId attempt);

 private:
  [[nodiscard]] std::shared_ptr<const TaskDeploymentDescriptor> describe(ExecutionVertex& vertex);
  void set_state(ExecutionVertex& vertex, ExecutionState state);
  void end(ExecutionVertex& vertex, ExecutionState state, const std::string& cause = {});
  void send_cancel_call(ExecutionVertex& vertex);
  void arm_call_timeout(ExecutionVertex& vertex, void (ExecutionGraph::*expired)(ExecutionVertex&));
  void disarm_call_timeout(ExecutionVertex& vertex);
  void on_deployment_timeout(ExecutionVertex& vertex);
  void on_cancel_timeout(ExecutionVertex& vertex);

  JobId job_;
  std::shared_ptr<const JobGraph> graph_;
  TaskConfig config_;
  Ports ports_;
  Duration ask_timeout_;
  ExecutionAttemptIds& attempt_ids_;
  ExecutionGraphListener& listener_;
  JobStatus status_ = JobStatus::CREATED;
  std::vector<ExecutionJobVertex> job_vertices_;
  std::vector<ExecutionVertexId> all_;
  std::map<ExecutionAttemptId, ExecutionVertexId> current_;
  std::size_t terminal_ = 0;  // current attempts that have ended
  std::size_t finished_ = 0;  // of them FINISHED
};

}  // namespace tailrace::engine
