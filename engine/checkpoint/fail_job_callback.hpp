// How checkpointing fails a job.
//
// Flink 1.10 CheckpointFailureManager.FailJobCallback.
#pragma once

#include <string_view>

#include "engine/ids.hpp"

namespace tailrace::engine {

class FailJobCallback {
 public:
  virtual void fail_job(std::string_view cause) = 0;
  // Only if the attempt is still running.
  virtual void fail_job_due_to_task_failure(std::string_view cause, ExecutionAttemptId attempt) = 0;

 protected:
  ~FailJobCallback() = default;
};

}  // namespace tailrace::engine
