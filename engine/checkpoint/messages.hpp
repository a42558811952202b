// What tasks tell the checkpoint coordinator.
//
// Flink 1.10 AcknowledgeCheckpoint, DeclineCheckpoint, CheckpointMetrics (spec coordinator.md 1.7).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

// Times of one subtask's checkpoint, in ns; Flink's statistics show them in ms, truncated.
struct CheckpointMetrics {
  std::int64_t alignment_bytes_buffered = 0;
  std::int64_t alignment_ns = 0;
  std::int64_t start_delay_ns =
      0;  // from the trigger to the first barrier; 1.10 does not report it
  std::int64_t sync_ns = 0;
  std::int64_t async_ns = 0;
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

}  // namespace tailrace::engine
