#include "engine/scheduling/job_master.hpp"

#include <utility>

#include "engine/observer.hpp"

namespace tailrace::engine {

JobMaster::JobMaster(const Ports& ports, const ClusterConfig& config,
                     CheckpointingFactory& checkpointing, JobManagerServices services)
    : ports_(ports),
      config_(config),
      checkpointing_(checkpointing),
      services_(services),
      heartbeats_(
          *ports_.timers, config.heartbeat_interval, config.heartbeat_timeout,
          [this](ProcessId target) {
            const TaskManagerRegistration* registration = pool_.find_task_manager(target);
            if (registration == nullptr) return;
            registration->address.tell(*ports_.calls, kRpcBytes, [](TaskExecutorGateway& gateway) {
              gateway.heartbeat_from_job_manager();
            });
          },
          [this](ProcessId lost) {
            disconnect_task_manager(lost, "The heartbeat of TaskManager with id " +
                                              std::to_string(lost.value) + " timed out.");
          }) {
  if (services_.ids == nullptr) services_.ids = &own_ids_;
}

JobId JobMaster::start(std::shared_ptr<const JobGraph> graph, JobSubmission submission) {
  const JobId job{++services_.ids->last_job};
  if (services_.high_availability == nullptr) {
    create(job, std::move(graph), std::move(submission), {});
    start_next(job);
    return job;
  }
  const HighAvailabilityServices::Job stored{graph,
                                             std::make_shared<const JobSubmission>(submission)};
  create(job, std::move(graph), std::move(submission), stored_job(job, 1));
  services_.high_availability->put_job(job, stored,
                                       lifeline_.bind([this, job] { start_next(job); }));
  return job;
}

void JobMaster::recover(RecoveredJob job, base::InplaceFunction<void(bool)> done) {
  struct Recovery {
    RecoveredJob job;
    StoredJob stored;
    base::InplaceFunction<void(bool)> done;
  };
  const auto recovery = std::shared_ptr<Recovery>(
      new Recovery{job, stored_job(job.id, job.next_checkpoint), std::move(done)});
  recovery->stored.recovered = true;
  checkpointing_.retrieve(
      *recovery->stored.handles,
      lifeline_.bind([this, recovery](std::optional<std::vector<CompletedCheckpointPtr>> all) {
        const JobId id = recovery->job.id;
        if (!all.has_value()) {
          on_job_terminated(id, JobStatus::FAILED, "Could not retrieve the job's checkpoints.");
          return recovery->done(false);
        }
        recovery->stored.checkpoints = std::move(*all);
        create(id, recovery->job.job.graph, *recovery->job.job.submission,
               std::move(recovery->stored));
        start_next(id);
        recovery->done(true);
      }));
}

StoredJob JobMaster::stored_job(JobId job, CheckpointId next_checkpoint) {
  auto& handles = stored_jobs_[job];
  handles = std::make_unique<HighAvailableJob>(*services_.high_availability, job, next_checkpoint,
                                               checkpointing_.handle_store_semantics());
  StoredJob stored;
  stored.handles = handles.get();
  stored.count = handles.get();
  return stored;
}

void JobMaster::create(JobId job, std::shared_ptr<const JobGraph> graph, JobSubmission submission,
                       StoredJob stored) {
  SchedulerOwner& owner = *this;
  schedulers_[job] = std::make_unique<DefaultScheduler>(
      job, std::move(graph), std::move(submission), ports_, config_, pool_, services_.ids->attempts,
      checkpointing_, owner, std::move(stored));
}

void JobMaster::start_next(JobId job) {
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this, job] {
    DefaultScheduler& scheduler = *schedulers_.at(job);
    if (scheduler.status() == JobStatus::CREATED) scheduler.start_scheduling();
  }));
}

DefaultScheduler* JobMaster::find_scheduler(JobId job) {
  const auto found = schedulers_.find(job);
  return found == schedulers_.end() ? nullptr : found->second.get();
}

