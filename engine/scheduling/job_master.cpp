#include "engine/scheduling/job_master.hpp"

#include <utility>

#include "engine/observer.hpp"

namespace tailrace::engine {

JobMaster::JobMaster(const Ports& ports, const ClusterConfig& config,
                     CheckpointingFactory& checkpointing)
    : ports_(ports),
      config_(config),
      checkpointing_(checkpointing),
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
          }) {}

JobId JobMaster::start(std::shared_ptr<const JobGraph> graph, JobSubmission submission) {
  const JobId job{++last_job_};
  SchedulerOwner& owner = *this;
  schedulers_[job] =
      std::make_unique<DefaultScheduler>(job, std::move(graph), std::move(submission), ports_,
                                         config_, pool_, attempt_ids_, checkpointing_, owner);
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this, job] {
    DefaultScheduler& scheduler = *schedulers_.at(job);
    if (scheduler.status() == JobStatus::CREATED) scheduler.start_scheduling();
  }));
  return job;
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

void JobMaster::on_job_terminated(JobId job, JobStatus status, const std::string& cause) {
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
