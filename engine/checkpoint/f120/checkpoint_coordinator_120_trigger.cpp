// Starting checkpoints: requests, the timer, the chain of a trigger phase (spec coordinator.md 3).

#include <algorithm>

#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

struct CheckpointCoordinator120::TriggerPhase {
  CheckpointTriggerRequestPtr request;
  std::int64_t timestamp_ms = 0;
  Pending pending;  // null: not created
  bool ended = false;
  std::size_t coordinators_awaited = 0;
  bool coordinators_asked = false;  // all of them
  bool coordinator_failed = false;
  // By position in the coordinator's list.
  std::vector<OperatorCoordinatorCheckpointContext::Snapshot> coordinator_states;
};

// ---- Requests

void CheckpointCoordinator120::trigger_checkpoint(bool periodic, CheckpointDone done) {
  submit_on_timer(checkpoint_properties_, {}, periodic, std::move(done));
}

void CheckpointCoordinator120::trigger_checkpoint_of_type(RequestedCheckpointType type,
                                                          CheckpointDone done) {
  CheckpointProperties properties = checkpoint_properties_;
  if (type == RequestedCheckpointType::FULL) properties.type = CheckpointType::FULL_CHECKPOINT;
  if (type == RequestedCheckpointType::INCREMENTAL) properties.type = CheckpointType::CHECKPOINT;
  submit_on_timer(properties, {}, false, std::move(done));
}

void CheckpointCoordinator120::trigger_savepoint(std::string target_directory,
                                                 SavepointFormatType format, CheckpointDone done) {
  submit_on_timer(CheckpointProperties::for_savepoint(!configuration_.unaligned, format),
                  std::move(target_directory), false, std::move(done));
}

void CheckpointCoordinator120::trigger_synchronous_savepoint(std::string target_directory,
                                                             bool drain, SavepointFormatType format,
                                                             CheckpointDone done) {
  submit_on_timer(
      CheckpointProperties::for_sync_savepoint(!configuration_.unaligned, drain, format),
      std::move(target_directory), false, std::move(done));
}

void CheckpointCoordinator120::submit_on_timer(CheckpointProperties properties,
                                               std::string target_directory, bool periodic,
                                               CheckpointDone done) {
  auto request = std::make_unique<CheckpointTriggerRequest>();
  request->properties = properties;
  request->target_directory = std::move(target_directory);
  request->periodic = periodic;
  request->done = std::move(done);
  on_timer([this, request = std::move(request)]() mutable {
    // Flink gives the user another promise than the request's, and joins the two when the request
    // has been submitted: what happens inside that call is heard after it.
    struct Relay {
      CheckpointDone user;
      std::optional<CheckpointResult> early;
      bool joined = false;
    };
    const auto relay = std::make_shared<Relay>();
    relay->user = std::move(request->done);
    submit(request->properties, std::move(request->target_directory), request->periodic,
           [relay](CheckpointResult result) {
             if (!relay->joined) {
               relay->early = std::move(result);
             } else if (relay->user) {
               relay->user(std::move(result));
             }
           });
    relay->joined = true;
    if (relay->early.has_value() && relay->user) relay->user(std::move(*relay->early));
  });
}

void CheckpointCoordinator120::submit(CheckpointProperties properties, std::string target_directory,
                                      bool periodic, CheckpointDone done) {
  auto request = std::make_unique<CheckpointTriggerRequest>();
  request->properties = properties;
  request->target_directory = std::move(target_directory);
  request->periodic = periodic;
  request->done = std::move(done);
  request->created_ms = services_.clock->now().millis_truncated();
  CheckpointTriggerRequestPtr chosen =
      decider_.choose_request_to_execute(std::move(request), situation());
  if (chosen != nullptr) start_triggering(std::move(chosen));
}

CheckpointRequestDecider::Situation CheckpointCoordinator120::situation() const {
  return {.triggering = triggering_,
          .pending = pending_.size(),
          .cleaning = services_.cleaner->checkpoints_to_clean(),
          .now = services_.clock->now(),
          .last_completion = last_completion_};
}

void CheckpointCoordinator120::execute_queued_request() {
  CheckpointTriggerRequestPtr chosen = decider_.choose_queued_request_to_execute(situation());
  if (chosen != nullptr) start_triggering(std::move(chosen));
}

void CheckpointCoordinator120::schedule_trigger_request() {
  if (shutdown_) return;
  on_timer([this] { execute_queued_request(); });
}

