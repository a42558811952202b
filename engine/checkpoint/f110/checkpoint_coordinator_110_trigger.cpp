// Starting checkpoints: the timer, the queued request, the trigger phase (spec coordinator.md 3.1 to
// 3.3).

#include <algorithm>

#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

struct CheckpointCoordinator110::Trigger {
  std::int64_t timestamp_ms = 0;
  CheckpointProperties properties;
  std::string target_directory;
  bool periodic = false;
  bool advance_to_end_of_event_time = false;
  bool on_timer = false;  // the timer's thread does it
  std::vector<PendingCheckpoint110::Task> tasks;
  std::vector<ExecutionAttemptId> attempts;  // of vertices_.to_trigger
  base::InplaceFunction<void(TriggerResult)> then;
};

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
  auto trigger = std::make_unique<Trigger>();
  trigger->timestamp_ms = services_.clock->now().millis_truncated();
  trigger->properties = properties;
  trigger->target_directory = std::move(target_directory);
  trigger->advance_to_end_of_event_time = advance_to_end_of_event_time;
  trigger->on_timer = true;
  trigger->then = [this, synchronous = properties.is_synchronous(),
                   done =
                       std::make_unique<CheckpointDone>(std::move(done))](TriggerResult started) {
    if (started.ok()) {
      pending_.at(started.value())->set_done(std::move(*done));
      return;
    }
    if (synchronous) {
      services_.failure_manager->handle_synchronous_savepoint_failure(started.error());
    }
    if (*done) (*done)(base::Failure{started.error()});
  };
  timer_.execute([this, trigger = std::move(trigger)]() mutable {
    locked(
        [this, trigger = std::move(trigger)]() mutable { start_checkpoint(std::move(trigger)); });
  });
}

void CheckpointCoordinator110::run_periodic_trigger() {
  trigger_checkpoint_and_report(services_.clock->now().millis_truncated(), true, {});
}

void CheckpointCoordinator110::trigger_checkpoint_and_report(std::int64_t timestamp_ms,
                                                             bool periodic, CheckpointDone done) {
  auto trigger = std::make_unique<Trigger>();
  trigger->timestamp_ms = timestamp_ms;
  trigger->properties = CheckpointProperties::for_checkpoint(configuration_.retention);
  trigger->periodic = periodic;
  trigger->on_timer = periodic;
  trigger->then =
      [this, done = std::make_unique<CheckpointDone>(std::move(done))](TriggerResult started) {
        if (started.ok()) {
          pending_.at(started.value())->set_done(std::move(*done));
          return;
        }
        // Whatever id it had is not known here any more: Flink says minus the next one.
        services_.failure_manager->handle_job_level_checkpoint_exception(
            started.error(), -services_.id_counter->get());
        if (*done) (*done)(base::Failure{started.error()});
      };
  start_checkpoint(std::move(trigger));
}

CheckpointCoordinator110::TriggerResult CheckpointCoordinator110::refuse(
    CheckpointFailureReason reason) {
  services_.observer->on_checkpoint_failed(configuration_.job, kNoCheckpoint, reason);
  return base::Failure{reason};
}

void CheckpointCoordinator110::start_checkpoint(std::unique_ptr<Trigger> trigger) {
  TAILRACE_ASSERT(!trigger->advance_to_end_of_event_time || trigger->properties.is_synchronous());
  if (const auto reason = pre_check(trigger->periodic, trigger->properties.forced)) {
    return trigger->then(refuse(*reason));
  }
  for (const ExecutionVertexAccess* vertex : vertices_.to_trigger) {
    const std::optional<ExecutionAttemptId> attempt = vertex->current_attempt();
    if (!attempt.has_value() || vertex->state() != ExecutionState::RUNNING) {
      return trigger->then(refuse(CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING));
    }
    trigger->attempts.push_back(*attempt);
  }
  std::optional<std::vector<PendingCheckpoint110::Task>> tasks = tasks_to_acknowledge();
  if (!tasks.has_value()) {
    return trigger->then(refuse(CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING));
  }
  trigger->tasks = std::move(*tasks);

  if (!services_.id_counter->is_remote()) {
    const std::optional<CheckpointId> id = services_.id_counter->get_and_increment();
    return on_checkpoint_id(std::move(trigger), id);
  }
  // Without the lock: it communicates, and acknowledgements go on meanwhile. The timer does not.
  if (trigger->on_timer) timer_.wait();
  services_.id_counter->get_and_increment_async(
      lifeline_.bind([this, trigger = std::move(trigger)](std::optional<CheckpointId> id) mutable {
        locked([this, trigger = std::move(trigger), id]() mutable {
          const bool on_timer = trigger->on_timer;
          on_checkpoint_id(std::move(trigger), id);
          if (on_timer) timer_.resume();
        });
      }));
}

