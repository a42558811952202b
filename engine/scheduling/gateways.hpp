// What job manager and task managers say to each other.
//
// TaskExecutorGateway, JobMasterGateway of Flink 1.10 and 1.20. These functions are never called directly
// across processes: the caller sends a closure through RemoteCalls that calls one of them in the
// target process (`RpcAddress` has both halves). They return at once; answers are calls back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"

namespace tailrace::engine {

// Sizes of control messages on the wire, rough and only for the time they take: a message, and what
// each attached state handle adds.
inline constexpr std::int64_t kRpcBytes = 500;
inline constexpr std::int64_t kRpcBytesPerHandle = 200;

class JobMasterGateway;

template <typename Gateway>
struct RpcAddress {
  ProcessId process;
  Gateway* gateway = nullptr;  // to be used in that process only

  explicit operator bool() const { return gateway != nullptr; }

  // Runs `message(gateway)` in the target's process. Lost if that process is dead.
  template <typename Message>
  void tell(RemoteCalls& calls, std::int64_t bytes, Message message) const {
    calls.send(process, bytes,
               [to = gateway, message = std::move(message)]() mutable { message(*to); });
  }
};

class TaskExecutorGateway {
 public:
  // Answered by task state updates; a task that cannot be created is reported FAILED.
  virtual void submit_task(std::shared_ptr<const TaskDeploymentDescriptor> descriptor) = 0;
  // Always answered by JobMasterGateway::cancel_acknowledged, also for unknown attempts; the state
  // update (CANCELED) follows when the task has ended.
  virtual void cancel_task(ExecutionAttemptId attempt) = 0;
  // The way out of this process, for answers to calls.
  [[nodiscard]] virtual RemoteCalls& calls() = 0;
  // Returns: none, or why the call failed; the message sends the answer on.
  virtual std::optional<CheckpointFailureReason> trigger_checkpoint(
      ExecutionAttemptId attempt, CheckpointMetaData meta, CheckpointOptions options,
      bool advance_to_end_of_event_time) = 0;
  // Flink's confirmCheckpoint: the checkpoint is complete. `last_subsumed`: 1.20, R-4.14.
  virtual void confirm_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                                  CheckpointId last_subsumed) = 0;
  // 1.20, R-4.13. `latest_completed`: 0 if none.
  virtual void abort_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                                CheckpointId latest_completed) = 0;
  virtual void heartbeat_from_job_manager() = 0;
  // The job manager has given this task manager up: cancel all its tasks, release their slots,
  // register anew.
  virtual void disconnect_job_manager() = 0;

 protected:
  ~TaskExecutorGateway() = default;
};

struct TaskManagerRegistration {
  RpcAddress<TaskExecutorGateway> address;  // address.process is the resource id
  std::int32_t index = 0;                   // position in the cluster, counted from 0
  std::int32_t slots = 1;
};

// Flink TaskExecutionState.
struct TaskExecutionState {
  JobId job;
  ExecutionAttemptId attempt;
  ExecutionState state = ExecutionState::RUNNING;
  std::string failure;  // of FAILED: message as Flink's exception would have it
};

class JobMasterGateway {
 public:
  virtual void register_task_manager(TaskManagerRegistration registration) = 0;
  virtual void update_task_execution_state(TaskExecutionState state) = 0;
  virtual void cancel_acknowledged(ExecutionAttemptId attempt) = 0;
  virtual void acknowledge_checkpoint(AcknowledgeCheckpoint message) = 0;
  virtual void decline_checkpoint(DeclineCheckpoint message) = 0;
  virtual void report_checkpoint_metrics(ReportCheckpointMetrics message) = 0;  // 1.20
  // 1.20: the task has processed all its data and waits for its final checkpoint.
  virtual void notify_end_of_data(JobId job, ExecutionAttemptId attempt) = 0;
  virtual void heartbeat_from_task_manager(ProcessId task_manager) = 0;

 protected:
  ~JobMasterGateway() = default;
};

}  // namespace tailrace::engine
