// Why a checkpoint failed. Flink 1.10 CheckpointFailureReason (spec coordinator.md 2.4).
#pragma once

#include <cstdint>

namespace tailrace::engine {

enum class CheckpointFailureReason : std::uint8_t {
  PERIODIC_SCHEDULER_SHUTDOWN,
  ALREADY_QUEUED,
  TOO_MANY_CONCURRENT_CHECKPOINTS,
  MINIMUM_TIME_BETWEEN_CHECKPOINTS,
  NOT_ALL_REQUIRED_TASKS_RUNNING,
  EXCEPTION,
  CHECKPOINT_EXPIRED,
  CHECKPOINT_SUBSUMED,
  CHECKPOINT_DECLINED,
  CHECKPOINT_DECLINED_TASK_NOT_READY,
  CHECKPOINT_DECLINED_TASK_NOT_CHECKPOINTING,
  CHECKPOINT_DECLINED_SUBSUMED,
  CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER,
  CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED,
  CHECKPOINT_DECLINED_INPUT_END_OF_STREAM,
  CHECKPOINT_COORDINATOR_SHUTDOWN,
  CHECKPOINT_COORDINATOR_SUSPEND,
  JOB_FAILURE,
  JOB_FAILOVER_REGION,
  TASK_CHECKPOINT_FAILURE,
  FINALIZE_CHECKPOINT_FAILURE,
  TRIGGER_CHECKPOINT_FAILURE,
};

// Raised before any task was told of the checkpoint.
[[nodiscard]] constexpr bool is_pre_flight(CheckpointFailureReason reason) {
  return reason <= CheckpointFailureReason::EXCEPTION;
}
[[nodiscard]] const char* to_string(CheckpointFailureReason reason);

}  // namespace tailrace::engine
