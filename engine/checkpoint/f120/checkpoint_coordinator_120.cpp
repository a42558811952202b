// Messages, completion, abortion, restore (spec coordinator.md 2.3, 4, 6).

#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"

#include <algorithm>

#include "engine/checkpoint/f120/checkpoint_deletion.hpp"
#include "engine/checkpoint/f120/vertex_finished_state_checker.hpp"
#include "engine/checkpoint/metadata/metadata_v4_serializer.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

namespace {

// Flink 1.20 CheckpointCoordinator.NUM_GHOST_CHECKPOINT_IDS.
constexpr std::size_t kRememberedExpiredIds = 16;
// Flink 1.20 CheckpointCoordinatorConfiguration.MINIMAL_CHECKPOINT_TIME.
constexpr Duration kMinimalTime120 = Duration::millis(10);
constexpr Duration kMaximalMinPause120 = Duration::seconds(365LL * 24 * 60 * 60);

Duration disabled_if_too_short(std::optional<Duration> interval) {
  return interval.value_or(Duration{}) < kMinimalTime120 ? Duration::max() : *interval;
}

// Flink 1.20 SnapshotType.getSharingFilesStrategy.
std::optional<SharingFilesStrategy> sharing_of(
    const std::optional<CheckpointProperties>& properties) {
  if (!properties.has_value()) return std::nullopt;
  if (properties->is_savepoint()) return SharingFilesStrategy::NO_SHARING;
  return properties->type == CheckpointType::FULL_CHECKPOINT
             ? SharingFilesStrategy::FORWARD
             : SharingFilesStrategy::FORWARD_BACKWARD;
}

}  // namespace

std::optional<std::string> CheckpointCoordinatorConfiguration120::problem() const {
  if (interval.has_value() && *interval < kMinimalTime120) return "the interval is below 10 ms";
  if (timeout < kMinimalTime120) return "the timeout is below 10 ms";
  if (min_pause < Duration{}) return "the minimum pause is negative";
  if (max_concurrent < 1) return "no checkpoint at all may be under way";
  if (unaligned && max_concurrent > 1) {
    return "unaligned checkpoints can only be taken one at a time";
  }
  return std::nullopt;
}

CheckpointCoordinator120::CheckpointCoordinator120(
    CheckpointCoordinatorConfiguration120 configuration,
    std::vector<OperatorCoordinatorCheckpointContext*> coordinators,
    CheckpointCoordinatorServices120 services)
    : configuration_(std::move(configuration)),
      coordinators_(std::move(coordinators)),
      services_(services),
      checkpoint_properties_(CheckpointProperties::for_checkpoint(configuration_.retention)),
      min_pause_(std::min(configuration_.min_pause, kMaximalMinPause120)),
      base_interval_(disabled_if_too_short(configuration_.interval)),
      interval_during_backlog_(configuration_.interval_during_backlog.has_value()
                                   ? disabled_if_too_short(configuration_.interval_during_backlog)
                                   : base_interval_),
      timer_(*services_.clock, *services_.timers, services_.schedule_listener),
      decider_(configuration_.max_concurrent, min_pause_,
               [this](Duration delay) { reschedule_trigger(delay); }) {
  TAILRACE_ASSERT_MSG(!configuration_.problem().has_value(), *configuration_.problem());
  if (base_interval_ != Duration::max()) base_interval_ = std::max(base_interval_, min_pause_);
  if (!configuration_.interval_during_backlog.has_value()) {
    interval_during_backlog_ = base_interval_;
  }
}

bool CheckpointCoordinator120::add_master_hook(AsynchronousMasterHook& hook) {
  TAILRACE_ASSERT(hook.identifier().find_first_not_of(" \t\n") != std::string::npos);
  const bool known =
      std::any_of(master_hooks_.begin(), master_hooks_.end(),
                  [&hook](const auto* other) { return other->identifier() == hook.identifier(); });
  if (!known) master_hooks_.push_back(&hook);
  return !known;
}

// ---- Messages

// Flink 1.20 ExecutionGraphHandler.processCheckpointCoordinatorMessage: what tasks say about
// checkpoints is handled by the I/O executor.
void CheckpointCoordinator120::on_io(IoExecutor::Work work) {
  if (services_.io_executor != nullptr) {
    services_.io_executor->execute(std::move(work));
  } else {
    work([] {});
  }
}

