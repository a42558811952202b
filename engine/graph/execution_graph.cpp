#include "engine/graph/execution_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/observer.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink 1.10 Execution.NUM_CANCEL_CALL_TRIES: one call and three retries, without a pause.
constexpr std::int32_t kCancelCallTries = 4;

}  // namespace

ExecutionGraph::ExecutionGraph(JobId job, std::shared_ptr<const JobGraph> graph, TaskConfig config,
                               const Ports& ports, Duration ask_timeout,
                               ExecutionAttemptIds& attempt_ids, ExecutionGraphListener& listener)
    : job_(job),
      graph_(std::move(graph)),
      config_(std::move(config)),
      ports_(ports),
      ask_timeout_(ask_timeout),
      attempt_ids_(attempt_ids),
      listener_(listener),
      job_vertices_(graph_->vertices.size()) {
  for (const JobVertex& job_vertex : graph_->vertices) {
    ExecutionJobVertex& owner = job_vertices_[static_cast<std::size_t>(job_vertex.index)];
    owner.job_vertex = &job_vertex;
    owner.max_parallelism = job_vertex.max_parallelism;
    for (std::int32_t subtask = 0; subtask < job_vertex.parallelism; ++subtask) {
      owner.subtasks.push_back(
          std::make_unique<ExecutionVertex>(owner, subtask, ports_, ask_timeout_));
      all_.push_back({job_vertex.index, subtask});
      reset_for_new_execution(all_.back());
    }
  }
}

ExecutionGraph::~ExecutionGraph() {
  for (const ExecutionVertexId id : all_) disarm_call_timeout(vertex(id));
}

ExecutionVertex* ExecutionGraph::find_vertex(ExecutionAttemptId attempt) {
  const auto found = current_.find(attempt);
  return found == current_.end() ? nullptr : &vertex(found->second);
}

bool ExecutionGraph::transition_job_status(JobStatus from, JobStatus to) {
  if (status_ != from) return false;
  set_job_status(to);
  return true;
}

void ExecutionGraph::set_job_status(JobStatus to) {
  status_ = to;
  if (ports_.observer != nullptr) ports_.observer->on_job_status(job_, to);
  listener_.on_job_status(to);
}

void ExecutionGraph::reset_for_new_execution(ExecutionVertexId id) {
  ExecutionVertex& target = vertex(id);
  terminal_ -= is_terminal(target.state()) ? 1U : 0U;
  finished_ -= target.state() == ExecutionState::FINISHED ? 1U : 0U;
  current_.erase(target.execution().id);
  target.reset(attempt_ids_.next());
  current_[target.execution().id] = id;
}

void ExecutionGraph::transition_to_scheduled(ExecutionVertexId id) {
  TAILRACE_ASSERT(vertex(id).state() == ExecutionState::CREATED);
  set_state(vertex(id), ExecutionState::SCHEDULED);
}

void ExecutionGraph::assign_slot(ExecutionVertexId id, const LogicalSlot& slot) {
  TAILRACE_ASSERT(vertex(id).state() == ExecutionState::SCHEDULED);
  vertex(id).execution().slot = slot;
  vertex(id).execution().task_manager = slot.task_manager;
}

void ExecutionGraph::deploy(ExecutionVertexId id) {
  ExecutionVertex& target = vertex(id);
  TAILRACE_ASSERT(target.state() == ExecutionState::SCHEDULED);
  TAILRACE_ASSERT(target.execution().slot.has_value());
  set_state(target, ExecutionState::DEPLOYING);

  std::shared_ptr<const TaskDeploymentDescriptor> descriptor = describe(target);
  std::int64_t handles = 0;
  if (descriptor->restore != nullptr) {
    for (const auto& [op, state] : descriptor->restore->snapshot.operators) {
      handles +=
          static_cast<std::int64_t>(state.managed_operator.size() + state.raw_operator.size() +
                                    state.managed_keyed.size() + state.raw_keyed.size());
    }
  }
  target.execution().slot->task_manager.tell(
      *ports_.calls, kRpcBytes + handles * kRpcBytesPerHandle,
      [descriptor = std::move(descriptor)](TaskExecutorGateway& gateway) mutable {
        gateway.submit_task(std::move(descriptor));
      });
  arm_call_timeout(target, &ExecutionGraph::on_deployment_timeout);
}

