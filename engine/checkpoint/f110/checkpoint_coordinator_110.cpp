// Messages, completion, abortion, restore (spec coordinator.md 2.3, 4, 6).

#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"

#include <algorithm>

#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

namespace {

// Flink 1.10 CheckpointCoordinator.NUM_GHOST_CHECKPOINT_IDS.
constexpr std::size_t kRememberedIds = 16;
// Flink 1.10 CheckpointCoordinatorConfiguration.MINIMAL_CHECKPOINT_TIME.
constexpr Duration kMinimalTime = Duration::millis(10);
constexpr Duration kMaximalMinPause = Duration::seconds(365LL * 24 * 60 * 60);

std::vector<StatsVertex> vertices_of(const std::vector<ExecutionVertexAccess*>& subtasks) {
  std::vector<StatsVertex> vertices;
  for (const ExecutionVertexAccess* subtask : subtasks) {
    const auto index = static_cast<std::size_t>(subtask->vertex_index());
    if (index >= vertices.size()) vertices.resize(index + 1);
    vertices[index] = {subtask->job_vertex_id(), subtask->parallelism()};
  }
  return vertices;
}

}  // namespace

CheckpointCoordinator110::CheckpointCoordinator110(
    CheckpointCoordinatorConfiguration110 configuration, CheckpointVertices vertices,
    CheckpointCoordinatorServices110 services)
    : configuration_(std::move(configuration)),
      vertices_(std::move(vertices)),
      services_(services),
      stats_vertices_(vertices_of(vertices_.to_acknowledge)),
      min_pause_(std::min(configuration_.min_pause, kMaximalMinPause)),
      base_interval_(configuration_.interval.value_or(Duration{}) < kMinimalTime
                         ? Duration::max()
                         : std::max(*configuration_.interval, min_pause_)),
      timer_(*services_.clock, *services_.timers, services_.schedule_listener) {
  TAILRACE_ASSERT(configuration_.timeout >= kMinimalTime);
  TAILRACE_ASSERT(configuration_.min_pause.ns >= 0);
  TAILRACE_ASSERT(configuration_.max_concurrent >= 1);
  TAILRACE_ASSERT(services_.registry != nullptr);
}

bool CheckpointCoordinator110::add_master_hook(MasterTriggerRestoreHook& hook) {
  TAILRACE_ASSERT(hook.identifier().find_first_not_of(" \t\n") != std::string::npos);
  const bool known =
      std::any_of(master_hooks_.begin(), master_hooks_.end(),
                  [&hook](const auto* other) { return other->identifier() == hook.identifier(); });
  if (!known) master_hooks_.push_back(&hook);
  return !known;
}

void CheckpointCoordinator110::receive_acknowledge_message(AcknowledgeCheckpoint message,
                                                           AcknowledgeDone done) {
  locked([this, message = std::move(message), done = std::move(done)]() mutable {
    acknowledge_locked(message, std::move(done));
  });
}

void CheckpointCoordinator110::acknowledge_locked(AcknowledgeCheckpoint& message,
                                                  AcknowledgeDone done) {
  const auto answer = [&done](bool known) {
    if (done) done({known, false});
  };
  if (shutdown_ || message.job != configuration_.job) return answer(false);

  const auto found = pending_.find(message.checkpoint_id);
  if (found == pending_.end()) {
    // Too late, or of a checkpoint that was never heard of: nobody will ever need its state.
    services_.observer->on_late_acknowledgement(configuration_.job, message.checkpoint_id);
    discard_subtask_state(message);
    return answer(std::find(recent_pending_.begin(), recent_pending_.end(),
                            message.checkpoint_id) != recent_pending_.end());
  }
  PendingCheckpoint110& pending = *found->second;
  TAILRACE_ASSERT(!pending.is_discarded());  // C4
  switch (pending.acknowledge_task(message.attempt, std::move(message.state))) {
    case PendingCheckpoint110::AcknowledgeResult::SUCCESS: {
      const PendingCheckpoint110::Task& task = *pending.find_task(message.attempt);
      const std::int64_t state_bytes = task.state == nullptr ? 0 : task.state->state_size_bytes();
      services_.stats_tracker->report_subtask_stats(
          pending.id(), task.vertex_index, task.subtask,
          subtask_state_stats_110(services_.clock->now().millis_truncated(), message.metrics,
                                  state_bytes));
      services_.observer->on_checkpoint_acknowledged(
          configuration_.job, pending.id(), {task.vertex_index, task.subtask, task.attempt_number},
          pending.acknowledged(), message.metrics, state_bytes);
      if (pending.is_fully_acknowledged()) return begin_finalisation(pending, std::move(done));
      break;
    }
    case PendingCheckpoint110::AcknowledgeResult::DUPLICATE:
      break;  // its state is neither recorded nor discarded
    case PendingCheckpoint110::AcknowledgeResult::UNKNOWN:
    case PendingCheckpoint110::AcknowledgeResult::DISCARDED:
      discard_subtask_state(message);
      break;
  }
  answer(true);
}

