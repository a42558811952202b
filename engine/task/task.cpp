#include "engine/task/task.hpp"

#include <utility>

#include "engine/generation.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/observer.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

Task::Task(const Ports& ports, NetworkEnvironment& network,
           std::shared_ptr<const TaskDeploymentDescriptor> descriptor,
           RpcAddress<JobMasterGateway> job_master, Owner& owner, Time process_started,
           f120::ChannelStateWriteRequestExecutorFactory* channel_state)
    : ports_(ports),
      network_(&network),
      descriptor_(std::move(descriptor)),
      job_master_(job_master),
      owner_(&owner),
      process_started_(process_started),
      channel_state_(channel_state) {}

Task::~Task() = default;

void Task::start(Duration after) {
  TAILRACE_ASSERT(state_ == ExecutionState::CREATED);
  state_ = ExecutionState::DEPLOYING;
  StreamTaskHost& host = *this;
  invokable_ = std::make_unique<StreamTask>(ports_, *network_, descriptor_, host, process_started_,
                                            channel_state_);
  if (!invokable_->set_up_error().empty()) {
    fail(invokable_->set_up_error());  // from DEPLOYING
    return;
  }
  if (after.ns == 0) return run();
  ports_.timers->schedule(after, lifeline_.bind([this] {
    if (state_ == ExecutionState::DEPLOYING && !failing_) run();
  }));
}

void Task::run() {
  state_ = task_semantics(descriptor_->config.generation).restores_in_initializing
               ? ExecutionState::INITIALIZING
               : ExecutionState::RUNNING;
  report(state_, {});
  invokable_->invoke();
}

void Task::cancel() {
  if (is_terminal(state_) || state_ == ExecutionState::CANCELING) return;
  state_ = ExecutionState::CANCELING;
  // A task that already fails is on its way out: it completes as CANCELED now (S-6.18).
  failing_ = false;
  invokable_->cancel();
}

void Task::fail(std::string cause) {
  if (is_terminal(state_) || state_ == ExecutionState::CANCELING || failing_) return;
  failing_ = true;
  failure_ = std::move(cause);
  ports_.observer->on_task_failed(
      descriptor_->job, {descriptor_->vertex, descriptor_->subtask, descriptor_->attempt_number},
      failure_);
  invokable_->cancel();
}

void Task::trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                              bool advance_to_end_of_event_time) {
  if (!takes_checkpoints()) {
    decline({descriptor_->job, descriptor_->attempt, meta.id,
             CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY});
    return;
  }
  if (!invokable_->trigger_checkpoint(meta, options, advance_to_end_of_event_time)) {
    decline({descriptor_->job, descriptor_->attempt, meta.id,
             CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_CLOSING});
  }
}

void Task::notify_checkpoint_complete(CheckpointId id) {
  if (takes_checkpoints()) invokable_->notify_checkpoint_complete(id);
}

void Task::notify_checkpoint_aborted(CheckpointId id, CheckpointId latest_completed) {
  if (takes_checkpoints()) invokable_->notify_checkpoint_aborted(id, latest_completed);
}

void Task::notify_checkpoint_subsumed(CheckpointId id) {
  if (takes_checkpoints()) invokable_->notify_checkpoint_subsumed(id);
}

std::vector<std::unique_ptr<ResultPartition>> Task::take_partitions() {
  return invokable_ == nullptr ? std::vector<std::unique_ptr<ResultPartition>>{}
                               : invokable_->take_partitions();
}

void Task::acknowledge(AcknowledgeCheckpoint message) {
  const std::int64_t handles =
      message.state == nullptr ? 0 : static_cast<std::int64_t>(message.state->operators.size());
  job_master_.tell(*ports_.calls, kRpcBytes + handles * kRpcBytesPerHandle,
                   [message = std::make_unique<AcknowledgeCheckpoint>(std::move(message))](
                       JobMasterGateway& to) { to.acknowledge_checkpoint(std::move(*message)); });
}

void Task::decline(DeclineCheckpoint message) {
  job_master_.tell(*ports_.calls, kRpcBytes,
                   [message](JobMasterGateway& to) { to.decline_checkpoint(message); });
}

void Task::report_checkpoint_metrics(ReportCheckpointMetrics message) {
  job_master_.tell(*ports_.calls, kRpcBytes,
                   [message = std::make_unique<ReportCheckpointMetrics>(message)](
                       JobMasterGateway& to) { to.report_checkpoint_metrics(*message); });
}

void Task::invokable_restored() {
  if (state_ != ExecutionState::INITIALIZING || failing_) return;
  state_ = ExecutionState::RUNNING;
  report(ExecutionState::RUNNING, {});
}

void Task::end_of_data() {
  job_master_.tell(*ports_.calls, kRpcBytes,
                   [job = descriptor_->job, attempt = descriptor_->attempt](JobMasterGateway& to) {
                     to.notify_end_of_data(job, attempt);
                   });
}

void Task::state_restored(std::int64_t state_bytes) {
  ports_.observer->on_task_restored(
      descriptor_->job, {descriptor_->vertex, descriptor_->subtask, descriptor_->attempt_number},
      state_bytes);
}

void Task::invokable_finished() {
  end(ExecutionState::FINISHED);
}

void Task::invokable_failed(std::string cause) {
  fail(std::move(cause));
}

void Task::invokable_stopped() {
  end(failing_ ? ExecutionState::FAILED : ExecutionState::CANCELED);
}

void Task::end(ExecutionState state) {
  TAILRACE_ASSERT(!is_terminal(state_));
  state_ = state;
  report(state, state == ExecutionState::FAILED ? failure_ : std::string());
  owner_->task_ended(*this);
}

void Task::report(ExecutionState state, std::string failure) {
  TaskExecutionState update{descriptor_->job, descriptor_->attempt, state, std::move(failure)};
  job_master_.tell(*ports_.calls, kRpcBytes,
                   [update = std::move(update)](JobMasterGateway& to) mutable {
                     to.update_task_execution_state(std::move(update));
                   });
}

}  // namespace tailrace::engine