std::shared_ptr<const TaskDeploymentDescriptor> ExecutionGraph::describe(ExecutionVertex& target) {
  const JobVertex& job_vertex = target.job_vertex();
  auto descriptor = std::make_shared<TaskDeploymentDescriptor>();
  descriptor->job = job_;
  descriptor->attempt = target.execution().id;
  descriptor->attempt_number = target.execution().attempt_number;
  descriptor->graph = graph_;
  descriptor->vertex = job_vertex.index;
  descriptor->subtask = target.subtask();
  descriptor->parallelism = job_vertex.parallelism;
  descriptor->max_parallelism = target.max_parallelism();
  descriptor->config = config_;
  descriptor->restore = target.execution().restore;

  for (const JobEdge& edge : job_vertex.outputs) {
    const std::int32_t consumers =
        graph_->vertices[static_cast<std::size_t>(edge.target_vertex)].parallelism;
    const std::vector<std::int32_t> counts =
        graph_->edges->subpartition_counts(edge.pattern, job_vertex.parallelism, consumers);
    descriptor->outputs.push_back(ResultPartitionDescriptor{
        ResultPartitionId{edge.data_set, target.subtask(), target.execution().id},
        counts[static_cast<std::size_t>(target.subtask())], edge.partitioner, edge.type,
        static_cast<std::int32_t>(descriptor->outputs.size()),
        edge.supports_unaligned_checkpoints});
  }
  for (const JobEdge& edge : job_vertex.inputs) {
    const std::int32_t producers =
        graph_->vertices[static_cast<std::size_t>(edge.source_vertex)].parallelism;
    InputGateDescriptor gate{edge.type, edge.data_set, {}};
    for (const ConsumedSubpartition& channel : graph_->edges->consumed_subpartitions(
             edge.pattern, producers, job_vertex.parallelism, target.subtask())) {
      const Execution& producer = vertex({edge.source_vertex, channel.producer}).execution();
      TAILRACE_ASSERT(producer.slot.has_value());
      gate.channels.push_back(
          InputChannelDescriptor{ResultPartitionId{edge.data_set, channel.producer, producer.id},
                                 channel.subpartition, producer.slot->task_manager.process});
    }
    descriptor->gates.push_back(std::move(gate));
  }
  return descriptor;
}

void ExecutionGraph::cancel(ExecutionVertexId id) {
  ExecutionVertex& target = vertex(id);
  switch (target.state()) {
    case ExecutionState::CREATED:
    case ExecutionState::SCHEDULED:
      end(target, ExecutionState::CANCELED);
      return;
    case ExecutionState::DEPLOYING:
    case ExecutionState::INITIALIZING:
    case ExecutionState::RUNNING:
      disarm_call_timeout(target);
      set_state(target, ExecutionState::CANCELING);
      send_cancel_call(target);
      arm_call_timeout(target, &ExecutionGraph::on_cancel_timeout);
      return;
    case ExecutionState::CANCELING:
    case ExecutionState::FINISHED:
    case ExecutionState::CANCELED:
    case ExecutionState::FAILED:
      return;
  }
}

void ExecutionGraph::fail(ExecutionVertexId id, const std::string& cause) {
  ExecutionVertex& target = vertex(id);
  if (is_terminal(target.state())) return;
  if (target.state() == ExecutionState::CANCELING) {
    end(target, ExecutionState::CANCELED);
    return;
  }
  // The task may still be there: it does not know that it has failed.
  if (target.state() == ExecutionState::DEPLOYING ||
      target.state() == ExecutionState::INITIALIZING || target.state() == ExecutionState::RUNNING) {
    send_cancel_call(target);
  }
  end(target, ExecutionState::FAILED, cause);
}

