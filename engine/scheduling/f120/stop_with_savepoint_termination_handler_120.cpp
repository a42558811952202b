// Flink 1.20 StopWithSavepointTerminationHandlerImpl (spec coordinator.md, C-108, C-109): the
// attempts that ran when the request came decide. If one of them did not finish although the savepoint
// is complete, nobody knows what was committed, and the job must not go on by itself.
#include <algorithm>
#include <utility>

#include "engine/scheduling/stop_with_savepoint_termination_handler.hpp"

namespace tailrace::engine {
namespace {

class StopWithSavepointTerminationHandler120 final : public StopWithSavepointTerminationHandler {
 public:
  StopWithSavepointTerminationHandler120(StopWithSavepointOperations& operations, StopDone done)
      : operations_(operations), done_(std::move(done)) {}

  [[nodiscard]] bool follows_executions() const override { return true; }
  bool handle_savepoint_creation(CheckpointResult result) override {
    if (result.ok()) {
      savepoint_ = std::move(result).value();
      return false;
    }
    operations_.restart_checkpoint_scheduler();
    return answer(base::Failure{std::string(to_string(result.error()))});
  }
  bool handle_executions_termination(const std::vector<ExecutionState>& states) override {
    if (savepoint_ == nullptr) return true;  // answered already
    const bool all_finished = std::all_of(states.begin(), states.end(), [](ExecutionState state) {
      return state == ExecutionState::FINISHED;
    });
    if (all_finished) return answer(std::exchange(savepoint_, nullptr));
    const std::string cause =
        "StopWithSavepointStoppingException: A savepoint has been created at: " +
        savepoint_->external_pointer() + ", but the corresponding job failed during stopping.";
    savepoint_.reset();
    operations_.fail_unrecoverably(cause);
    return answer(base::Failure{cause});
  }
  bool handle_job_termination(JobStatus) override { return false; }

 private:
  bool answer(StopResult result) {
    done_(std::move(result));
    return true;
  }

  StopWithSavepointOperations& operations_;
  StopDone done_;
  CompletedCheckpointPtr savepoint_;
};

}  // namespace

std::unique_ptr<StopWithSavepointTerminationHandler> make_stop_handler_120(
    StopWithSavepointOperations& operations, StopDone done) {
  return std::make_unique<StopWithSavepointTerminationHandler120>(operations, std::move(done));
}

}  // namespace tailrace::engine
