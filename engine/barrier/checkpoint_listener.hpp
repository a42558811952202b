// What a barrier handler tells its task.
//
// Flink AbstractInvokable (1.20 CheckpointableTask) triggerCheckpointOnBarrier,
// abortCheckpointOnBarrier. Both calls are
// synchronous: all that the task does there happens before the handler's next step (spec
// barriers.md section 0).
#pragma once

#include <cstdint>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"

namespace tailrace::engine {

// Alignment part of Flink's CheckpointMetrics, as known when the task is told. Under 1.20 an
// unaligned snapshot starts before the alignment ends: then `is_final` is false, and duration and
// bytes follow with CheckpointListener::alignment_ended.
struct AlignmentMetrics {
  std::int64_t bytes_buffered = 0;  // 1.10: pages, not real bytes (spec barriers.md 2.2)
  std::int64_t duration_ns = 0;
  std::int64_t bytes_processed = 0;  // 1.20
  std::int64_t start_delay_ns = 0;   // 1.20
  bool is_final = true;
};

class CheckpointListener {
 public:
  virtual void trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                             const CheckpointOptions& options,
                                             const AlignmentMetrics& metrics) = 0;
  virtual void abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) = 0;
  // 1.20: what was not final when that checkpoint was triggered. Once for each such trigger, also if
  // the checkpoint was aborted (then with what had been processed until then).
  virtual void alignment_ended(CheckpointId /*id*/, const AlignmentMetrics& /*metrics*/) {}

 protected:
  ~CheckpointListener() = default;
};

}  // namespace tailrace::engine