void ExecutionGraph::update_state(const TaskExecutionState& update) {
  ExecutionVertex* target = find_vertex(update.attempt);
  if (target == nullptr || is_terminal(target->state())) return;
  const bool canceling = target->state() == ExecutionState::CANCELING;
  switch (update.state) {
    case ExecutionState::INITIALIZING:
      if (target->state() != ExecutionState::DEPLOYING) return;  // canceled meanwhile
      disarm_call_timeout(*target);
      set_state(*target, ExecutionState::INITIALIZING);
      return;
    case ExecutionState::RUNNING:
      if (target->state() != ExecutionState::DEPLOYING &&
          target->state() != ExecutionState::INITIALIZING) {
        return;  // canceled meanwhile
      }
      disarm_call_timeout(*target);
      set_state(*target, ExecutionState::RUNNING);
      return;
    case ExecutionState::FINISHED:
      end(*target, canceling ? ExecutionState::CANCELED : ExecutionState::FINISHED);
      return;
    case ExecutionState::CANCELED:
      end(*target, ExecutionState::CANCELED);
      return;
    case ExecutionState::FAILED:
      if (canceling) {
        end(*target, ExecutionState::CANCELED);
      } else {
        end(*target, ExecutionState::FAILED, update.failure);
      }
      return;
    case ExecutionState::CREATED:
    case ExecutionState::SCHEDULED:
    case ExecutionState::DEPLOYING:
    case ExecutionState::CANCELING:
      return;  // a task is past these, or the job manager knows already
  }
}

void ExecutionGraph::cancel_acknowledged(ExecutionAttemptId attempt) {
  ExecutionVertex* target = find_vertex(attempt);
  if (target != nullptr && target->state() == ExecutionState::CANCELING) {
    disarm_call_timeout(*target);
  }
}

void ExecutionGraph::set_state(ExecutionVertex& target, ExecutionState state) {
  target.execution().state = state;
  if (ports_.observer == nullptr) return;
  ports_.observer->on_execution_state(
      job_, {target.vertex_index(), target.subtask(), target.execution().attempt_number}, state);
}

void ExecutionGraph::end(ExecutionVertex& target, ExecutionState state, const std::string& cause) {
  TAILRACE_ASSERT(!is_terminal(target.state()) && is_terminal(state));  // G1
  disarm_call_timeout(target);
  ++terminal_;
  finished_ += state == ExecutionState::FINISHED ? 1U : 0U;
  set_state(target, state);
  const std::optional<LogicalSlot> slot = target.take_slot();
  listener_.on_execution_terminal(target.id(), slot.has_value() ? &*slot : nullptr);
  if (state == ExecutionState::FAILED) listener_.on_execution_failed(target.id(), cause);
}

void ExecutionGraph::send_cancel_call(ExecutionVertex& target) {
  ++target.execution().cancel_calls;
  target.execution().slot->task_manager.tell(
      *ports_.calls, kRpcBytes, [attempt = target.execution().id](TaskExecutorGateway& gateway) {
        gateway.cancel_task(attempt);
      });
}

void ExecutionGraph::arm_call_timeout(ExecutionVertex& target,
                                      void (ExecutionGraph::*expired)(ExecutionVertex&)) {
  target.execution().call_timeout =
      ports_.timers->schedule(ask_timeout_, [this, id = target.id(), expired] {
        ExecutionVertex& late = vertex(id);
        late.execution().call_timeout = TimerId{};
        (this->*expired)(late);
      });
}

void ExecutionGraph::disarm_call_timeout(ExecutionVertex& target) {
  if (target.execution().call_timeout == TimerId{}) return;
  ports_.timers->cancel(std::exchange(target.execution().call_timeout, TimerId{}));
}

void ExecutionGraph::on_deployment_timeout(ExecutionVertex& target) {
  const std::string name = target.job_vertex().name + " (" + std::to_string(target.subtask() + 1) +
                           "/" + std::to_string(target.parallelism()) + ")";
  fail(target.id(), "Cannot deploy task " + name +
                        ": the task manager is not responding after a rpcTimeout of " +
                        std::to_string(ask_timeout_.millis_truncated()) + " ms");
}

void ExecutionGraph::on_cancel_timeout(ExecutionVertex& target) {
  if (target.execution().cancel_calls < kCancelCallTries) {
    send_cancel_call(target);
    arm_call_timeout(target, &ExecutionGraph::on_cancel_timeout);
    return;
  }
  fail(target.id(), "The task could not be canceled");
}

}  // namespace tailrace::engine
