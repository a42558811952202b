#include "engine/scheduling/default_scheduler.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "engine/generation.hpp"
#include "engine/observer.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Each job has a directory of its own: two of them may have checkpoints of the same number.
TaskConfig with_own_directory(TaskConfig tasks, JobId job) {
  tasks.checkpoint_directory += "/job-" + std::to_string(job.value);
  return tasks;
}

}  // namespace

DefaultScheduler::DefaultScheduler(JobId job, std::shared_ptr<const JobGraph> graph,
                                   JobSubmission submission, const Ports& ports,
                                   const ClusterConfig& cluster, SlotPool& pool,
                                   ExecutionAttemptIds& attempt_ids,
                                   CheckpointingFactory& checkpointing, SchedulerOwner& owner,
                                   StoredJob stored)
    : job_(job),
      submission_(std::move(submission)),
      semantics_(&scheduling_semantics(submission_.tasks.generation)),
      ports_(ports),
      cluster_(cluster),
      owner_(owner),
      checkpointing_factory_(checkpointing),
      slots_(pool),
      graph_(job, graph, with_own_directory(submission_.tasks, job), ports, cluster.ask_timeout,
             attempt_ids, *this),
      failover_strategy_(*graph),
      restart_strategy_(make_restart_strategy(submission_.restart,
                                              submission_.tasks.checkpointing_enabled,
                                              semantics_->restart, *ports.clock, *ports.random)),
      is_stored_(stored.handles != nullptr),
      is_recovered_(stored.recovered),
      end_of_data_(*graph) {
  for (const JobVertex& vertex : graph->vertices) {
    versions_.emplace_back(static_cast<std::size_t>(vertex.parallelism), 0);
  }
  CoordinatorContext context;
  context.job = job_;
  context.ports = ports_;
  context.config = submission_.checkpoints;
  context.tasks = with_own_directory(submission_.tasks, job_);
  context.graph = graph;
  context.fail_job = this;
  context.stored = std::move(stored);
  for (const ExecutionVertexId id : graph_.all_vertices()) {
    ExecutionVertex& vertex = graph_.vertex(id);
    context.all_tasks.push_back(&vertex);
    if (vertex.job_vertex().is_source()) context.tasks_to_trigger.push_back(&vertex);
  }
  checkpointing_ = checkpointing.create(std::move(context));
  coordinator_ = &checkpointing_->coordinator();
}

DefaultScheduler::~DefaultScheduler() {
  for (const auto& [id, sequence] : restarts_) ports_.timers->cancel(sequence.timer);
  for (const auto& [id, request] : slot_requests_) ports_.timers->cancel(request.timeout);
}

void DefaultScheduler::start_scheduling() {
  TAILRACE_ASSERT(status() == JobStatus::CREATED);
  if (is_stored_) {
    restore_from_store();
  } else {
    start_from_savepoint_path();
  }
}

void DefaultScheduler::restore_from_store() {
  coordinator_->restore_latest_checkpointed_state(
      {.scope = RestoreScope::INITIAL, .error_if_none = false, .allow_non_restored = false},
      lifeline_.bind([this](const CompletedCheckpointPtr& latest) {
        if (status() != JobStatus::CREATED) return;  // canceled meanwhile
        if (latest != nullptr) return begin_from(*latest, false);
        if (is_recovered_ && ports_.observer != nullptr) {
          ports_.observer->on_restore(job_, kNoCheckpoint);
        }
        start_from_savepoint_path();
      }));
}

void DefaultScheduler::start_from_savepoint_path() {
  if (submission_.savepoint_path.empty()) {
    begin();
    return;
  }
  ports_.blobs->get(
      submission_.savepoint_path + "/_metadata", lifeline_.bind([this](Blob metadata) {
        if (status() != JobStatus::CREATED) return;  // canceled meanwhile
        if (metadata == nullptr) {
          terminate_job(JobStatus::FAILING,
                        "Cannot find meta data file '_metadata' in directory '" +
                            submission_.savepoint_path + "'");
          return;
        }
        base::Result<CompletedCheckpointPtr, std::string> savepoint =
            checkpointing_factory_.load_savepoint(job_, submission_.savepoint_path, *metadata,
                                                  graph_.job_graph(),
                                                  submission_.allow_non_restored_state);
        if (!savepoint) {
          terminate_job(JobStatus::FAILING, savepoint.error());
          return;
        }
        restore_savepoint(std::move(savepoint).value());
      }));
}