void CheckpointCoordinator120::receive_acknowledge_message(AcknowledgeCheckpoint message,
                                                           AcknowledgeDone done) {
  IoExecutor* const io = services_.io_executor;
  if (io == nullptr || io->take_thread()) {
    acknowledge_on_thread(std::move(message), std::move(done));
    return;
  }
  struct Acknowledging {
    AcknowledgeCheckpoint message;
    AcknowledgeDone done;
  };
  auto boxed = std::make_unique<Acknowledging>(Acknowledging{std::move(message), std::move(done)});
  io->execute([this, boxed = std::move(boxed)](const IoExecutor::Done&) {
    acknowledge_on_thread(std::move(boxed->message), std::move(boxed->done));
  });
}

// It keeps its thread while it waits for the lock, and while it finalises the checkpoint.
void CheckpointCoordinator120::acknowledge_on_thread(AcknowledgeCheckpoint message,
                                                     AcknowledgeDone done) {
  locked([this, message = std::move(message), done = std::move(done)]() mutable {
    if (!acknowledge_locked(message, std::move(done))) give_back_thread();
  });
}

void CheckpointCoordinator120::give_back_thread() {
  if (services_.io_executor != nullptr) services_.io_executor->give_back_thread();
}

bool CheckpointCoordinator120::acknowledge_locked(AcknowledgeCheckpoint& message,
                                                  AcknowledgeDone done) {
  const auto answer = [&done](bool known) {
    if (done) done({known, false});
    return false;
  };
  if (shutdown_ || message.job != configuration_.job) return answer(false);

  const auto found = pending_.find(message.checkpoint_id);
  // Whatever becomes of the message (4.1). What a savepoint holds belongs to nobody else.
  if (found == pending_.end() || !found->second->properties().is_savepoint()) {
    auto registered =
        services_.registry->register_all(std::move(message.state), message.checkpoint_id);
    if (registered.error.has_value()) {
      if (done) done({.registration_failed = true});
      return false;
    }
    message.state = std::move(registered.snapshot);
  }
  if (found == pending_.end()) {
    services_.observer->on_late_acknowledgement(configuration_.job, message.checkpoint_id);
    report_incomplete(message.checkpoint_id, message.attempt, message.metrics);
    discard_subtask_state(message);
    return answer(std::find(recent_expired_.begin(), recent_expired_.end(),
                            message.checkpoint_id) != recent_expired_.end());
  }
  const Pending pending = found->second;
  TAILRACE_ASSERT(!pending->is_disposed());  // C4
  switch (pending->acknowledge_task(message.attempt, std::move(message.state))) {
    case PendingCheckpoint120::AcknowledgeResult::SUCCESS: {
      const PendingCheckpoint120::Task& task = *pending->find_task(message.attempt);
      report_acknowledged(*pending, task, message.metrics);
      services_.observer->on_checkpoint_acknowledged(
          configuration_.job, pending->id(), {task.vertex_index, task.subtask, task.attempt_number},
          pending->acknowledged(), message.metrics,
          task.state == nullptr ? 0 : task.state->state_size_bytes());
      if (!pending->is_fully_acknowledged()) break;
      begin_finalisation(pending, [this, done = std::move(done)](
                                      std::optional<CheckpointFailureReason> failure) mutable {
        if (done) done({true, failure.has_value()});
        give_back_thread();
      });
      return true;
    }
    case PendingCheckpoint120::AcknowledgeResult::DUPLICATE:
      break;  // its state is neither recorded nor discarded
    case PendingCheckpoint120::AcknowledgeResult::UNKNOWN:
    case PendingCheckpoint120::AcknowledgeResult::DISCARDED:
      discard_subtask_state(message);
      break;
  }
  return answer(true);
}

void CheckpointCoordinator120::discard_subtask_state(const AcknowledgeCheckpoint& message) {
  if (message.state == nullptr) return;
  FileNames paths;
  message.state->append_private_files(paths);
  for (const std::string* path : paths) services_.storage->discard_file(*path);
}

void CheckpointCoordinator120::receive_decline_message(DeclineCheckpoint message) {
  on_io([this, message](IoExecutor::Done thread_free) mutable {
    locked([this, message, thread_free = std::move(thread_free)]() mutable {
      decline_locked(message);
      thread_free();
    });
  });
}