void CheckpointCoordinator110::discard_subtask_state(const AcknowledgeCheckpoint& message) {
  if (message.state == nullptr) return;
  FileNames paths;
  message.state->append_private_files(paths);
  for (const CompletedCheckpointPtr& stored : services_.store->checkpoints()) {
    if (stored->id != message.checkpoint_id) continue;
    FileNames needed;
    stored->append_private_files(needed);
    TAILRACE_ASSERT_MSG(
        std::find_first_of(paths.begin(), paths.end(), needed.begin(), needed.end(),
                           [](const std::string* a, const std::string* b) { return *a == *b; }) ==
            paths.end(),
        "a late acknowledgement names files of checkpoint " + std::to_string(stored->id));  // C3
  }
  for (const std::string* path : paths) services_.storage->discard_file(*path);
}

void CheckpointCoordinator110::receive_decline_message(DeclineCheckpoint message) {
  locked([this, message] {
    if (shutdown_) return;
    TAILRACE_ASSERT(message.job == configuration_.job);
    const auto found = pending_.find(message.checkpoint_id);
    if (found == pending_.end()) return;
    TAILRACE_ASSERT(!found->second->is_discarded());  // C4
    std::unique_ptr<PendingCheckpoint110> pending = std::move(found->second);
    pending_.erase(found);
    const PendingCheckpoint110::Task* task = pending->find_task(message.attempt);
    services_.observer->on_checkpoint_declined(
        configuration_.job, pending->id(),
        task == nullptr ? SubtaskRef{-1, -1, 0}
                        : SubtaskRef{task->vertex_index, task->subtask, task->attempt_number},
        message.reason);
    discard_checkpoint(std::move(pending), message.reason, message.attempt);
  });
}

void CheckpointCoordinator110::fail_unacknowledged_pending_checkpoints_for(
    ExecutionAttemptId attempt) {
  locked([this, attempt] {
    std::vector<CheckpointId> failed;
    for (const auto& [id, pending] : pending_) {
      if (!pending->is_acknowledged_by(attempt)) failed.push_back(id);
    }
    for (const CheckpointId id : failed) {
      const auto found = pending_.find(id);
      std::unique_ptr<PendingCheckpoint110> pending = std::move(found->second);
      pending_.erase(found);
      discard_checkpoint(std::move(pending), CheckpointFailureReason::JOB_FAILURE, attempt);
    }
  });
}

void CheckpointCoordinator110::discard_checkpoint(std::unique_ptr<PendingCheckpoint110> pending,
                                                  CheckpointFailureReason reason,
                                                  ExecutionAttemptId attempt) {
  const CheckpointId id = pending->id();
  abort_pending_checkpoint(*pending, reason, attempt);
  remember_recent_checkpoint(id);
  // A newer one that is still under way will drain the queue when it ends.
  const bool newer_pending =
      std::any_of(pending_.lower_bound(id), pending_.end(),
                  [](const auto& entry) { return !entry.second->is_discarded(); });
  if (!newer_pending) trigger_queued_requests();
}

void CheckpointCoordinator110::abort_pending_checkpoint(PendingCheckpoint110& pending,
                                                        CheckpointFailureReason reason,
                                                        std::optional<ExecutionAttemptId> attempt) {
  if (pending.is_discarded()) return;
  abort_object(pending, reason);
  if (attempt.has_value()) {
    services_.failure_manager->handle_task_level_checkpoint_exception(reason, pending.id(),
                                                                      *attempt);
  } else {
    services_.failure_manager->handle_job_level_checkpoint_exception(reason, pending.id());
  }
  if (services_.failure_manager->has_counted_last_failure()) {
    services_.stats_tracker->set_failure_counted(pending.id());
  }
  check_and_reset_scheduler();
}

void CheckpointCoordinator110::abort_object(PendingCheckpoint110& pending,
                                            CheckpointFailureReason reason) {
  break_promise(pending, reason);
  services_.stats_tracker->report_failed_checkpoint(
      pending.id(), services_.clock->now().millis_truncated(), reason);
  services_.observer->on_checkpoint_failed(configuration_.job, pending.id(), reason);
  pending.dispose(*services_.storage, *services_.registry);
  timer_.cancel(pending.canceller());
  TAILRACE_ASSERT(!pending.properties().forced ||
                  reason != CheckpointFailureReason::CHECKPOINT_SUBSUMED);
}

void CheckpointCoordinator110::break_promise(PendingCheckpoint110& pending,
                                             CheckpointFailureReason reason) {
  if (pending.has_listener() && pending.properties().is_synchronous()) {
    services_.failure_manager->handle_synchronous_savepoint_failure(reason);
  }
  pending.fail(reason);
}