void DefaultScheduler::restore_savepoint(CompletedCheckpointPtr savepoint) {
  coordinator_->restore_savepoint(std::move(savepoint), submission_.checkpoints.claim_mode,
                                  submission_.allow_non_restored_state,
                                  lifeline_.bind([this](CompletedCheckpointPtr restored) {
                                    if (status() != JobStatus::CREATED) return;
                                    TAILRACE_ASSERT(restored != nullptr);
                                    begin_from(*restored, submission_.allow_non_restored_state);
                                  }));
}

void DefaultScheduler::begin_from(const CompletedCheckpoint& checkpoint,
                                  bool allow_non_restored_state) {
  if (const auto problem =
          assign_states(graph_.all_vertices(), checkpoint, allow_non_restored_state)) {
    terminate_job(JobStatus::FAILING, *problem);
    return;
  }
  if (ports_.observer != nullptr) ports_.observer->on_restore(job_, checkpoint.id);
  begin();
}

void DefaultScheduler::fail_job(std::string_view cause) {
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this, why = std::string(cause)] {
    if (status() == JobStatus::CREATED) {
      terminate_job(JobStatus::FAILING, why);
    } else {
      handle_global_failure(why);
    }
  }));
}

void DefaultScheduler::begin() {
  graph_.transition_job_status(JobStatus::CREATED, JobStatus::RUNNING);
  allocate_slots_and_deploy(graph_.all_vertices());
}

void DefaultScheduler::update_task_execution_state(const TaskExecutionState& update) {
  graph_.update_state(update);
}

void DefaultScheduler::release_task_manager(ProcessId process, const std::string& cause) {
  for (const ExecutionVertexId id : graph_.all_vertices()) {
    const std::optional<LogicalSlot>& slot = graph_.vertex(id).execution().slot;
    if (slot.has_value() && slot->task_manager.process == process) graph_.fail(id, cause);
  }
}

// ---- Listeners

void DefaultScheduler::on_execution_terminal(ExecutionVertexId vertex, const LogicalSlot* slot) {
  forget_slot_request(vertex);
  on_attempt_terminal(graph_.vertex(vertex).execution().id, graph_.vertex(vertex).state());
  if (slot != nullptr && slots_.release(graph_.vertex(vertex).job_vertex(), vertex.subtask)) {
    owner_.on_slots_freed();
  }
  check_job_done();
  continue_ready_restarts();
}

void DefaultScheduler::on_execution_failed(ExecutionVertexId vertex, const std::string& cause) {
  if (status() != JobStatus::RUNNING && status() != JobStatus::RESTARTING) return;
  maybe_restart(submission_.full_failover ? graph_.all_vertices()
                                          : failover_strategy_.tasks_needing_restart(vertex),
                RestoreScope::SUBTASKS,
                {vertex.vertex, vertex.subtask, graph_.vertex(vertex).execution().attempt_number},
                cause);
}

void DefaultScheduler::on_job_status(JobStatus new_status) {
  coordinator_->on_job_status_change(new_status);
  if (!is_globally_terminal(new_status)) return;
  for (auto& [id, sequence] : restarts_) ports_.timers->cancel(sequence.timer);
  restarts_.clear();
  // Whoever ends a job in Flink waits for the coordinator's lock, which a finalisation holds.
  checkpointing_->shutdown(new_status,
                           lifeline_.bind([this, new_status] { report_end(new_status); }));
}

void DefaultScheduler::report_end(JobStatus new_status) {
  is_shut_down_ = true;
  owner_.on_job_terminated(job_, new_status, failure_cause_);
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, stop] : stops_) waiting.push_back(id);
  for (const std::uint64_t id : waiting) {
    const auto stop = stops_.find(id);
    if (stop == stops_.end()) continue;
    if (stop->second.handler->handle_job_termination(new_status)) {
      stops_.erase(id);
    } else {
      end_stop_when_terminated(id);
    }
  }
}

void DefaultScheduler::fail_job_due_to_task_failure(std::string_view cause,
                                                    ExecutionAttemptId attempt) {
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this, attempt, why = std::string(cause)] {
    const ExecutionVertex* vertex = graph_.find_vertex(attempt);
    if (vertex == nullptr) return;
    if (vertex->state() != ExecutionState::RUNNING &&
        vertex->state() != ExecutionState::INITIALIZING) {
      return;
    }
    handle_global_failure(why);
  }));
}

// ---- Failover

