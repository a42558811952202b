#include "engine/checkpoint/checkpoint_failure_reason.hpp"

namespace tailrace::engine {

const char* to_string(CheckpointFailureReason reason) {
  switch (reason) {
    case CheckpointFailureReason::PERIODIC_SCHEDULER_SHUTDOWN:
      return "PERIODIC_SCHEDULER_SHUTDOWN";
    case CheckpointFailureReason::ALREADY_QUEUED:
      return "ALREADY_QUEUED";
    case CheckpointFailureReason::TOO_MANY_CONCURRENT_CHECKPOINTS:
      return "TOO_MANY_CONCURRENT_CHECKPOINTS";
    case CheckpointFailureReason::TOO_MANY_CHECKPOINT_REQUESTS:
      return "TOO_MANY_CHECKPOINT_REQUESTS";
    case CheckpointFailureReason::MINIMUM_TIME_BETWEEN_CHECKPOINTS:
      return "MINIMUM_TIME_BETWEEN_CHECKPOINTS";
    case CheckpointFailureReason::NOT_ALL_REQUIRED_TASKS_RUNNING:
      return "NOT_ALL_REQUIRED_TASKS_RUNNING";
    case CheckpointFailureReason::IO_EXCEPTION:
      return "IO_EXCEPTION";
    case CheckpointFailureReason::BLOCKING_OUTPUT_EXIST:
      return "BLOCKING_OUTPUT_EXIST";
    case CheckpointFailureReason::EXCEPTION:
      return "EXCEPTION";
    case CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION:
      return "CHECKPOINT_ASYNC_EXCEPTION";
    case CheckpointFailureReason::CHANNEL_STATE_SHARED_STREAM_EXCEPTION:
      return "CHANNEL_STATE_SHARED_STREAM_EXCEPTION";
    case CheckpointFailureReason::CHECKPOINT_EXPIRED:
      return "CHECKPOINT_EXPIRED";
    case CheckpointFailureReason::CHECKPOINT_SUBSUMED:
      return "CHECKPOINT_SUBSUMED";
    case CheckpointFailureReason::CHECKPOINT_DECLINED:
      return "CHECKPOINT_DECLINED";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY:
      return "CHECKPOINT_DECLINED_TASK_NOT_READY";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_CLOSING:
      return "CHECKPOINT_DECLINED_TASK_CLOSING";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_CHECKPOINTING:
      return "CHECKPOINT_DECLINED_TASK_NOT_CHECKPOINTING";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED:
      return "CHECKPOINT_DECLINED_SUBSUMED";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER:
      return "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED:
      return "CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED";
    case CheckpointFailureReason::CHECKPOINT_DECLINED_INPUT_END_OF_STREAM:
      return "CHECKPOINT_DECLINED_INPUT_END_OF_STREAM";
    case CheckpointFailureReason::CHECKPOINT_COORDINATOR_SHUTDOWN:
      return "CHECKPOINT_COORDINATOR_SHUTDOWN";
    case CheckpointFailureReason::CHECKPOINT_COORDINATOR_SUSPEND:
      return "CHECKPOINT_COORDINATOR_SUSPEND";
    case CheckpointFailureReason::JOB_FAILURE:
      return "JOB_FAILURE";
    case CheckpointFailureReason::JOB_FAILOVER_REGION:
      return "JOB_FAILOVER_REGION";
    case CheckpointFailureReason::TASK_FAILURE:
      return "TASK_FAILURE";
    case CheckpointFailureReason::TASK_CHECKPOINT_FAILURE:
      return "TASK_CHECKPOINT_FAILURE";
    case CheckpointFailureReason::UNKNOWN_TASK_CHECKPOINT_NOTIFICATION_FAILURE:
      return "UNKNOWN_TASK_CHECKPOINT_NOTIFICATION_FAILURE";
    case CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE:
      return "FINALIZE_CHECKPOINT_FAILURE";
    case CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE:
      return "TRIGGER_CHECKPOINT_FAILURE";
  }
  return "?";
}

}  // namespace tailrace::engine
