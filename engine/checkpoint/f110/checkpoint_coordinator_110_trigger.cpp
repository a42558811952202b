// Starting checkpoints: the timer, the queued request, the trigger phase (spec coordinator.md 3.1 to
// 3.3).

#include <algorithm>

#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

namespace {

// What waits on the timer for a savepoint to be triggered.
struct SavepointRequest {
  CheckpointProperties properties;
  std::string target_directory;
  bool advance_to_end_of_event_time = false;
  std::int64_t timestamp_ms = 0;
  CheckpointDone done;
};

}  // namespace

void CheckpointCoordinator110::start_checkpoint_scheduler() {
  locked([this] {
    TAILRACE_ASSERT_MSG(!shutdown_, std::string("the checkpoint coordinator is shut down"));
    stop_scheduler_locked();  // whatever is pending goes, savepoints too
    periodic_scheduling_ = true;
    schedule_periodic_trigger(random_initial_delay());
  });
}

void CheckpointCoordinator110::stop_checkpoint_scheduler() {
  locked([this] { stop_scheduler_locked(); });
}

void CheckpointCoordinator110::stop_scheduler_locked() {
  trigger_request_queued_ = false;
  periodic_scheduling_ = false;
  cancel_periodic_trigger();
  abort_all_locked(CheckpointFailureReason::CHECKPOINT_COORDINATOR_SUSPEND);
}

void CheckpointCoordinator110::on_job_status_change(JobStatus status) {
  if (!is_periodic_checkpointing_configured()) return;
  if (status == JobStatus::RUNNING) {
    start_checkpoint_scheduler();
  } else {
    stop_checkpoint_scheduler();
  }
}

void CheckpointCoordinator110::trigger_checkpoint(bool periodic, CheckpointDone done) {
  const std::int64_t timestamp_ms = services_.clock->now().millis_truncated();
  locked([this, timestamp_ms, periodic, done = std::move(done)]() mutable {
    trigger_checkpoint_and_report(timestamp_ms, periodic, std::move(done));
  });
}

void CheckpointCoordinator110::trigger_savepoint(std::string target_directory, SavepointFormatType,
                                                 CheckpointDone done) {
  trigger_savepoint_internal(CheckpointProperties::for_savepoint(), std::move(target_directory),
                             false, std::move(done));
}

void CheckpointCoordinator110::trigger_synchronous_savepoint(std::string target_directory,
                                                             bool advance_to_end_of_event_time,
                                                             SavepointFormatType,
                                                             CheckpointDone done) {
  trigger_savepoint_internal(CheckpointProperties::for_sync_savepoint(),
                             std::move(target_directory), advance_to_end_of_event_time,
                             std::move(done));
}

void CheckpointCoordinator110::trigger_savepoint_internal(CheckpointProperties properties,
                                                          std::string target_directory,
                                                          bool advance_to_end_of_event_time,
                                                          CheckpointDone done) {
  auto request = std::make_unique<SavepointRequest>(
      SavepointRequest{properties, std::move(target_directory), advance_to_end_of_event_time,
                       services_.clock->now().millis_truncated(), std::move(done)});
  timer_.execute([this, request = std::move(request)]() mutable {
    locked([this, request = std::move(request)] {
      const TriggerResult started =
          start_checkpoint(request->timestamp_ms, request->properties, request->target_directory,
                           false, request->advance_to_end_of_event_time);
      if (started.ok()) {
        pending_.at(started.value())->set_done(std::move(request->done));
        return;
      }
      if (request->properties.is_synchronous()) {
        services_.failure_manager->handle_synchronous_savepoint_failure(started.error());
      }
      if (request->done) request->done(base::Failure{started.error()});
    });
  });
}

void CheckpointCoordinator110::run_periodic_trigger() {
  trigger_checkpoint_and_report(services_.clock->now().millis_truncated(), true, {});
}