std::uint64_t& DefaultScheduler::version_of(ExecutionVertexId id) {
  return versions_[static_cast<std::size_t>(id.vertex)][static_cast<std::size_t>(id.subtask)];
}

DefaultScheduler::VersionedVertices DefaultScheduler::record_modifications(
    const std::vector<ExecutionVertexId>& ids) {
  VersionedVertices result;
  result.reserve(ids.size());
  for (const ExecutionVertexId id : ids) {
    result.push_back({id, ++version_of(id), graph_.vertex(id).execution().id});
  }
  return result;
}

std::vector<ExecutionVertexId> DefaultScheduler::unmodified(const VersionedVertices& vertices) {
  std::vector<ExecutionVertexId> result;
  for (const VersionedVertex& vertex : vertices) {
    if (version_of(vertex.vertex) == vertex.version) result.push_back(vertex.vertex);
  }
  return result;
}

void DefaultScheduler::handle_global_failure(const std::string& cause) {
  if (status() != JobStatus::RUNNING && status() != JobStatus::RESTARTING) return;
  maybe_restart(graph_.all_vertices(), semantics_->global_failover_scope, {-1, -1, 0}, cause);
}

void DefaultScheduler::maybe_restart(const std::vector<ExecutionVertexId>& vertices,
                                     RestoreScope scope, SubtaskRef failed,
                                     const std::string& cause) {
  restart_strategy_->notify_failure();
  const bool restarts = restart_strategy_->can_restart();
  if (ports_.observer != nullptr) ports_.observer->on_failover(job_, failed, cause, restarts);
  if (restarts) {
    restart_tasks_with_delay(vertices, scope);
  } else {
    terminate_job(JobStatus::FAILING, cause);
  }
}

void DefaultScheduler::restart_tasks_with_delay(const std::vector<ExecutionVertexId>& vertices,
                                                RestoreScope scope) {
  const std::uint64_t id = next_id_++;
  RestartSequence& sequence = restarts_[id];
  sequence.vertices = record_modifications(vertices);
  sequence.scope = scope;
  // The delay runs from the failure, in parallel with the cancelling.
  sequence.timer =
      ports_.timers->schedule(restart_strategy_->backoff_time(), lifeline_.bind([this, id] {
        const auto found = restarts_.find(id);
        found->second.timer = TimerId{};
        if (can_continue(found->second)) continue_restart(id);
      }));
  waiting_for_restart_.insert(vertices.begin(), vertices.end());
  graph_.transition_job_status(JobStatus::RUNNING, JobStatus::RESTARTING);
  for (const ExecutionVertexId vertex : vertices) {
    forget_slot_request(vertex);
    graph_.cancel(vertex);
  }
}

bool DefaultScheduler::can_continue(const RestartSequence& sequence) {
  if (sequence.timer != TimerId{}) return false;
  return std::all_of(sequence.vertices.begin(), sequence.vertices.end(),
                     [this](const VersionedVertex& vertex) {
                       const Execution& current = graph_.vertex(vertex.vertex).execution();
                       return current.id != vertex.attempt || is_terminal(current.state);
                     });
}

void DefaultScheduler::continue_ready_restarts() {
  if (continuing_ || restarts_.empty()) return;
  continuing_ = true;
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this] {
    continuing_ = false;
    std::vector<std::uint64_t> ready;
    for (const auto& [id, sequence] : restarts_) {
      if (can_continue(sequence)) ready.push_back(id);
    }
    for (const std::uint64_t id : ready) {
      if (restarts_.contains(id)) continue_restart(id);
    }
  }));
}

void DefaultScheduler::continue_restart(std::uint64_t id) {
  const auto found = restarts_.find(id);
  const VersionedVertices noted = std::move(found->second.vertices);
  const RestoreScope scope = found->second.scope;
  restarts_.erase(found);
  const std::vector<ExecutionVertexId> vertices = unmodified(noted);  // D1

  // The job counts as running again before anything is restored (S-6.14).
  for (const ExecutionVertexId vertex : vertices) waiting_for_restart_.erase(vertex);
  if (waiting_for_restart_.empty()) {
    graph_.transition_job_status(JobStatus::RESTARTING, JobStatus::RUNNING);
  }
  for (const ExecutionVertexId vertex : vertices) {
    graph_.reset_for_new_execution(vertex);
    end_of_data_.restore_vertex(vertex);
  }

  VersionedVertices current;
  for (const ExecutionVertexId vertex : vertices) {
    current.push_back({vertex, version_of(vertex), graph_.vertex(vertex).execution().id});
  }
  coordinator_->abort_pending_checkpoints(CheckpointFailureReason::JOB_FAILOVER_REGION);
  coordinator_->restore_latest_checkpointed_state(
      {.scope = scope, .error_if_none = false, .allow_non_restored = true},
      lifeline_.bind([this, boxed = std::make_unique<VersionedVertices>(std::move(current))](
                         CompletedCheckpointPtr checkpoint) { on_restored(*boxed, checkpoint); }));
}