std::optional<CheckpointFailureReason> CheckpointCoordinator120::pre_check(bool periodic) const {
  if (shutdown_) return CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN;
  if (periodic && !periodic_scheduling_) {
    return CheckpointFailureReason::PERIODIC_SCHEDULER_SHUTDOWN;
  }
  return std::nullopt;
}

// ---- The chain of a trigger phase (3.5)

void CheckpointCoordinator120::start_triggering(CheckpointTriggerRequestPtr request) {
  const auto phase = std::make_shared<TriggerPhase>();
  phase->request = std::move(request);
  if (const auto reason = pre_check(phase->request->periodic)) {
    on_trigger_failure(*phase, *reason);
    return;
  }
  TAILRACE_ASSERT(!triggering_);  // C3
  triggering_ = true;
  phase_ = phase;
  phase->timestamp_ms = services_.clock->now().millis_truncated();

  base::Result<CheckpointPlan, CheckpointFailureReason> plan =
      services_.plans->calculate_checkpoint_plan();
  if (!plan.ok()) return complete_trigger_promise(phase, plan.error());
  // On an executor, without the lock.
  on_io([this, phase, plan = std::make_unique<CheckpointPlan>(std::move(plan).value())](
            IoExecutor::Done thread_free) mutable {
    struct Counting {
      std::unique_ptr<CheckpointPlan> plan;
      IoExecutor::Done thread_free;
    };
    services_.id_counter->get_and_increment_async(lifeline_.bind(
        [this, phase,
         counting = std::make_unique<Counting>(Counting{std::move(plan), std::move(thread_free)})](
            std::optional<CheckpointId> id) mutable {
          on_checkpoint_id(phase, id, std::move(counting->plan));
          counting->thread_free();
        }));
  });
}