void CheckpointCoordinator110::abort_pending_checkpoints(CheckpointFailureReason reason) {
  locked([this, reason] { abort_all_locked(reason); });
}

void CheckpointCoordinator110::abort_all_locked(CheckpointFailureReason reason) {
  for (const auto& [id, pending] : pending_) {
    abort_pending_checkpoint(*pending, reason, std::nullopt);
  }
  pending_.clear();
}

void CheckpointCoordinator110::expire(CheckpointId id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  abort_pending_checkpoint(*found->second, CheckpointFailureReason::CHECKPOINT_EXPIRED,
                           std::nullopt);
  pending_.erase(found);
  remember_recent_checkpoint(id);
  trigger_queued_requests();
}

void CheckpointCoordinator110::begin_finalisation(PendingCheckpoint110& pending,
                                                  AcknowledgeDone done) {
  pending.collect_states();
  if (pending.register_shared_states(*services_.registry).has_value()) {
    if (done) done({.known = true, .registration_failed = true});
    return;
  }
  lock_.keep();
  finalising_ = pending.id();
  finalise_done_ = std::move(done);
  auto inventory = std::make_unique<StateInventory>(pending.location().directory);
  std::vector<std::byte> bytes = MetadataV2Serializer::serialize(
      pending.id(), pending.master_states(), pending.operator_states(),
      {inventory.get(), metadata_bytes_});
  metadata_bytes_ = bytes.size();
  pending.set_inventory(std::move(inventory));
  std::int64_t subtask_states = 0;
  for (const auto& [id, state] : pending.operator_states()) {
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
            pending_.at(finalising_)->location(), std::move(bytes),
            lifeline_.bind([this](PutStatus status) { on_metadata_written(status); }));
      }));
}

void CheckpointCoordinator110::on_metadata_written(PutStatus status) {
  // Still under the lock, so that what the callbacks ask for waits its turn.
  lock_.resume();
  PendingCheckpoint110& pending = *pending_.at(finalising_);
  if (status == PutStatus::kFailed) {
    break_promise(pending, CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE);
    abort_pending_checkpoint(pending, CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE,
                             std::nullopt);
    pending_.erase(finalising_);
    trigger_queued_requests();
    return end_finalisation(false);
  }

  timer_.cancel(pending.canceller());
  const CompletedCheckpointPtr completed = pending.finalize_checkpoint(
      configuration_.job, services_.clock->now().millis_truncated(), *services_.stats_tracker);
  services_.observer->on_checkpoint_completed(configuration_.job, pending.meta(), pending.options(),
                                              completed->state_size_bytes());
  services_.failure_manager->handle_checkpoint_success(completed->id);
  services_.store->add_checkpoint_async(
      completed, lifeline_.bind([this, completed](bool stored) { on_stored(completed, stored); }));
}

void CheckpointCoordinator110::on_stored(const CompletedCheckpointPtr& completed, bool stored) {
  lock_.resume();
  const CheckpointMetaData meta = pending_.at(finalising_)->meta();
  if (!stored) {
    discard_completed_checkpoint(*completed, *services_.storage);
    if (completed->shares_state()) {
      services_.registry->unregister_all(completed->operator_states);
    }
  }
  pending_.erase(meta.id);
  trigger_queued_requests();
  if (!stored) return end_finalisation(false);  // the promise has been kept all the same (spec 4.3)

  remember_recent_checkpoint(meta.id);
  drop_subsumed_checkpoints(meta.id);
  last_completion_ = services_.clock->now();
  for (ExecutionVertexAccess* vertex : vertices_.to_confirm) {
    if (vertex->current_attempt().has_value())
      vertex->notify_checkpoint_complete(meta, kNoCheckpoint);
  }
  end_finalisation(true);
}

void CheckpointCoordinator110::end_finalisation(bool completed) {
  AcknowledgeDone done = std::exchange(finalise_done_, {});
  if (done) done({true, !completed});
  finalising_ = kNoCheckpoint;
  lock_.release();
}

void CheckpointCoordinator110::drop_subsumed_checkpoints(CheckpointId completed) {
  for (auto it = pending_.begin(); it != pending_.end() && it->first < completed;) {
    if (it->second->properties().forced) {
      ++it;
      continue;
    }
    remember_recent_checkpoint(it->first);
    abort_pending_checkpoint(*it->second, CheckpointFailureReason::CHECKPOINT_SUBSUMED,
                             std::nullopt);
    it = pending_.erase(it);
  }
}

void CheckpointCoordinator110::remember_recent_checkpoint(CheckpointId id) {
  if (recent_pending_.size() >= kRememberedIds) recent_pending_.pop_front();
  recent_pending_.push_back(id);
}