void CheckpointCoordinator110::trigger_checkpoint_and_report(std::int64_t timestamp_ms,
                                                             bool periodic, CheckpointDone done) {
  const TriggerResult started =
      start_checkpoint(timestamp_ms, CheckpointProperties::for_checkpoint(configuration_.retention),
                       {}, periodic, false);
  if (started.ok()) {
    pending_.at(started.value())->set_done(std::move(done));
    return;
  }
  // Whatever id it had is not known here any more: Flink says minus the next one.
  services_.failure_manager->handle_job_level_checkpoint_exception(started.error(),
                                                                   -services_.id_counter->get());
  if (done) done(base::Failure{started.error()});
}

CheckpointCoordinator110::TriggerResult CheckpointCoordinator110::start_checkpoint(
    std::int64_t timestamp_ms, const CheckpointProperties& properties,
    const std::string& target_directory, bool periodic, bool advance_to_end_of_event_time) {
  TAILRACE_ASSERT(!advance_to_end_of_event_time || properties.is_synchronous());
  const auto refuse = [this](CheckpointFailureReason reason) -> TriggerResult {
    services_.observer->on_checkpoint_failed(configuration_.job, kNoCheckpoint, reason);
    return base::Failure{reason};
  };

  if (const auto reason = pre_check(periodic, properties.forced)) return refuse(*reason);
  for (const ExecutionVertexAccess* vertex : vertices_.to_trigger) {
    if (!vertex->current_attempt().has_value() || vertex->state() != ExecutionState::RUNNING) {
      return refuse(CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING);
    }
  }
  std::optional<std::vector<PendingCheckpoint110::Task>> tasks = tasks_to_acknowledge();
  if (!tasks.has_value()) return refuse(CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING);

  const std::optional<CheckpointId> id = services_.id_counter->get_and_increment();
  if (!id.has_value()) return refuse(CheckpointFailureReason::EXCEPTION);
  TAILRACE_ASSERT_MSG(*id > last_id_, std::to_string(*id));  // C2
  last_id_ = *id;
  std::optional<CheckpointStorageLocation> location =
      properties.is_savepoint()
          ? services_.storage->initialize_location_for_savepoint(*id, target_directory)
          : services_.storage->initialize_location_for_checkpoint(*id);
  if (!location.has_value()) return refuse(CheckpointFailureReason::EXCEPTION);

  std::vector<std::string> hooks;
  for (const MasterTriggerRestoreHook* hook : master_hooks_) hooks.push_back(hook->identifier());
  const auto task_count = static_cast<std::int32_t>(tasks->size());
  auto owned = std::make_unique<PendingCheckpoint110>(CheckpointMetaData{*id, timestamp_ms},
                                                      properties, std::move(*location),
                                                      std::move(*tasks), std::move(hooks));
  PendingCheckpoint110& pending = *owned;
  const CheckpointOptions options = pending.options();
  services_.stats_tracker->report_pending_checkpoint(*id, timestamp_ms, properties,
                                                     stats_vertices_);
  services_.observer->on_checkpoint_triggered(configuration_.job, pending.meta(), options,
                                              task_count);

  // Flink repeats the pre-checks here, because it let go of its lock meanwhile: nothing can have
  // changed within this event.
  TAILRACE_ASSERT(properties.forced ||
                  pending_.size() < static_cast<std::size_t>(configuration_.max_concurrent));  // C1
  pending_.emplace(*id, std::move(owned));
  pending.set_canceller(
      timer_.schedule(ScheduledTaskKind::CheckpointCanceller, configuration_.timeout,
                      [this, expired = *id] { locked([this, expired] { expire(expired); }); }));
  if (!trigger_master_hooks(pending)) {
    // The abort ends with a look at the pending checkpoints: this one must be gone by then.
    const std::unique_ptr<PendingCheckpoint110> failed = std::move(pending_.at(*id));
    pending_.erase(*id);
    abort_pending_checkpoint(*failed, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE,
                             std::nullopt);
    services_.storage->dispose_on_failure(*id, failed->location());  // once more
    return base::Failure{CheckpointFailureReason::EXCEPTION};
  }

  const CheckpointMetaData meta = pending.meta();
  for (ExecutionVertexAccess* vertex : vertices_.to_trigger) {
    vertex->trigger_checkpoint(meta, options, advance_to_end_of_event_time, {});
  }
  return *id;
}