void CheckpointCoordinator120::decline_locked(const DeclineCheckpoint& message) {
  if (shutdown_) return;
  TAILRACE_ASSERT(message.job == configuration_.job);
  const auto found = pending_.find(message.checkpoint_id);
  if (found == pending_.end()) return;
  const Pending pending = found->second;
  TAILRACE_ASSERT(!pending->is_disposed());  // C4
  const PendingCheckpoint120::Task* task = pending->find_task(message.attempt);
  services_.observer->on_checkpoint_declined(
      configuration_.job, pending->id(),
      task == nullptr ? SubtaskRef{-1, -1, 0}
                      : SubtaskRef{task->vertex_index, task->subtask, task->attempt_number},
      message.reason);
  abort_pending_checkpoint(pending, message.reason, message.attempt);
}

void CheckpointCoordinator120::report_checkpoint_metrics(const ReportCheckpointMetrics& message) {
  auto boxed = std::make_unique<ReportCheckpointMetrics>(message);
  on_io([this, boxed = std::move(boxed)](IoExecutor::Done thread_free) mutable {
    locked([this, boxed = std::move(boxed), thread_free = std::move(thread_free)]() mutable {
      TAILRACE_ASSERT(boxed->job == configuration_.job);
      report_incomplete(boxed->checkpoint_id, boxed->attempt, boxed->metrics);
      thread_free();
    });
  });
}

void CheckpointCoordinator120::fail_unacknowledged_pending_checkpoints_for(
    ExecutionAttemptId attempt) {
  locked([this, attempt] {
    abort_pending_checkpoints_if(
        [attempt](const PendingCheckpoint120& pending) {
          return !pending.is_acknowledged_by(attempt);
        },
        CheckpointFailureReason::TASK_FAILURE);
  });
}

void CheckpointCoordinator120::abort_pending_checkpoints(CheckpointFailureReason reason) {
  locked([this, reason] {
    abort_pending_checkpoints_if([](const PendingCheckpoint120&) { return true; }, reason);
  });
}

// ---- Abortion

void CheckpointCoordinator120::abort_pending_checkpoint(const Pending& pending,
                                                        CheckpointFailureReason reason,
                                                        std::optional<ExecutionAttemptId> attempt) {
  if (pending->is_disposed()) return;
  const Pending held = pending;
  abort_object(held, reason);
  services_.observer->on_checkpoint_failed(configuration_.job, held->id(), reason);
  report_failed(*held, reason, attempt);
  send_aborted_messages(*held);
  pending_.erase(held->id());
  if (reason == CheckpointFailureReason::CHECKPOINT_EXPIRED) {
    if (recent_expired_.size() >= kRememberedExpiredIds) recent_expired_.pop_front();
    recent_expired_.push_back(held->id());
  }
  schedule_trigger_request();
}

void CheckpointCoordinator120::abort_object(const Pending& pending,
                                            CheckpointFailureReason reason) {
  pending->note_failure(reason);
  pending->fail(reason);
  fail_trigger_phase_of(*pending, reason);
  release_states(pending);
  pending->dispose();
  timer_.cancel(pending->canceller());
  TAILRACE_ASSERT(pending->can_be_subsumed() ||
                  reason != CheckpointFailureReason::CHECKPOINT_SUBSUMED);
}

void CheckpointCoordinator120::release_states(const Pending& pending) {
  services_.cleaner->clean(
      [this, pending](base::InplaceFunction<void(), 128> done) {
        FileNames paths;
        pending->append_private_files(paths);
        if (services_.io_executor != nullptr) {
          return delete_failed(pending, paths, std::move(done));
        }
        for (const std::string* path : paths) services_.storage->discard_file(*path);
        if (pending->location().has_value()) {
          services_.storage->dispose_on_failure(pending->id(), *pending->location());
        }
        done();
      },
      [this] { schedule_trigger_request(); });
}

// Its object gives up what names the files before they are deleted: their names are copied.
void CheckpointCoordinator120::delete_failed(const Pending& pending, const FileNames& paths,
                                             base::InplaceFunction<void(), 128> done) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const std::string* path : paths) names->push_back(*path);
  CheckpointDeletion deletion;
  for (const std::string& name : *names) deletion.files.push_back(&name);
  deletion.owner = names;
  deletion.parallel = configuration_.cleaner_parallel_mode;
  const CheckpointId id = pending->id();
  if (pending->location().has_value()) {
    services_.observer->on_checkpoint_cleaning(configuration_.job, id, true);
    auto where = std::make_unique<CheckpointStorageLocation>(*pending->location());
    deletion.location = [storage = services_.storage, id,
                         where = std::move(where)](CheckpointStorage::Deleted deleted) {
      storage->delete_failed(id, *where, std::move(deleted));
    };
    auto then = std::make_unique<base::InplaceFunction<void(), 128>>(std::move(done));
    deletion.done = [observer = services_.observer, job = configuration_.job, id,
                     then = std::move(then)] {
      observer->on_checkpoint_cleaning(job, id, false);
      (*then)();
    };
  } else {
    deletion.location = [](CheckpointStorage::Deleted deleted) { deleted(); };
    deletion.done = std::move(done);
  }
  delete_on(*services_.io_executor, *services_.storage, std::move(deletion));
}

