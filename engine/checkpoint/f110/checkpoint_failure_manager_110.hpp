// Counts consecutive failures of checkpoints and fails the job when there are too many.
//
// Flink 1.10 CheckpointFailureManager (spec coordinator.md 2.5).
#pragma once

#include <cstdint>
#include <limits>
#include <set>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/fail_job_callback.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

// Not final, as in Flink: a replay listens to what it hears.
class CheckpointFailureManager110 {
 public:
  // Failures are then not counted at all.
  static constexpr std::int32_t kUnlimitedTolerableFailures =
      std::numeric_limits<std::int32_t>::max();

  // Requires: tolerable_failures >= 0. 1.10 tolerates none if nothing is configured.
  CheckpointFailureManager110(std::int32_t tolerable_failures, FailJobCallback& callback);
  virtual ~CheckpointFailureManager110() = default;

  // `id` is minus the next id if the trigger failed before it had one.
  virtual void handle_job_level_checkpoint_exception(CheckpointFailureReason reason,
                                                     CheckpointId id);
  virtual void handle_task_level_checkpoint_exception(CheckpointFailureReason reason,
                                                      CheckpointId id, ExecutionAttemptId attempt);
  virtual void handle_synchronous_savepoint_failure(CheckpointFailureReason reason);
  virtual void handle_checkpoint_success(CheckpointId id);

  // Whether the last failure that was handled was one more in a row.
  [[nodiscard]] bool has_counted_last_failure() const { return counted_last_failure_; }
  [[nodiscard]] std::int32_t continuous_failures() const { return continuous_failures_; }

 private:
  void check_failure_counter(CheckpointFailureReason reason, CheckpointId id);
  void clear_count();

  std::int32_t tolerable_failures_;
  FailJobCallback& callback_;
  std::int32_t continuous_failures_ = 0;
  bool counted_last_failure_ = false;
  std::set<CheckpointId> counted_ids_;
};

}  // namespace tailrace::engine
