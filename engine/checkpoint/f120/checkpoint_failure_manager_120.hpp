// Counts consecutive failures of checkpoints and fails the job when there are too many.
//
// Flink 1.20 CheckpointFailureManager (spec coordinator.md ). Statistics are the
// caller's: it updates them before it calls this.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "engine/checkpoint/checkpoint_failure_reason.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/fail_job_callback.hpp"
#include "engine/ids.hpp"

namespace tailrace::engine {

// Not final, as in Flink: a replay listens to what it hears.
class CheckpointFailureManager120 {
 public:
  // Failures are then not counted at all.
  static constexpr std::int32_t kUnlimitedTolerableFailures =
      std::numeric_limits<std::int32_t>::max();

  // Requires: tolerable_failures >= 0.
  CheckpointFailureManager120(std::int32_t tolerable_failures, FailJobCallback& callback);
  virtual ~CheckpointFailureManager120() = default;

  // `id`: kNoCheckpoint if the trigger failed before it had one. `attempt`: of the task that
  // reported the failure; none: nobody did. A pre-flight reason is the job manager's failure even
  // if a task reported it.
  virtual void handle_checkpoint_exception(const CheckpointProperties& properties,
                                           CheckpointFailureReason reason, CheckpointId id,
                                           std::optional<ExecutionAttemptId> attempt);
  // Of savepoints too.
  virtual void handle_checkpoint_success(CheckpointId id);

  // Whether the last failure that was handled was one more in a row.
  [[nodiscard]] bool has_counted_last_failure() const { return counted_last_failure_; }
  [[nodiscard]] std::int32_t continuous_failures() const { return continuous_failures_; }

 private:
  // True: too many. Then the count has been cleared.
  [[nodiscard]] bool exceeds_tolerable_failures(CheckpointFailureReason reason, CheckpointId id);
  void clear_count();

  std::int32_t tolerable_failures_;
  FailJobCallback& callback_;
  std::int32_t continuous_failures_ = 0;
  bool counted_last_failure_ = false;
  std::set<CheckpointId> counted_ids_;
  CheckpointId last_succeeded_ = std::numeric_limits<CheckpointId>::min();
};

}  // namespace tailrace::engine