void DefaultScheduler::on_restored(const VersionedVertices& noted,
                                   const CompletedCheckpointPtr& checkpoint) {
  if (status() != JobStatus::RUNNING && status() != JobStatus::RESTARTING) return;
  const std::vector<ExecutionVertexId> vertices = unmodified(noted);
  if (vertices.empty()) return;
  if (checkpoint != nullptr) {
    if (const auto problem = assign_states(vertices, *checkpoint, true)) {
      handle_global_failure(*problem);
      return;
    }
  }
  if (ports_.observer != nullptr) {
    ports_.observer->on_restore(job_, checkpoint == nullptr ? kNoCheckpoint : checkpoint->id);
  }
  allocate_slots_and_deploy(vertices);
}

std::optional<std::string> DefaultScheduler::assign_states(
    const std::vector<ExecutionVertexId>& vertices, const CompletedCheckpoint& checkpoint,
    bool allow_non_restored_state) {
  std::set<std::int32_t> involved;
  for (const ExecutionVertexId id : vertices) involved.insert(id.vertex);
  std::vector<VertexToRestore> targets;
  std::map<std::int32_t, std::size_t> place;
  for (const std::int32_t index : involved) place.emplace(index, place.size());
  for (const std::int32_t index : involved) {
    const ExecutionJobVertex& owner = graph_.job_vertices()[static_cast<std::size_t>(index)];
    VertexToRestore target;
    target.id = owner.job_vertex->id;
    target.parallelism = owner.job_vertex->parallelism;
    target.max_parallelism = owner.max_parallelism;
    target.max_parallelism_auto = owner.job_vertex->max_parallelism_auto;
    target.operator_ids = owner.job_vertex->operator_ids_tail_first;
    target.user_defined_ids = owner.job_vertex->user_defined_ids_tail_first;
    // Vertices that exchange records fail over together, so both ends of an edge are here (S-3.35).
    for (const JobEdge& edge : owner.job_vertex->inputs) {
      const auto& siblings =
          graph_.job_vertices()[static_cast<std::size_t>(edge.source_vertex)].job_vertex->outputs;
      const auto same = std::find_if(siblings.begin(), siblings.end(), [&](const JobEdge& other) {
        return other.data_set == edge.data_set;
      });
      target.inputs.push_back({place.at(edge.source_vertex),
                               static_cast<std::size_t>(same - siblings.begin()),
                               upstream_subtask_state_mapper(edge.partitioner),
                               downstream_subtask_state_mapper(edge.partitioner)});
    }
    for (const JobEdge& edge : owner.job_vertex->outputs) {
      target.outputs.push_back({place.at(edge.target_vertex),
                                static_cast<std::size_t>(edge.target_input),
                                upstream_subtask_state_mapper(edge.partitioner),
                                downstream_subtask_state_mapper(edge.partitioner)});
    }
    targets.push_back(std::move(target));
  }
  const CheckpointId ignored = submission_.checkpoints.without_channel_state;
  const bool without_channel_state = ignored != kNoCheckpoint && ignored == checkpoint.id;
  const StateAssignmentOperation operation{checkpoint.id, checkpoint.operator_states,
                                           allow_non_restored_state, semantics_->state_assignment,
                                           without_channel_state};
  const base::Result<std::monostate, std::string> assigned = operation.assign_states(targets);
  if (!assigned) return assigned.error();
  std::size_t at = 0;
  for (const std::int32_t index : involved) {
    ExecutionJobVertex& owner = graph_.job_vertices()[static_cast<std::size_t>(index)];
    VertexToRestore& target = targets[at++];
    owner.max_parallelism = target.max_parallelism;
    for (std::size_t subtask = 0; subtask < target.restores.size(); ++subtask) {
      Execution& execution = owner.subtasks[subtask]->execution();
      if (execution.state == ExecutionState::CREATED) {
        execution.restore = std::move(target.restores[subtask]);
      }
    }
  }
  return std::nullopt;
}

