// Flink 1.10 SchedulerBase.stopWithSavepoint (spec coordinator.md ): the job's end decides. A
// failure between the savepoint and the end of the tasks restarts the job, and the request waits on.
#include <optional>
#include <utility>

#include "engine/scheduling/stop_with_savepoint_termination_handler.hpp"

namespace tailrace::engine {
namespace {

class StopWithSavepoint110 final : public StopWithSavepointTerminationHandler {
 public:
  StopWithSavepoint110(StopWithSavepointOperations& operations, StopDone done)
      : operations_(operations), done_(std::move(done)) {}

  [[nodiscard]] bool follows_executions() const override { return false; }
  bool handle_savepoint_creation(CheckpointResult result) override {
    if (!result.ok()) return refuse(std::string(to_string(result.error())));
    savepoint_ = std::move(result).value();
    return ended_.has_value() && finish();
  }
  bool handle_executions_termination(const std::vector<ExecutionState>&) override { return false; }
  bool handle_job_termination(JobStatus status) override {
    ended_ = status;
    return savepoint_ != nullptr && finish();
  }

 private:
  bool finish() {
    if (*ended_ == JobStatus::FINISHED) {
      done_(savepoint_);
      return true;
    }
    return refuse(std::string("Reached state ") + to_string(*ended_) + " instead of FINISHED.");
  }
  bool refuse(std::string why) {
    operations_.restart_checkpoint_scheduler();
    done_(base::Failure{std::move(why)});
    return true;
  }

  StopWithSavepointOperations& operations_;
  StopDone done_;
  CompletedCheckpointPtr savepoint_;
  std::optional<JobStatus> ended_;
};

}  // namespace

std::unique_ptr<StopWithSavepointTerminationHandler> make_stop_handler_110(
    StopWithSavepointOperations& operations, StopDone done) {
  return std::make_unique<StopWithSavepoint110>(operations, std::move(done));
}

}  // namespace tailrace::engine