void CheckpointCoordinator120::send_aborted_messages(const PendingCheckpoint120& pending) {
  const CompletedCheckpointPtr latest = services_.store->latest_checkpoint();
  for (ExecutionVertexAccess* task : pending.plan().tasks_to_commit_to) {
    if (task->current_attempt().has_value()) {
      task->notify_checkpoint_aborted(pending.meta(), latest == nullptr ? 0 : latest->id);
    }
  }
  for (OperatorCoordinatorCheckpointContext* context : coordinators_) {
    context->notify_checkpoint_aborted(pending.id());
  }
}

// ---- Completion (4.3)

void CheckpointCoordinator120::begin_finalisation(const Pending& pending, Finalised then) {
  lock_.keep();
  finalising_ = pending;
  finalised_ = std::move(then);
  services_.registry->checkpoint_completed(pending->id());
  if (const auto reason = pending->collect_states()) return fail_finalisation(*reason);
  // Only savepoints, which are never registered, still have any: their metadata cannot be written.
  if (pending->properties().is_savepoint() && names_placeholders(pending->operator_states())) {
    return fail_finalisation(CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE);
  }
  auto inventory = std::make_unique<StateInventory>(pending->location()->directory);
  std::vector<std::byte> bytes = MetadataV4Serializer::serialize(
      pending->id(), pending->master_states(), pending->operator_states(), pending->properties(),
      {inventory.get(), metadata_bytes_});
  metadata_bytes_ = bytes.size();
  pending->set_inventory(std::move(inventory));
  std::int64_t subtask_states = 0;
  for (const auto& [id, state] : pending->operator_states()) {
    subtask_states += static_cast<std::int64_t>(state.subtasks.size());
  }
  const Work work{.kind = WorkKind::kCheckpointFinalise,
                  .op = -1,
                  .count = subtask_states,
                  .bytes = static_cast<std::int64_t>(bytes.size())};
  services_.compute->run(
      {}, services_.compute->price(work),
      lifeline_.bind([this, bytes = std::move(bytes)]() mutable {
        services_.storage->write_metadata(
            *finalising_->location(), std::move(bytes),
            lifeline_.bind([this](PutStatus status) { on_metadata_written(status); }));
      }));
}

void CheckpointCoordinator120::on_metadata_written(PutStatus status) {
  if (status == PutStatus::kFailed) {
    return fail_finalisation(CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE);
  }
  // Still under the lock, so that what the callbacks ask for waits its turn.
  lock_.resume();
  const CompletedCheckpointPtr completed =
      finalising_->to_completed(configuration_.job, services_.clock->now().millis_truncated());
  finalising_->dispose();
  timer_.cancel(finalising_->canceller());
  schedule_trigger_request();  // the disposal
  if (finalising_->properties().is_savepoint()) {
    complete(completed, kNoCheckpoint);
    return;
  }
  storing_ = completed;
  services_.store->add(
      completed, [this] { return [this] { schedule_trigger_request(); }; },
      lifeline_.bind([this](CompletedCheckpointStore120::Outcome outcome) { on_stored(outcome); }));
}

void CheckpointCoordinator120::on_stored(CompletedCheckpointStore120::Outcome outcome) {
  lock_.resume();
  const CompletedCheckpointPtr completed = std::exchange(storing_, nullptr);
  if (outcome.added == CompletedCheckpointStore120::Added::STORED) {
    force_full_snapshot_ = false;
    const bool discarded =
        outcome.last_subsumed != nullptr && outcome.last_subsumed->properties.discard_on_subsumed;
    complete(completed, discarded ? outcome.last_subsumed->id : kNoCheckpoint);
    return;
  }
  constexpr auto kReason = CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE;
  finalising_->fail(kReason);
  if (outcome.added == CompletedCheckpointStore120::Added::FAILED) {
    services_.cleaner->clean_checkpoint(completed, true, {});
  }
  services_.observer->on_checkpoint_failed(configuration_.job, finalising_->id(), kReason);
  report_failed(*finalising_, kReason, std::nullopt);
  send_aborted_messages(*finalising_);
  end_finalisation(kReason);
}

