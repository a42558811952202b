// Why a checkpoint failed. CheckpointFailureReason of Flink 1.10 and 1.20 (spec coordinator.md 2.4).
#pragma once

#include <cstdint>

namespace tailrace::engine {

// The reasons of both generations. Those before `EXCEPTION`, it included, are raised before any task
// was told of the checkpoint; which of all these count as failures is each generation's
// CheckpointFailureManager's to say.
enum class CheckpointFailureReason : std::uint8_t {
  PERIODIC_SCHEDULER_SHUTDOWN,
  ALREADY_QUEUED,                   // 1.10
  TOO_MANY_CONCURRENT_CHECKPOINTS,  // 1.10
  TOO_MANY_CHECKPOINT_REQUESTS,     // 1.20
  MINIMUM_TIME_BETWEEN_CHECKPOINTS,
  NOT_ALL_REQUIRED_TASKS_RUNNING,
  IO_EXCEPTION,                           // 1.20
  BLOCKING_OUTPUT_EXIST,                  // 1.20
  EXCEPTION,                              // 1.10
  CHECKPOINT_ASYNC_EXCEPTION,             // 1.20
  CHANNEL_STATE_SHARED_STREAM_EXCEPTION,  // 1.20
  CHECKPOINT_EXPIRED,
  CHECKPOINT_SUBSUMED,
  CHECKPOINT_DECLINED,
  CHECKPOINT_DECLINED_TASK_NOT_READY,
  CHECKPOINT_DECLINED_TASK_CLOSING,            // 1.20
  CHECKPOINT_DECLINED_TASK_NOT_CHECKPOINTING,  // 1.10
  CHECKPOINT_DECLINED_SUBSUMED,
  CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER,
  CHECKPOINT_DECLINED_ALIGNMENT_LIMIT_EXCEEDED,  // 1.10
  CHECKPOINT_DECLINED_INPUT_END_OF_STREAM,
  CHECKPOINT_COORDINATOR_SHUTDOWN,
  CHECKPOINT_COORDINATOR_SUSPEND,
  JOB_FAILURE,  // 1.10
  JOB_FAILOVER_REGION,
  TASK_FAILURE,  // 1.20
  TASK_CHECKPOINT_FAILURE,
  UNKNOWN_TASK_CHECKPOINT_NOTIFICATION_FAILURE,  // 1.20
  FINALIZE_CHECKPOINT_FAILURE,
  TRIGGER_CHECKPOINT_FAILURE,
};
inline constexpr int kCheckpointFailureReasons =
    static_cast<int>(CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE) + 1;

// Raised before any task was told of the checkpoint.
[[nodiscard]] constexpr bool is_pre_flight(CheckpointFailureReason reason) {
  return reason <= CheckpointFailureReason::EXCEPTION;
}
[[nodiscard]] const char* to_string(CheckpointFailureReason reason);

}  // namespace tailrace::engine