void CheckpointCoordinator120::on_checkpoint_id(const Phase& phase, std::optional<CheckpointId> id,
                                                std::unique_ptr<CheckpointPlan> plan) {
  if (!id.has_value()) {
    return complete_trigger_promise(phase,
                                    services_.id_counter->last_failure_was_io()
                                        ? CheckpointFailureReason::IO_EXCEPTION
                                        : CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  }
  TAILRACE_ASSERT_MSG(*id > last_id_, std::to_string(*id));  // C2
  last_id_ = *id;
  on_timer([this, phase, id = *id, plan = std::move(plan)]() mutable {
    create_pending_checkpoint(phase, id, std::move(*plan));
  });
}

void CheckpointCoordinator120::create_pending_checkpoint(const Phase& phase, CheckpointId id,
                                                         CheckpointPlan plan) {
  CheckpointTriggerRequest& request = *phase->request;
  if (const auto reason = pre_check(request.periodic)) {
    return complete_trigger_promise(phase, *reason);
  }
  std::vector<PendingCheckpoint120::CoordinatorInfo> coordinators;
  for (const OperatorCoordinatorCheckpointContext* context : coordinators_) {
    coordinators.push_back(
        {context->operator_id(), context->current_parallelism(), context->max_parallelism()});
  }
  std::vector<std::string> hooks;
  for (const AsynchronousMasterHook* hook : master_hooks_) hooks.push_back(hook->identifier());
  const auto tasks = static_cast<std::int32_t>(plan.tasks_to_wait_for.size());
  const CheckpointMetaData meta{id, phase->timestamp_ms};
  CheckpointStatsPtr statistics = report_pending(meta, plan, request.properties);
  if (tasks == 0) {
    // Every task is over. In the statistics it stays in progress, as in Flink's.
    return complete_trigger_promise(phase, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  }
  phase->pending = std::make_shared<PendingCheckpoint120>(
      meta, std::move(plan), std::move(coordinators), std::move(hooks), request.properties,
      std::move(request.done));
  request.done.reset();
  phase->pending->set_options(options_for(request.properties, nullptr));
  phase->pending->set_statistics(std::move(statistics));
  services_.observer->on_checkpoint_triggered(configuration_.job, meta, phase->pending->options(),
                                              tasks);
  TAILRACE_ASSERT(request.properties.forced ||
                  pending_.size() < static_cast<std::size_t>(configuration_.max_concurrent));  // C1
  pending_.emplace(id, phase->pending);
  const ScheduledExecutor::TaskId canceller =
      timer_.schedule(ScheduledTaskKind::CheckpointCanceller, configuration_.timeout,
                      [this, expiring = std::weak_ptr(phase->pending)] {
                        locked([this, expiring] {
                          const Pending pending = expiring.lock();
                          if (pending == nullptr) return;
                          abort_pending_checkpoint(
                              pending, CheckpointFailureReason::CHECKPOINT_EXPIRED, std::nullopt);
                        });
                      });
  if (!phase->pending->set_canceller(canceller)) timer_.cancel(canceller);
  initialize_location(phase);
}

void CheckpointCoordinator120::initialize_location(const Phase& phase) {
  on_io([this, phase](IoExecutor::Done thread_free) mutable {
    make_location(phase, std::move(thread_free));
  });
}

void CheckpointCoordinator120::make_location(const Phase& phase, IoExecutor::Done thread_free) {
  const CheckpointTriggerRequest& request = *phase->request;
  const CheckpointId id = phase->pending->id();
  std::optional<CheckpointStorageLocation> location =
      request.properties.is_savepoint()
          ? services_.storage->initialize_location_for_savepoint(id, request.target_directory)
          : services_.storage->initialize_location_for_checkpoint(id);
  if (!location.has_value()) {
    complete_trigger_promise(phase, CheckpointFailureReason::IO_EXCEPTION);
    return thread_free();
  }
  const auto made = [this, phase](CheckpointStorageLocation where) {
    on_timer([this, phase, where = std::make_unique<CheckpointStorageLocation>(std::move(where))] {
      if (phase->pending->is_disposed()) return;  // the new location stays unattached
      phase->pending->set_location(std::move(*where));
      snapshot_coordinators(phase);
    });
  };
  const Duration price = services_.compute->price({WorkKind::kCheckpointTrigger, -1, 1, 0});
  if (price.ns == 0) {
    made(std::move(*location));
    return thread_free();
  }
  struct Making {
    CheckpointStorageLocation where;
    IoExecutor::Done thread_free;
  };
  services_.compute->run(
      {}, price,
      lifeline_.bind([made, making = std::make_unique<Making>(
                                Making{std::move(*location), std::move(thread_free)})]() mutable {
        made(std::move(making->where));
        making->thread_free();
      }));
}

void CheckpointCoordinator120::snapshot_coordinators(const Phase& phase) {
  phase->coordinators_awaited = coordinators_.size();
  phase->coordinator_states.resize(coordinators_.size());
  // One more, so that answers inside the calls do not end it before all were asked.
  ++phase->coordinators_awaited;
  const auto answered = [this](const Phase& answering) {
    --answering->coordinators_awaited;
    if (answering->coordinator_failed) {
      // The first failure ends the phase, whoever has not answered yet; but all are asked first.
      if (answering->coordinators_asked) {
        complete_trigger_promise(answering, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
      }
    } else if (answering->coordinators_awaited == 0) {
      on_timer([this, answering] { acknowledge_coordinators(answering); });
    }
  };
  for (std::size_t i = 0; i < coordinators_.size(); ++i) {
    coordinators_[i]->checkpoint_coordinator(
        phase->pending->id(),
        lifeline_.bind([phase, i, answered](OperatorCoordinatorCheckpointContext::Snapshot state) {
          if (!state.has_value()) phase->coordinator_failed = true;
          phase->coordinator_states[i] = std::move(state);
          answered(phase);
        }));
  }
  phase->coordinators_asked = true;
  answered(phase);
}

void CheckpointCoordinator120::acknowledge_coordinators(const Phase& phase) {
  for (std::size_t i = 0; i < coordinators_.size(); ++i) {
    const auto result = phase->pending->acknowledge_coordinator_state(
        coordinators_[i]->operator_id(), std::move(phase->coordinator_states[i]));
    if (result != PendingCheckpoint120::AcknowledgeResult::SUCCESS) {
      return complete_trigger_promise(phase, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
    }
  }
  on_timer([this, phase] {
    if (phase->pending->is_disposed()) return;
    snapshot_master_state(phase);
  });
}

void CheckpointCoordinator120::snapshot_master_state(const Phase& phase) {
  if (master_hooks_.empty()) return complete_trigger_promise(phase, std::nullopt);
  const std::vector<AsynchronousMasterHook*> hooks = master_hooks_;
  for (AsynchronousMasterHook* hook : hooks) {
    hook->trigger_checkpoint(
        phase->pending->id(), phase->timestamp_ms,
        lifeline_.bind([this, phase, hook](AsynchronousMasterHook::Answer answer) {
          on_timer([this, phase, hook,
                    boxed = std::make_unique<AsynchronousMasterHook::Answer>(std::move(answer))] {
            on_hook_answer(phase, hook->identifier(), std::move(*boxed));
          });
        }));
  }
}

void CheckpointCoordinator120::on_hook_answer(const Phase& phase, const std::string& hook,
                                              AsynchronousMasterHook::Answer answer) {
  if (phase->ended) return;
  if (phase->pending->is_disposed() || std::holds_alternative<MasterHookFailure>(answer)) {
    return complete_trigger_promise(phase, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  }
  phase->pending->acknowledge_master_state(hook,
                                           std::get<std::optional<MasterState>>(std::move(answer)));
  if (phase->pending->are_master_states_fully_acknowledged()) {
    complete_trigger_promise(phase, std::nullopt);
  }
}

void CheckpointCoordinator120::complete_trigger_promise(
    const Phase& phase, std::optional<CheckpointFailureReason> failure) {
  if (std::exchange(phase->ended, true)) return;
  on_timer([this, phase, failure] {
    if (phase_ == phase) phase_.reset();
    if (failure.has_value()) {
      on_trigger_failure(*phase, *failure);
    } else {
      trigger_checkpoint_request(phase);
    }
  });
}

void CheckpointCoordinator120::fail_trigger_phase_of(const PendingCheckpoint120& pending,
                                                     CheckpointFailureReason reason) {
  if (phase_ != nullptr && phase_->pending.get() == &pending) {
    complete_trigger_promise(Phase(phase_), reason);
  }
}

void CheckpointCoordinator120::trigger_checkpoint_request(const Phase& phase) {
  const Pending pending = phase->pending;
  if (pending->is_disposed()) {
    return on_trigger_failure(*phase, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  }
  trigger_tasks(phase);
  if (!pending->is_fully_acknowledged()) return on_trigger_success();
  // Tasks of their own accord have acknowledged before they were told.
  if (shutdown_) return;
  begin_finalisation(pending, [this, phase](std::optional<CheckpointFailureReason> failure) {
    if (failure.has_value()) {
      on_trigger_failure(*phase, *failure);
    } else {
      on_trigger_success();
    }
  });
}

void CheckpointCoordinator120::trigger_tasks(const Phase& phase) {
  const Pending& pending = phase->pending;
  pending->set_options(options_for(pending->properties(), &*pending->location()));
  const CheckpointOptions& options = pending->options();
  // Flink waits for all answers and looks at the first failure.
  struct Answers {
    std::size_t awaited = 0;
    std::optional<CheckpointFailureReason> failure;
  };
  const auto answers = std::make_shared<Answers>();
  answers->awaited = pending->plan().tasks_to_trigger.size();
  for (ExecutionVertexAccess* task : pending->plan().tasks_to_trigger) {
    task->trigger_checkpoint(pending->meta(), options, false,
                             lifeline_.bind([this, answers, weak = std::weak_ptr(pending)](
                                                std::optional<CheckpointFailureReason> failure) {
                               if (failure.has_value() && !answers->failure.has_value()) {
                                 // The first failure fails the whole at once.
                                 answers->failure = failure;
                                 on_timer([this, weak, reason = *failure] {
                                   const Pending failed = weak.lock();
                                   if (failed != nullptr)
                                     abort_pending_checkpoint(failed, reason, std::nullopt);
                                 });
                               }
                             }));
  }
}

CheckpointOptions CheckpointCoordinator120::options_for(
    const CheckpointProperties& properties, const CheckpointStorageLocation* location) const {
  const bool full = force_full_snapshot_ && !properties.is_savepoint();
  CheckpointOptions options = CheckpointOptions::for_config(
      full ? CheckpointType::FULL_CHECKPOINT : properties.type, configuration_.exactly_once,
      configuration_.unaligned, configuration_.aligned_timeout);
  options.format = properties.format;
  // Checkpoints go to the default place, which every task knows; only a savepoint names its own.
  if (properties.is_savepoint() && location != nullptr) {
    options.target_location = location->directory;
  }
  return options;
}

void CheckpointCoordinator120::on_trigger_success() {
  triggering_ = false;
  execute_queued_request();
}

void CheckpointCoordinator120::on_trigger_failure(TriggerPhase& phase,
                                                  CheckpointFailureReason reason) {
  const CheckpointProperties properties = phase.request->properties;
  if (phase.pending == nullptr) phase.request->fail(reason);
  for (OperatorCoordinatorCheckpointContext* context : coordinators_) {
    context->abort_current_triggering();
  }
  if (phase.pending != nullptr && !phase.pending->is_disposed()) {
    abort_pending_checkpoint(phase.pending, reason, std::nullopt);
  } else {
    if (phase.pending == nullptr) {
      services_.observer->on_checkpoint_failed(configuration_.job, kNoCheckpoint, reason);
    }
    services_.stats_tracker->report_failed_checkpoint_without_in_progress();
    services_.failure_manager->handle_checkpoint_exception(
        properties, reason, phase.pending == nullptr ? kNoCheckpoint : phase.pending->id(),
        std::nullopt);
  }
  triggering_ = false;
  execute_queued_request();
}

// ---- The periodic trigger (3.1, R-3.16)

void CheckpointCoordinator120::start_checkpoint_scheduler() {
  locked([this] {
    TAILRACE_ASSERT_MSG(!shutdown_, std::string("the checkpoint coordinator is shut down"));
    TAILRACE_ASSERT(is_periodic_checkpointing_configured());
    if (periodic_scheduling_) stop_scheduler_locked();  // whatever is pending goes
    periodic_scheduling_ = true;
    const std::optional<Time> fixed = services_.random->fixed_time(configuration_.random_stream);
    schedule_trigger_with_delay(
        fixed ? std::max(Duration{}, *fixed - services_.clock->now())
              : Duration::millis(services_.random->uniform(configuration_.random_stream,
                                                           min_pause_.millis_truncated(),
                                                           base_interval_.millis_truncated())));
  });
}

void CheckpointCoordinator120::stop_checkpoint_scheduler() {
  locked([this] { stop_scheduler_locked(); });
}

void CheckpointCoordinator120::stop_scheduler_locked() {
  periodic_scheduling_ = false;
  cancel_periodic_trigger();
  decider_.abort_all(CheckpointFailureReason::CHECKPOINT_COORDINATOR_SUSPEND);
  abort_pending_checkpoints_if([](const PendingCheckpoint120&) { return true; },
                               CheckpointFailureReason::CHECKPOINT_COORDINATOR_SUSPEND);
}

void CheckpointCoordinator120::on_job_status_change(JobStatus status) {
  if (!is_periodic_checkpointing_configured()) return;
  if (status == JobStatus::RUNNING) {
    start_checkpoint_scheduler();
  } else {
    stop_checkpoint_scheduler();
  }
}

Duration CheckpointCoordinator120::current_interval() const {
  return backlog_operators_.empty() ? base_interval_ : interval_during_backlog_;
}

void CheckpointCoordinator120::run_periodic_trigger() {
  const Duration interval = current_interval();
  if (interval != Duration::max()) {
    next_trigger_ = next_trigger_ + interval;
    const Duration delay = std::max(Duration{}, next_trigger_ - services_.clock->now());
    current_periodic_trigger_ = timer_.schedule(ScheduledTaskKind::ScheduledTrigger, delay,
                                                [this, generation = periodic_trigger_generation_] {
                                                  locked([this, generation] {
                                                    if (generation == periodic_trigger_generation_)
                                                      run_periodic_trigger();
                                                  });
                                                });
  } else {
    next_trigger_ = Time::max();
    current_periodic_trigger_ = 0;
    ++periodic_trigger_generation_;
  }
  submit(checkpoint_properties_, {}, true, {});
}

void CheckpointCoordinator120::schedule_trigger_with_delay(Duration delay) {
  next_trigger_ = services_.clock->now() + delay;
  const std::uint64_t generation = ++periodic_trigger_generation_;
  current_periodic_trigger_ =
      timer_.schedule(ScheduledTaskKind::ScheduledTrigger, delay, [this, generation] {
        locked([this, generation] {
          if (generation == periodic_trigger_generation_) run_periodic_trigger();
        });
      });
}

void CheckpointCoordinator120::reschedule_trigger(Duration delay) {
  cancel_periodic_trigger();
  schedule_trigger_with_delay(delay);
}

void CheckpointCoordinator120::cancel_periodic_trigger() {
  if (current_periodic_trigger_ == 0) return;
  next_trigger_ = Time::max();
  timer_.cancel(current_periodic_trigger_);
  current_periodic_trigger_ = 0;
  ++periodic_trigger_generation_;
}

void CheckpointCoordinator120::set_is_processing_backlog(OperatorId op,
                                                         bool is_processing_backlog) {
  locked([this, op, is_processing_backlog] {
    if (is_processing_backlog) {
      backlog_operators_.insert(op);
    } else {
      backlog_operators_.erase(op);
    }
    const Duration interval = current_interval();
    if (interval == Duration::max()) return;
    if (services_.clock->now() + interval < next_trigger_) reschedule_trigger(interval);
  });
}

}  // namespace tailrace::engine