std::optional<CheckpointFailureReason> CheckpointCoordinator110::pre_check(bool periodic,
                                                                           bool forced) {
  if (shutdown_) return CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN;
  if (periodic && !periodic_scheduling_) {
    return CheckpointFailureReason::PERIODIC_SCHEDULER_SHUTDOWN;
  }
  if (forced) return std::nullopt;
  if (trigger_request_queued_) return CheckpointFailureReason::ALREADY_QUEUED;
  if (pending_.size() >= static_cast<std::size_t>(configuration_.max_concurrent)) {
    trigger_request_queued_ = true;
    cancel_periodic_trigger();
    return CheckpointFailureReason::TOO_MANY_CONCURRENT_CHECKPOINTS;
  }
  if (last_completion_.has_value()) {
    const Time earliest = *last_completion_ + min_pause_;
    if (earliest > services_.clock->now()) {
      cancel_periodic_trigger();
      schedule_periodic_trigger(earliest - services_.clock->now());
      return CheckpointFailureReason::MINIMUM_TIME_BETWEEN_CHECKPOINTS;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<PendingCheckpoint110::Task>>
CheckpointCoordinator110::tasks_to_acknowledge() const {
  std::vector<PendingCheckpoint110::Task> tasks;
  tasks.reserve(vertices_.to_acknowledge.size());
  for (const ExecutionVertexAccess* vertex : vertices_.to_acknowledge) {
    const std::optional<ExecutionAttemptId> attempt = vertex->current_attempt();
    if (!attempt.has_value()) return std::nullopt;  // any state will do
    tasks.push_back({*attempt, vertex, vertex->attempt_number(), false});
  }
  return tasks;
}

bool CheckpointCoordinator110::trigger_master_hooks(PendingCheckpoint110& pending) {
  for (MasterTriggerRestoreHook* hook : master_hooks_) {
    auto answer = hook->trigger_checkpoint(pending.id(), pending.meta().timestamp_ms);
    if (std::holds_alternative<MasterHookFailure>(answer)) return false;
    pending.acknowledge_master_state(hook->identifier(),
                                     std::get<std::optional<MasterState>>(std::move(answer)));
  }
  return true;
}

void CheckpointCoordinator110::trigger_queued_requests() {
  if (!trigger_request_queued_) return;
  trigger_request_queued_ = false;
  if (periodic_scheduling_) {
    cancel_periodic_trigger();
    schedule_periodic_trigger(Duration{});  // the period starts anew from here
  } else {
    timer_.execute([this] { locked([this] { run_periodic_trigger(); }); });
  }
}

void CheckpointCoordinator110::check_and_reset_scheduler() {
  if (shutdown_ || !periodic_scheduling_ || current_periodic_trigger_ != 0) return;
  const bool all_discarded = std::all_of(pending_.begin(), pending_.end(), [](const auto& entry) {
    return entry.second->is_discarded();
  });
  if (!all_discarded) return;
  trigger_request_queued_ = false;
  schedule_periodic_trigger(random_initial_delay());
}

void CheckpointCoordinator110::schedule_periodic_trigger(Duration delay) {
  current_periodic_trigger_ =
      timer_.schedule_at_fixed_rate(ScheduledTaskKind::ScheduledTrigger, delay, base_interval_,
                                    [this] { locked([this] { run_periodic_trigger(); }); });
}

void CheckpointCoordinator110::cancel_periodic_trigger() {
  timer_.cancel(current_periodic_trigger_);
  current_periodic_trigger_ = 0;
}

Duration CheckpointCoordinator110::random_initial_delay() {
  return Duration::millis(services_.random->uniform(configuration_.random_stream,
                                                    min_pause_.millis_truncated(),
                                                    base_interval_.millis_truncated()));
}

}  // namespace tailrace::engine