void CheckpointCoordinator110::restore_latest_checkpointed_state(RestoreRequest request,
                                                                 RestoreDone done) {
  locked(
      [this, request, done = std::move(done)]() mutable { restore_latest_locked(request, done); });
}

void CheckpointCoordinator110::restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode,
                                                 bool allow_non_restored, RestoreDone done) {
  locked([this, savepoint = std::move(savepoint), allow_non_restored,
          done = std::move(done)]() mutable {
    TAILRACE_ASSERT(!shutdown_);
    if (services_.store->is_remote()) {
      return restore_savepoint_remotely(std::move(savepoint), allow_non_restored, std::move(done));
    }
    const CheckpointId next = savepoint->id + 1;
    const bool stored = services_.store->add_checkpoint(std::move(savepoint));
    TAILRACE_ASSERT(stored);
    services_.id_counter->set_count(next);
    last_id_ = next - 1;
    restore_latest_locked({.error_if_none = true, .allow_non_restored = allow_non_restored}, done);
  });
}

void CheckpointCoordinator110::restore_latest_locked(RestoreRequest request, RestoreDone& done) {
  TAILRACE_ASSERT_MSG(!shutdown_, std::string("the checkpoint coordinator is shut down"));
  services_.registry->renew();
  if (!services_.store->is_remote()) {
    services_.store->recover();
    return restore_recovered(request, done);
  }
  lock_.keep();
  services_.store->recover_async(lifeline_.bind(
      [this, request, boxed = std::make_unique<RestoreDone>(std::move(done))](bool recovered) {
        resume([&] {
          if (!recovered) return fail_job("Could not read any of the checkpoints from storage.");
          restore_recovered(request, *boxed);
        });
      }));
}

void CheckpointCoordinator110::restore_savepoint_remotely(CompletedCheckpointPtr savepoint,
                                                          bool allow_non_restored,
                                                          RestoreDone done) {
  struct Restore {
    CheckpointId savepoint;
    bool allow_non_restored;
    RestoreDone done;
  };
  const auto restore =
      std::shared_ptr<Restore>(new Restore{savepoint->id, allow_non_restored, std::move(done)});
  lock_.keep();
  services_.store->add_checkpoint_async(
      std::move(savepoint), lifeline_.bind([this, restore](bool stored) {
        if (!stored) {
          return resume([&] { fail_job("Could not add the savepoint to the store."); });
        }
        services_.id_counter->set_count_async(
            restore->savepoint + 1, lifeline_.bind([this, restore](bool is_set) {
              resume([&] {
                if (!is_set) return fail_job("Could not set the checkpoint id counter.");
                last_id_ = restore->savepoint;
                restore_latest_locked(
                    {.error_if_none = true, .allow_non_restored = restore->allow_non_restored},
                    restore->done);
              });
            }));
      }));
}

void CheckpointCoordinator110::fail_job(const char* cause) {
  TAILRACE_ASSERT_MSG(services_.fail_job != nullptr, std::string(cause));
  services_.fail_job->fail_job(cause);
}

void CheckpointCoordinator110::restore_recovered(RestoreRequest request, RestoreDone& done) {
  services_.store->register_shared_states_after_restored(*services_.registry);
  CompletedCheckpointPtr latest =
      services_.store->latest_checkpoint(configuration_.prefer_checkpoint_for_recovery);
  if (latest == nullptr) {
    TAILRACE_ASSERT_MSG(!request.error_if_none, std::string("no completed checkpoint to restore"));
    for (MasterTriggerRestoreHook* hook : master_hooks_) hook->reset();
  } else {
    restore_master_hooks(*latest, request.allow_non_restored);
    services_.stats_tracker->report_restored_checkpoint(
        {.id = latest->id,
         .properties = latest->properties,
         .restore_timestamp = services_.clock->now().millis_truncated(),
         .external_path = latest->external_pointer()});
  }
  if (done) done(std::move(latest));
}

void CheckpointCoordinator110::restore_master_hooks(const CompletedCheckpoint& checkpoint,
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

void CheckpointCoordinator110::shutdown(JobStatus status, ShutdownDone done) {
  locked([this, status, done = std::move(done)]() mutable {
    if (!shutdown_) shutdown_locked(status);
    if (done) done();
  });
}

void CheckpointCoordinator110::shutdown_locked(JobStatus status) {
  shutdown_ = true;
  periodic_scheduling_ = false;
  trigger_request_queued_ = false;  // the periodic timer ticks on, as Flink's does
  for (MasterTriggerRestoreHook* hook : master_hooks_) hook->close();
  master_hooks_.clear();
  abort_all_locked(CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN);
  services_.store->shutdown(status);
  services_.id_counter->shutdown(status);
}

}  // namespace tailrace::engine