// ---- Slots

void DefaultScheduler::allocate_slots_and_deploy(const std::vector<ExecutionVertexId>& vertices) {
  const std::uint64_t id = next_id_++;
  PendingSlotRequest& request = slot_requests_[id];
  request.vertices = record_modifications(vertices);
  for (const ExecutionVertexId vertex : vertices) graph_.transition_to_scheduled(vertex);
  // A restart keeps the slots of its job, which has declared them already.
  if (!std::exchange(has_declared_slots_, true)) {
    const Duration wait = owner_.requirements_changed();
    if (wait.ns > 0) {
      request.is_known = false;
      ports_.timers->schedule(wait, lifeline_.bind([this, id] {
        const auto found = slot_requests_.find(id);
        if (found == slot_requests_.end()) return;
        found->second.is_known = true;
        on_slots_available();
      }));
    }
  }
  if (try_fulfil(request)) {
    slot_requests_.erase(id);
    return;
  }
  request.timeout = ports_.timers->schedule(
      cluster_.slot_request_timeout, lifeline_.bind([this, id] { on_slot_request_timeout(id); }));
}

bool DefaultScheduler::try_fulfil(PendingSlotRequest& request) {
  if (!request.is_known) return false;
  const std::vector<ExecutionVertexId> vertices = unmodified(request.vertices);
  if (!slots_.try_assign(graph_, vertices)) return false;
  for (const ExecutionVertexId vertex : vertices) graph_.deploy(vertex);
  return true;
}

void DefaultScheduler::on_slots_available() {
  for (auto request = slot_requests_.begin(); request != slot_requests_.end();) {
    if (!try_fulfil(request->second)) return;  // first come, first served
    ports_.timers->cancel(request->second.timeout);
    request = slot_requests_.erase(request);
  }
}

void DefaultScheduler::on_slot_request_timeout(std::uint64_t id) {
  const auto found = slot_requests_.find(id);
  const VersionedVertices noted = std::move(found->second.vertices);
  slot_requests_.erase(found);
  // The first failure of a region cancels the rest of it, which changes their versions.
  for (const VersionedVertex& vertex : noted) {
    if (version_of(vertex.vertex) != vertex.version) continue;
    graph_.fail(vertex.vertex,
                "NoResourceAvailableException: Could not allocate the required slot within slot "
                "request timeout. Please make sure that the cluster has enough resources.");
  }
}

void DefaultScheduler::forget_slot_request(ExecutionVertexId vertex) {
  for (auto request = slot_requests_.begin(); request != slot_requests_.end(); ++request) {
    VersionedVertices& vertices = request->second.vertices;
    const auto found =
        std::find_if(vertices.begin(), vertices.end(),
                     [vertex](const VersionedVertex& v) { return v.vertex == vertex; });
    if (found == vertices.end()) continue;
    vertices.erase(found);
    if (vertices.empty()) {
      ports_.timers->cancel(request->second.timeout);
      slot_requests_.erase(request);
    }
    return;
  }
}

// ---- The end of the job

void DefaultScheduler::cancel_job() {
  if (is_globally_terminal(status()) || status() == JobStatus::FAILING) return;
  terminate_job(JobStatus::CANCELLING, {});
}

void DefaultScheduler::terminate_job(JobStatus transient, const std::string& cause) {
  if (is_globally_terminal(status()) || status() == transient) return;
  failure_cause_ = cause;
  static_cast<void>(record_modifications(graph_.all_vertices()));  // ends all restarts under way
  waiting_for_restart_.clear();
  graph_.set_job_status(transient);
  for (const ExecutionVertexId id : graph_.all_vertices()) graph_.cancel(id);
  check_job_done();
}

void DefaultScheduler::check_job_done() {
  switch (status()) {
    case JobStatus::FAILING:
      if (graph_.all_terminal()) graph_.set_job_status(JobStatus::FAILED);
      return;
    case JobStatus::CANCELLING:
      if (graph_.all_terminal()) graph_.set_job_status(JobStatus::CANCELED);
      return;
    case JobStatus::RUNNING:
      if (graph_.all_finished()) graph_.set_job_status(JobStatus::FINISHED);
      return;
    case JobStatus::CREATED:
    case JobStatus::RESTARTING:
    case JobStatus::FINISHED:
    case JobStatus::CANCELED:
    case JobStatus::FAILED:
    case JobStatus::SUSPENDED:
      return;
  }
}

}  // namespace tailrace::engine