void CheckpointCoordinator120::complete(CompletedCheckpointPtr completed,
                                        CheckpointId last_subsumed) {
  const Pending pending = finalising_;
  services_.observer->on_checkpoint_completed(configuration_.job, pending->meta(),
                                              pending->options(), completed->state_size_bytes());
  services_.failure_manager->handle_checkpoint_success(pending->id());
  services_.stats_tracker->report_completed_checkpoint(pending->id(),
                                                       completed->external_pointer());
  pending->succeed(completed);
  pending_.erase(pending->id());
  schedule_trigger_request();
  last_completion_ = services_.clock->now();
  const CheckpointProperties& properties = pending->properties();
  if (!properties.is_savepoint() || properties.is_synchronous()) {
    abort_pending_checkpoints_if(
        [id = pending->id()](const PendingCheckpoint120& other) {
          return other.id() < id && other.can_be_subsumed();
        },
        CheckpointFailureReason::CHECKPOINT_SUBSUMED);
    for (ExecutionVertexAccess* task : pending->plan().tasks_to_commit_to) {
      if (task->current_attempt().has_value()) {
        task->notify_checkpoint_complete(pending->meta(), last_subsumed);
      }
    }
    for (OperatorCoordinatorCheckpointContext* context : coordinators_) {
      context->notify_checkpoint_complete(pending->id());
    }
  }
  end_finalisation(std::nullopt);
}

void CheckpointCoordinator120::fail_finalisation(CheckpointFailureReason reason) {
  lock_.resume();
  // Flink's raw error, which has no reason; see checkpoint_coordinator.hpp.
  finalising_->fail(CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE);
  abort_pending_checkpoint(finalising_, reason, std::nullopt);
  // What failed is then writing, and a trigger phase looks for I/O errors first.
  const bool io = reason == CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE;
  end_finalisation(io ? CheckpointFailureReason::IO_EXCEPTION : reason);
}

void CheckpointCoordinator120::end_finalisation(std::optional<CheckpointFailureReason> failure) {
  if (failure.has_value()) {
    pending_.erase(finalising_->id());
    schedule_trigger_request();
  }
  Finalised then = std::exchange(finalised_, {});
  finalising_.reset();
  if (then) then(failure);
  lock_.release();
}

// ---- Restore (6)

void CheckpointCoordinator120::restore_latest_checkpointed_state(RestoreRequest request,
                                                                 RestoreDone done) {
  locked(
      [this, request, done = std::move(done)]() mutable { restore_latest_locked(request, done); });
}

struct CheckpointCoordinator120::SavepointRestore {
  CheckpointId next = 1;
  bool allow_non_restored = false;
  RestoreDone done;
  bool inside_the_call = true;  // of `restore_savepoint`, which still has the lock
  bool is_over = false;
};

void CheckpointCoordinator120::restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode mode,
                                                 bool allow_non_restored, RestoreDone done) {
  locked([this, savepoint = std::move(savepoint), mode, allow_non_restored,
          done = std::move(done)]() mutable {
    TAILRACE_ASSERT(!shutdown_);
    auto restored = std::make_shared<CompletedCheckpoint>(*savepoint);
    switch (mode) {
      case ClaimMode::CLAIM:
        restored->properties = checkpoint_properties_;
        break;
      case ClaimMode::NO_CLAIM:
        restored->properties = CheckpointProperties::for_unclaimed_snapshot();
        break;
      case ClaimMode::LEGACY:
        restored->properties =
            CheckpointProperties::for_savepoint(false, SavepointFormatType::CANONICAL);
        break;
    }
    const CheckpointId next = savepoint->id + 1;
    const auto refused = services_.registry->register_all_after_restored(
        restored->operator_states, restored->id, mode == ClaimMode::CLAIM,
        sharing_of(savepoint->restored_properties));
    TAILRACE_ASSERT_MSG(!refused.has_value(), *refused);
    const auto restore = std::make_shared<SavepointRestore>();
    restore->next = next;
    restore->allow_non_restored = allow_non_restored;
    restore->done = std::move(done);
    services_.store->add(
        std::move(restored), [this] { return [this] { schedule_trigger_request(); }; },
        lifeline_.bind([this, restore](CompletedCheckpointStore120::Outcome outcome) {
          on_savepoint_stored(restore, outcome.added == CompletedCheckpointStore120::Added::STORED);
        }));
    if (!restore->is_over) lock_.keep();
    restore->inside_the_call = false;
  });
}

