// What tasks tell the checkpoint coordinator.
//
// AcknowledgeCheckpoint, DeclineCheckpoint, CheckpointMetrics of Flink 1.10 and 1.20 (spec
// coordinator.md 1.7, 7.2).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

// Times of one subtask's checkpoint, in ns; Flink's statistics show them in ms, truncated.
struct CheckpointMetrics {
  std::int64_t alignment_bytes_buffered = 0;  // 1.10
  std::int64_t alignment_ns = 0;
  std::int64_t sync_ns = 0;
  std::int64_t async_ns = 0;
  // What follows is reported by 1.20 alone.
  std::int64_t start_delay_ns = 0;  // from the trigger to the first barrier
  std::int64_t bytes_processed_during_alignment = 0;
  std::int64_t bytes_persisted_during_alignment = 0;  // of buffers in flight, both sides
  // Bytes of state newly written for this checkpoint, and with all that is used again.
  std::int64_t bytes_persisted_of_this_checkpoint = 0;
  std::int64_t total_bytes_persisted = 0;
  bool unaligned = false;  // bytes of buffers in flight were persisted
};

struct AcknowledgeCheckpoint {
  JobId job;
  ExecutionAttemptId attempt;
  CheckpointId checkpoint_id = kNoCheckpoint;
  CheckpointMetrics metrics;
  // Null: no operator of the task had any state.
  std::shared_ptr<const TaskStateSnapshot> state;
};

struct DeclineCheckpoint {
  JobId job;
  ExecutionAttemptId attempt;
  CheckpointId checkpoint_id = kNoCheckpoint;
  // 1.10: a cause that is no checkpoint exception arrives as JOB_FAILURE.
  CheckpointFailureReason reason = CheckpointFailureReason::CHECKPOINT_DECLINED;
};

// Flink 1.20: the metrics of a subtask's snapshot that was aborted.
struct ReportCheckpointMetrics {
  JobId job;
  ExecutionAttemptId attempt;
  CheckpointId checkpoint_id = kNoCheckpoint;
  CheckpointMetrics metrics;
};

}  // namespace tailrace::engine
