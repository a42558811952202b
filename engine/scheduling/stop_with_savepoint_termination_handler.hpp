// The end of a stop with savepoint: what the savepoint and the ends of the tasks make of it.
//
// Flink 1.20 StopWithSavepointTerminationHandler; 1.10 has the same steps inside SchedulerBase (spec
// coordinator.md; rescale.md S-7.3 to S-7.6). One for each request; told what happens,
// asks the scheduler for what must follow.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/ids.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// The savepoint, or why the job goes on (or ended otherwise).
using StopResult = base::Result<CompletedCheckpointPtr, std::string>;
using StopDone = base::InplaceFunction<void(StopResult)>;

class StopWithSavepointOperations {
 public:
  // Periodic checkpoints go on, if they are configured and the job is not over.
  virtual void restart_checkpoint_scheduler() = 0;
  // The whole job fails and must not restart (S-6.13).
  virtual void fail_unrecoverably(const std::string& cause) = 0;

 protected:
  ~StopWithSavepointOperations() = default;
};

class StopWithSavepointTerminationHandler {
 public:
  virtual ~StopWithSavepointTerminationHandler() = default;

  // Whether it wants to hear of the attempts.
  [[nodiscard]] virtual bool follows_executions() const = 0;
  // Each of the three is called at most once. True: the request has been answered; what comes after
  // that changes nothing.
  [[nodiscard]] virtual bool handle_savepoint_creation(CheckpointResult result) = 0;
  // All attempts that ran when the request came have ended, and the savepoint is complete.
  [[nodiscard]] virtual bool handle_executions_termination(
      const std::vector<ExecutionState>& states) = 0;
  // The job has ended.
  [[nodiscard]] virtual bool handle_job_termination(JobStatus status) = 0;
};

[[nodiscard]] std::unique_ptr<StopWithSavepointTerminationHandler> make_stop_handler_110(
    StopWithSavepointOperations& operations, StopDone done);
[[nodiscard]] std::unique_ptr<StopWithSavepointTerminationHandler> make_stop_handler_120(
    StopWithSavepointOperations& operations, StopDone done);

}  // namespace tailrace::engine