void CheckpointCoordinator120::on_savepoint_stored(const std::shared_ptr<SavepointRestore>& restore,
                                                   bool stored) {
  if (!stored) return on_savepoint_count_set(*restore, false);
  services_.id_counter->set_count_async(restore->next, lifeline_.bind([this, restore](bool is_set) {
    on_savepoint_count_set(*restore, is_set);
  }));
}

void CheckpointCoordinator120::on_savepoint_count_set(SavepointRestore& restore, bool is_set) {
  restore.is_over = true;
  if (!restore.inside_the_call) lock_.resume();
  if (is_set) {
    last_id_ = restore.next - 1;
    restore_latest_locked({.scope = RestoreScope::INITIAL,
                           .error_if_none = true,
                           .allow_non_restored = restore.allow_non_restored},
                          restore.done);
  } else {
    TAILRACE_ASSERT_MSG(services_.fail_job != nullptr, std::string("the store failed"));
    services_.fail_job->fail_job("Could not store the savepoint to restore from.");
  }
  if (!restore.inside_the_call) lock_.release();
}

void CheckpointCoordinator120::restore_latest_locked(RestoreRequest request, RestoreDone& done) {
  TAILRACE_ASSERT_MSG(!shutdown_, std::string("the checkpoint coordinator is shut down"));
  services_.stats_tracker->report_initialization_start(services_.clock->now().millis_truncated());
  CompletedCheckpointPtr latest = services_.store->latest_checkpoint();
  if (latest == nullptr) {
    TAILRACE_ASSERT_MSG(!request.error_if_none, std::string("no completed checkpoint to restore"));
    for (AsynchronousMasterHook* hook : master_hooks_) hook->reset();
    if (request.scope == RestoreScope::ALL) {
      for (OperatorCoordinatorCheckpointContext* context : coordinators_) {
        context->reset_to_checkpoint(kNoCheckpoint, nullptr);
      }
    }
    if (done) done(nullptr);
    return;
  }
  report_restored(*latest);
  force_full_snapshot_ = latest->properties.unclaimed;
  if (request.scope == RestoreScope::INITIAL) {
    const auto problem =
        validate_operators_finished_state(services_.plans->graph(), latest->operator_states);
    TAILRACE_ASSERT_MSG(!problem.has_value(), *problem);
  }
  restore_master_hooks(*latest, request.allow_non_restored);
  if (done) done(latest);
  if (request.scope == RestoreScope::SUBTASKS) return;
  for (OperatorCoordinatorCheckpointContext* context : coordinators_) {
    const auto state = latest->operator_states.find(context->operator_id());
    const bool has_state =
        state != latest->operator_states.end() && state->second.coordinator_state.has_value();
    context->reset_to_checkpoint(latest->id,
                                 has_state ? &*state->second.coordinator_state : nullptr);
  }
}

void CheckpointCoordinator120::restore_master_hooks(const CompletedCheckpoint& checkpoint,
                                                    bool allow_non_restored) {
  if (master_hooks_.empty() || checkpoint.master_states.empty()) return;
  std::vector<const MasterState*> states(master_hooks_.size(), nullptr);
  for (const MasterState& state : checkpoint.master_states) {
    const auto hook = std::find_if(
        master_hooks_.begin(), master_hooks_.end(),
        [&state](const auto* candidate) { return candidate->identifier() == state.name; });
    TAILRACE_ASSERT_MSG(hook != master_hooks_.end() || allow_non_restored,
                        "no hook for the master state " + state.name);
    if (hook == master_hooks_.end()) continue;
    states[static_cast<std::size_t>(hook - master_hooks_.begin())] = &state;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    master_hooks_[i]->restore_checkpoint(checkpoint.id, states[i]);
  }
}

void CheckpointCoordinator120::shutdown(JobStatus, ShutdownDone done) {
  locked([this, done = std::move(done)]() mutable {
    if (!shutdown_) shutdown_locked();
    if (done) done();
  });
}

void CheckpointCoordinator120::shutdown_locked() {
  shutdown_ = true;
  periodic_scheduling_ = false;  // the periodic timer ticks on, as Flink's does
  for (AsynchronousMasterHook* hook : master_hooks_) hook->close();
  master_hooks_.clear();
  decider_.abort_all(CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN);
  abort_pending_checkpoints_if([](const PendingCheckpoint120&) { return true; },
                               CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN);
}

}  // namespace tailrace::engine