void CheckpointCoordinator110::on_checkpoint_id(std::unique_ptr<Trigger> trigger,
                                                std::optional<CheckpointId> id) {
  trigger->then(id.has_value() ? create_pending_checkpoint(*trigger, *id)
                               : refuse(CheckpointFailureReason::EXCEPTION));
}

CheckpointCoordinator110::TriggerResult CheckpointCoordinator110::create_pending_checkpoint(
    Trigger& trigger, CheckpointId id) {
  const CheckpointProperties& properties = trigger.properties;
  TAILRACE_ASSERT_MSG(id > last_id_, std::to_string(id));  // C2
  last_id_ = id;
  std::optional<CheckpointStorageLocation> location =
      properties.is_savepoint()
          ? services_.storage->initialize_location_for_savepoint(id, trigger.target_directory)
          : services_.storage->initialize_location_for_checkpoint(id);
  if (!location.has_value()) return refuse(CheckpointFailureReason::EXCEPTION);

  std::vector<std::string> hooks;
  for (const MasterTriggerRestoreHook* hook : master_hooks_) hooks.push_back(hook->identifier());
  const auto task_count = static_cast<std::int32_t>(trigger.tasks.size());
  auto owned = std::make_unique<PendingCheckpoint110>(CheckpointMetaData{id, trigger.timestamp_ms},
                                                      properties, std::move(*location),
                                                      std::move(trigger.tasks), std::move(hooks));
  PendingCheckpoint110& pending = *owned;
  const CheckpointOptions options = pending.options();
  services_.stats_tracker->report_pending_checkpoint(id, trigger.timestamp_ms, properties,
                                                     stats_vertices_);
  // Nothing can have changed if the counter answered at once.
  if (const auto reason = pre_check(trigger.periodic, properties.forced)) {
    return fail_trigger(*owned, *reason);
  }
  services_.observer->on_checkpoint_triggered(configuration_.job, pending.meta(), options,
                                              task_count);
  TAILRACE_ASSERT(properties.forced ||
                  pending_.size() < static_cast<std::size_t>(configuration_.max_concurrent));  // C1
  pending_.emplace(id, std::move(owned));
  const ScheduledExecutor::TaskId canceller =
      timer_.schedule(ScheduledTaskKind::CheckpointCanceller, configuration_.timeout,
                      [this, expired = id] { locked([this, expired] { expire(expired); }); });
  if (!pending.set_canceller(canceller)) timer_.cancel(canceller);
  if (!trigger_master_hooks(pending)) {
    // The abort ends with a look at the pending checkpoints: this one must be gone by then.
    const std::unique_ptr<PendingCheckpoint110> failed = std::move(pending_.at(id));
    pending_.erase(id);
    return fail_trigger(*failed, CheckpointFailureReason::EXCEPTION);
  }

  const CheckpointMetaData meta = pending.meta();
  for (std::size_t i = 0; i < vertices_.to_trigger.size(); ++i) {
    ExecutionVertexAccess* vertex = vertices_.to_trigger[i];
    // The attempts that were looked at; one that has come since is not to start with a barrier.
    if (vertex->current_attempt() != trigger.attempts[i]) continue;
    vertex->trigger_checkpoint(meta, options, trigger.advance_to_end_of_event_time, {});
  }
  return id;
}

CheckpointCoordinator110::TriggerResult CheckpointCoordinator110::fail_trigger(
    PendingCheckpoint110& pending, CheckpointFailureReason reason) {
  abort_pending_checkpoint(pending, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE,
                           std::nullopt);
  services_.storage->dispose_on_failure(pending.id(), pending.location());  // once more
  return base::Failure{reason};
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
  for (ExecutionVertexAccess* vertex : vertices_.to_acknowledge) {
    if (!vertex->current_attempt().has_value()) return std::nullopt;  // any state will do
    tasks.emplace_back(*vertex);
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
  if (const auto fixed = services_.random->fixed_time(configuration_.random_stream)) {
    return std::max(Duration{}, *fixed - services_.clock->now());
  }
  return Duration::millis(services_.random->uniform(configuration_.random_stream,
                                                    min_pause_.millis_truncated(),
                                                    base_interval_.millis_truncated()));
}

}  // namespace tailrace::engine
