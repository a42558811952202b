// One subtask of a running job, over all its attempts.
//
// Flink 1.10 ExecutionVertex, ExecutionJobVertex. Owned by the ExecutionGraph; never moves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/graph/execution.hpp"
#include "engine/graph/job_graph.hpp"
#include "engine/graph/pipelined_regions.hpp"

namespace tailrace::engine {

class ExecutionVertex;

struct ExecutionJobVertex {
  const JobVertex* job_vertex = nullptr;
  std::int32_t max_parallelism = 128;  // resolved; a restore may override it (S-3.8)
  std::vector<std::unique_ptr<ExecutionVertex>> subtasks;
};

class ExecutionVertex final : public ExecutionVertexAccess {
 public:
  ExecutionVertex(const ExecutionJobVertex& owner, std::int32_t subtask, const Ports& ports,
                  Duration ask_timeout)
      : owner_(owner),
        subtask_(subtask),
        self_(ports.self),
        calls_(*ports.calls),
        timers_(*ports.timers),
        ask_timeout_(ask_timeout) {}
  ExecutionVertex(const ExecutionVertex&) = delete;
  ExecutionVertex& operator=(const ExecutionVertex&) = delete;

  [[nodiscard]] ExecutionVertexId id() const { return {vertex_index(), subtask_}; }
  [[nodiscard]] const JobVertex& job_vertex() const { return *owner_.job_vertex; }
  [[nodiscard]] Execution& execution() { return execution_; }
  [[nodiscard]] const Execution& execution() const { return execution_; }
  // Where the attempt before the current one ran.
  [[nodiscard]] std::optional<ProcessId> prior_location() const { return prior_location_; }
  // Starts a new attempt. Requires: the current one is terminal, or there was none.
  void reset(ExecutionAttemptId attempt);
  // Takes the slot from the current attempt and remembers where it was.
  [[nodiscard]] std::optional<LogicalSlot> take_slot();

  // ExecutionVertexAccess.
  [[nodiscard]] JobVertexId job_vertex_id() const override { return job_vertex().id; }
  [[nodiscard]] std::int32_t vertex_index() const override { return job_vertex().index; }
  [[nodiscard]] std::int32_t subtask() const override { return subtask_; }
  [[nodiscard]] std::int32_t parallelism() const override { return job_vertex().parallelism; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return owner_.max_parallelism; }
  [[nodiscard]] const std::vector<OperatorId>& operator_ids() const override {
    return job_vertex().operator_ids_tail_first;
  }
  [[nodiscard]] std::optional<ExecutionAttemptId> current_attempt() const override {
    return execution_.id;
  }
  [[nodiscard]] std::int32_t attempt_number() const override { return execution_.attempt_number; }
  [[nodiscard]] ExecutionState state() const override { return execution_.state; }
  void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          bool advance_to_end_of_event_time, TriggerAnswered answered) override;
  void notify_checkpoint_complete(const CheckpointMetaData& meta,
                                  CheckpointId last_subsumed) override;
  void notify_checkpoint_aborted(const CheckpointMetaData& meta,
                                 CheckpointId latest_completed) override;

 private:
  const ExecutionJobVertex& owner_;
  std::int32_t subtask_;
  ProcessId self_;
  RemoteCalls& calls_;
  Timers& timers_;
  Duration ask_timeout_;
  Execution execution_;
  bool had_attempt_ = false;
  std::optional<ProcessId> prior_location_;
};

}  // namespace tailrace::engine
