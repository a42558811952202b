#include "engine/task/task_executor.hpp"

#include <algorithm>
#include <utility>

#include "engine/network/result_partition.hpp"
#include "engine/task/f120/channel_state_write_request_executor.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

TaskExecutor::TaskExecutor(const Ports& ports, const TaskExecutorConfig& config,
                           NetworkPeers& peers)
    : ports_(ports),
      config_(config),
      started_(ports.clock->now()),
      network_(ports, config.network, peers) {}

TaskExecutor::~TaskExecutor() {
  shut_down();
}

std::int32_t TaskExecutor::shut_down() {
  // Tasks give their buffers back to the network stack, so they go first.
  tasks_.clear();
  network_.shut_down();
  return network_.outstanding_segments();
}

void TaskExecutor::connect(RpcAddress<JobMasterGateway> job_master) {
  job_master_ = job_master;
  register_at_job_manager();
}

void TaskExecutor::job_manager_leader_changed(RpcAddress<JobMasterGateway> leader) {
  if (leader.process == job_master_.process) return;
  if (job_master_) {
    fail_all("JobManager responsible for the job lost the leadership.");
    ports_.timers->cancel(heartbeat_timer_);
  }
  job_master_ = leader;
  if (job_master_) register_at_job_manager();
}

void TaskExecutor::register_at_job_manager() {
  TaskManagerRegistration registration{{ports_.self, this}, config_.index, config_.slots};
  job_master_.tell(*ports_.calls, kRpcBytes, [registration](JobMasterGateway& to) {
    to.register_task_manager(registration);
  });
  watch_job_manager();
}

// The monitor's timeout starts anew with every heartbeat (spec rescale.md S-6.26).
void TaskExecutor::watch_job_manager() {
  ports_.timers->cancel(heartbeat_timer_);
  heartbeat_timer_ = ports_.timers->schedule(config_.heartbeat_timeout,
                                             lifeline_.bind([this] { disconnect_job_manager(); }));
}

void TaskExecutor::heartbeat_from_job_manager() {
  if (!job_master_) return;  // of a leader that is none any more
  watch_job_manager();
  job_master_.tell(*ports_.calls, kRpcBytes, [self = ports_.self](JobMasterGateway& to) {
    to.heartbeat_from_task_manager(self);
  });
}

// Flink 1.10 TaskExecutor.closeJobManagerConnection: all tasks of the job fail, then the task
// manager registers anew.
void TaskExecutor::disconnect_job_manager() {
  fail_all("JobManager responsible for the job lost the leadership or the connection.");
  if (!job_master_) return;
  register_at_job_manager();
}

void TaskExecutor::fail_all(const std::string& cause) {
  for (const auto& task : tasks_) task->fail(cause);
}

bool TaskExecutor::fail_task(ExecutionAttemptId attempt, std::string cause) {
  Task* task = find(attempt);
  if (task == nullptr) return false;
  task->fail(std::move(cause));
  return true;
}

Task* TaskExecutor::find(ExecutionAttemptId attempt) {
  const auto found =
      std::find_if(tasks_.begin(), tasks_.end(), [attempt](const std::unique_ptr<Task>& task) {
        return task->attempt() == attempt && !is_terminal(task->state());
      });
  return found == tasks_.end() ? nullptr : found->get();
}

void TaskExecutor::submit_task(std::shared_ptr<const TaskDeploymentDescriptor> descriptor) {
  TAILRACE_ASSERT(find(descriptor->attempt) == nullptr);
  Task::Owner& owner = *this;
  auto& channel_state = channel_state_of(descriptor->job);
  tasks_.push_back(std::make_unique<Task>(ports_, network_, std::move(descriptor), job_master_,
                                          owner, started_, &channel_state));
  // One after the other on the main thread. Flink 1.20 TaskExecutor.submitTask.
  const Duration price = ports_.compute->price({WorkKind::kTaskDeployment, -1, 1, 0});
  const Time now = ports_.clock->now();
  deployed_ = std::max(deployed_, now) + price;
  tasks_.back()->start(deployed_ - now);
}

f120::ChannelStateWriteRequestExecutorFactory& TaskExecutor::channel_state_of(JobId job) {
  auto& factory = channel_state_[job];
  if (factory == nullptr) {
    factory = std::make_unique<f120::ChannelStateWriteRequestExecutorFactory>(ports_);
  }
  return *factory;
}

void TaskExecutor::cancel_task(ExecutionAttemptId attempt) {
  if (job_master_) {
    job_master_.tell(*ports_.calls, kRpcBytes,
                     [attempt](JobMasterGateway& to) { to.cancel_acknowledged(attempt); });
  }
  if (Task* task = find(attempt); task != nullptr) task->cancel();
}

std::optional<CheckpointFailureReason> TaskExecutor::trigger_checkpoint(
    ExecutionAttemptId attempt, CheckpointMetaData meta, CheckpointOptions options,
    bool advance_to_end_of_event_time) {
  // The job manager of 1.10 ignores the answer (spec coordinator.md 5.1 step 3).
  Task* task = find(attempt);
  if (task == nullptr) return CheckpointFailureReason::TASK_CHECKPOINT_FAILURE;
  task->trigger_checkpoint(meta, options, advance_to_end_of_event_time);
  return std::nullopt;
}

void TaskExecutor::confirm_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                                      CheckpointId last_subsumed) {
  Task* task = find(attempt);
  if (task == nullptr) return;
  task->notify_checkpoint_complete(meta.id);
  if (last_subsumed != kNoCheckpoint) task->notify_checkpoint_subsumed(last_subsumed);
}

void TaskExecutor::abort_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                                    CheckpointId latest_completed) {
  if (Task* task = find(attempt); task != nullptr) {
    task->notify_checkpoint_aborted(meta.id, latest_completed);
  }
}

void TaskExecutor::task_ended(Task& task) {
  if (task.state() == ExecutionState::FINISHED) {
    // What it produced lives until its consumers have read it (Flink: release on consumption).
    for (auto& partition : task.take_partitions()) {
      network_.keep_until_consumed(std::move(partition));
    }
  }
  // The task is still on the stack: it goes in an event of its own.
  ports_.timers->schedule({}, lifeline_.bind([this, ended = &task] {
    std::erase_if(tasks_,
                  [ended](const std::unique_ptr<Task>& owned) { return owned.get() == ended; });
  }));
}

}  // namespace tailrace::engine
