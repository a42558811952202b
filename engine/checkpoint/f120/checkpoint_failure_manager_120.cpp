#include "engine/checkpoint/f120/checkpoint_failure_manager_120.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr const char* kExceededTolerable = "Exceeded checkpoint tolerable failure threshold.";

bool counts_as_failure(CheckpointFailureReason reason) {
  return reason == CheckpointFailureReason::CHECKPOINT_DECLINED ||
         reason == CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION ||
         reason == CheckpointFailureReason::CHECKPOINT_EXPIRED ||
         reason == CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE ||
         reason == CheckpointFailureReason::IO_EXCEPTION;
}

}  // namespace

CheckpointFailureManager120::CheckpointFailureManager120(std::int32_t tolerable_failures,
                                                         FailJobCallback& callback)
    : tolerable_failures_(tolerable_failures), callback_(callback) {
  TAILRACE_ASSERT(tolerable_failures >= 0);
}

void CheckpointFailureManager120::handle_checkpoint_exception(
    const CheckpointProperties& properties, CheckpointFailureReason reason, CheckpointId id,
    std::optional<ExecutionAttemptId> attempt) {
  counted_last_failure_ = false;
  if (is_pre_flight(reason) || !attempt.has_value()) {
    if (properties.is_savepoint()) return;
    if (exceeds_tolerable_failures(reason, id)) callback_.fail_job(kExceededTolerable);
    return;
  }
  if (properties.is_savepoint() && properties.is_synchronous()) {
    callback_.fail_job(to_string(reason));  // the task waits for it and would never go on
    return;
  }
  if (exceeds_tolerable_failures(reason, id)) {
    callback_.fail_job_due_to_task_failure(kExceededTolerable, *attempt);
  }
}

void CheckpointFailureManager120::handle_checkpoint_success(CheckpointId id) {
  if (id <= last_succeeded_) return;
  last_succeeded_ = id;
  clear_count();
}

bool CheckpointFailureManager120::exceeds_tolerable_failures(CheckpointFailureReason reason,
                                                             CheckpointId id) {
  if (tolerable_failures_ == kUnlimitedTolerableFailures) return false;
  const bool known = id != kNoCheckpoint;
  if (counts_as_failure(reason) && !(known && id <= last_succeeded_) &&
      (!known || counted_ids_.insert(id).second)) {
    ++continuous_failures_;
    counted_last_failure_ = true;
  }
  if (continuous_failures_ <= tolerable_failures_) return false;
  clear_count();
  return true;
}

void CheckpointFailureManager120::clear_count() {
  continuous_failures_ = 0;
  counted_ids_.clear();
}

}  // namespace tailrace::engine
