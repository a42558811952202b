#include "engine/checkpoint/f110/checkpoint_failure_manager_110.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr const char* kExceeded = "Exceeded checkpoint tolerable failure threshold.";

}  // namespace

CheckpointFailureManager110::CheckpointFailureManager110(std::int32_t tolerable_failures,
                                                         FailJobCallback& callback)
    : tolerable_failures_(tolerable_failures), callback_(callback) {
  TAILRACE_ASSERT(tolerable_failures >= 0);
}

void CheckpointFailureManager110::handle_job_level_checkpoint_exception(
    CheckpointFailureReason reason, CheckpointId id) {
  check_failure_counter(reason, id);
  // Whatever the reason: a failure that does not count may still find the counter too high.
  if (continuous_failures_ > tolerable_failures_) {
    clear_count();
    callback_.fail_job(kExceeded);
  }
}

void CheckpointFailureManager110::handle_task_level_checkpoint_exception(
    CheckpointFailureReason reason, CheckpointId id, ExecutionAttemptId attempt) {
  check_failure_counter(reason, id);
  if (continuous_failures_ > tolerable_failures_) {
    clear_count();
    callback_.fail_job_due_to_task_failure(kExceeded, attempt);
  }
}

void CheckpointFailureManager110::handle_synchronous_savepoint_failure(
    CheckpointFailureReason reason) {
  if (!is_pre_flight(reason)) callback_.fail_job(to_string(reason));
}

void CheckpointFailureManager110::handle_checkpoint_success(CheckpointId /*id*/) {
  clear_count();
}

void CheckpointFailureManager110::check_failure_counter(CheckpointFailureReason reason,
                                                        CheckpointId id) {
  counted_last_failure_ = false;
  if (tolerable_failures_ == kUnlimitedTolerableFailures) return;
  if (reason != CheckpointFailureReason::CHECKPOINT_DECLINED) return;
  counted_last_failure_ = counted_ids_.insert(id).second;
  if (counted_last_failure_) ++continuous_failures_;
}

void CheckpointFailureManager110::clear_count() {
  continuous_failures_ = 0;
  counted_ids_.clear();
}

}  // namespace tailrace::engine