void JobMaster::register_task_manager(TaskManagerRegistration registration) {
  const ProcessId process = registration.address.process;
  if (pool_.find_task_manager(process) != nullptr) {
    // The same process again: it has lost us and failed its tasks. It is here, so it is not told to
    // disconnect, which would only make it register once more.
    release_task_manager(
        process, "TaskManager with id " + std::to_string(process.value) + " has registered anew.");
  }
  pool_.register_task_manager(registration);
  heartbeats_.monitor_target(process);
  if (ports_.observer != nullptr) ports_.observer->on_task_manager_registered(process);
  on_slots_freed();
}

void JobMaster::update_task_execution_state(TaskExecutionState state) {
  if (DefaultScheduler* scheduler = find_scheduler(state.job)) {
    scheduler->update_task_execution_state(state);
  }
}

void JobMaster::cancel_acknowledged(ExecutionAttemptId attempt) {
  // Attempts are unique over all jobs; those of others are ignored.
  for (const auto& [job, scheduler] : schedulers_) scheduler->cancel_acknowledged(attempt);
}

void JobMaster::acknowledge_checkpoint(AcknowledgeCheckpoint message) {
  DefaultScheduler* scheduler = find_scheduler(message.job);
  if (scheduler == nullptr) return;
  scheduler->coordinator()->receive_acknowledge_message(std::move(message));
}

void JobMaster::decline_checkpoint(DeclineCheckpoint message) {
  DefaultScheduler* scheduler = find_scheduler(message.job);
  if (scheduler == nullptr) return;
  scheduler->coordinator()->receive_decline_message(message);
}

void JobMaster::report_checkpoint_metrics(ReportCheckpointMetrics message) {
  DefaultScheduler* scheduler = find_scheduler(message.job);
  if (scheduler != nullptr) scheduler->coordinator()->report_checkpoint_metrics(message);
}

void JobMaster::notify_end_of_data(JobId job, ExecutionAttemptId attempt) {
  if (DefaultScheduler* scheduler = find_scheduler(job)) scheduler->notify_end_of_data(attempt);
}

void JobMaster::heartbeat_from_task_manager(ProcessId task_manager) {
  heartbeats_.receive_heartbeat(task_manager);
}

void JobMaster::on_slots_freed() {
  if (offering_) return;
  offering_ = true;
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this] {
    offering_ = false;
    for (const auto& [job, scheduler] : schedulers_) scheduler->on_slots_available();
  }));
}

// Flink 1.20 FineGrainedSlotManager.checkResourceRequirementsWithDelay: a check that is due anyway
// takes in what has changed since.
Duration JobMaster::requirements_changed() {
  const Time now = ports_.clock->now();
  if (next_check_ <= now) next_check_ = now + config_.requirement_check_delay;
  return next_check_ - now;
}

void JobMaster::on_job_terminated(JobId job, JobStatus status, const std::string& cause) {
  if (services_.high_availability != nullptr) services_.high_availability->remove_job(job);
  (void)requirements_changed();  // to nothing
  if (listener_ != nullptr) listener_->on_job_terminated(job, status, cause);
}

void JobMaster::disconnect_task_manager(ProcessId process, const std::string& cause) {
  const TaskManagerRegistration* registration = pool_.find_task_manager(process);
  if (registration == nullptr) return;
  registration->address.tell(*ports_.calls, kRpcBytes, [](TaskExecutorGateway& gateway) {
    gateway.disconnect_job_manager();
  });
  release_task_manager(process, cause);
}

void JobMaster::release_task_manager(ProcessId process, const std::string& cause) {
  heartbeats_.unmonitor_target(process);
  pool_.release_task_manager(process);
  if (ports_.observer != nullptr) ports_.observer->on_task_manager_lost(process, cause);
  for (const auto& [job, scheduler] : schedulers_) scheduler->release_task_manager(process, cause);
}

}  // namespace tailrace::engine
