// What the statistics hear (spec coordinator.md 7).

#include <algorithm>

#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"

namespace tailrace::engine {

CheckpointStatsPtr CheckpointCoordinator120::report_pending(
    const CheckpointMetaData& meta, const CheckpointPlan& plan,
    const CheckpointProperties& properties) {
  std::vector<StatsVertex> vertices;
  const auto add = [&vertices](const std::vector<ExecutionVertexAccess*>& tasks) {
    for (const ExecutionVertexAccess* task : tasks) {
      const auto index = static_cast<std::size_t>(task->vertex_index());
      if (index >= vertices.size()) vertices.resize(index + 1);
      if (vertices[index].subtasks > 0) continue;  // its other subtasks say the same
      vertices[index] = {task->job_vertex_id(), task->parallelism()};
    }
  };
  add(plan.tasks_to_wait_for);
  add(plan.finished_tasks);
  CheckpointStatsPtr statistics = services_.stats_tracker->report_pending_checkpoint(
      meta.id, meta.timestamp_ms, properties, vertices);
  const SubtaskStateStats finished =
      finished_subtask_state_stats_120(services_.clock->now().millis_truncated());
  for (const ExecutionVertexAccess* task : plan.finished_tasks) {
    statistics->report_subtask_stats(task->vertex_index(), task->subtask(), finished);
  }
  return statistics;
}

void CheckpointCoordinator120::report_acknowledged(const PendingCheckpoint120& pending,
                                                   const PendingCheckpoint120::Task& task,
                                                   const CheckpointMetrics& metrics) {
  pending.statistics()->report_subtask_stats(
      task.vertex_index, task.subtask,
      subtask_state_stats_120(services_.clock->now().millis_truncated(), metrics,
                              SubtaskReport::COMPLETE));
}

void CheckpointCoordinator120::report_incomplete(CheckpointId id, ExecutionAttemptId attempt,
                                                 const CheckpointMetrics& metrics) {
  std::int32_t vertex = -1;
  std::int32_t subtask = -1;
  if (const auto pending = pending_.find(id); pending != pending_.end()) {
    const PendingCheckpoint120::Task* task = pending->second->find_task(attempt);
    if (task == nullptr) return;
    vertex = task->vertex_index;
    subtask = task->subtask;
  } else {
    const auto failed = places_of_failed_.find(id);
    if (failed == places_of_failed_.end()) return;
    const PendingCheckpoint120::Places& places = failed->second;
    const auto place =
        std::lower_bound(places.begin(), places.end(), attempt,
                         [](const PendingCheckpoint120::Place& one, ExecutionAttemptId wanted) {
                           return one.attempt < wanted;
                         });
    if (place == places.end() || place->attempt != attempt) return;
    vertex = place->vertex;
    subtask = place->subtask;
  }
  services_.stats_tracker->report_incomplete_stats(
      id, vertex, subtask,
      subtask_state_stats_120(services_.clock->now().millis_truncated(), metrics,
                              SubtaskReport::INCOMPLETE));
}

void CheckpointCoordinator120::report_restored(const CompletedCheckpoint& latest) {
  services_.stats_tracker->report_restored_checkpoint(
      {.id = latest.id,
       .properties = latest.properties,
       .restore_timestamp = services_.stats_tracker->initialization_start(),
       .external_path = latest.external_pointer(),
       .state_size = latest.state_size_bytes()});
}

void CheckpointCoordinator120::report_failed(const PendingCheckpoint120& pending,
                                             CheckpointFailureReason reason,
                                             std::optional<ExecutionAttemptId> attempt) {
  services_.stats_tracker->report_failed_checkpoint(
      pending.id(), services_.clock->now().millis_truncated(), reason);
  remember_tasks_of_failed(pending);
  services_.failure_manager->handle_checkpoint_exception(pending.properties(), reason, pending.id(),
                                                         attempt);
  if (services_.failure_manager->has_counted_last_failure()) {
    services_.stats_tracker->set_failure_counted(pending.id());
  }
}

void CheckpointCoordinator120::remember_tasks_of_failed(const PendingCheckpoint120& pending) {
  const CheckpointStatsHistory& history = services_.stats_tracker->history();
  std::erase_if(places_of_failed_, [&history](const auto& failed) {
    return history.checkpoint_by_id(failed.first) == nullptr;
  });
  if (history.checkpoint_by_id(pending.id()) == nullptr) return;
  places_of_failed_.insert_or_assign(pending.id(), pending.places());
}

}  // namespace tailrace::engine
