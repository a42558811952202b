#include "tests/golden/stop_rows.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/scheduling/stop_with_savepoint_termination_handler.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

constexpr const char* kSavepoint = "savepoint-1";

// Notes what the handler asks for, and what the request is told.
class Scheduler final : public StopWithSavepointOperations {
 public:
  Scheduler()
      : handler_(make_stop_handler_120(*this, [this](StopResult result) {
          if (!result.ok()) return heard_.push_back("failed");
          expect_equal("the path", kSavepoint, result.value()->external_pointer());
          heard_.push_back("path");
        })) {}

  void restart_checkpoint_scheduler() override { heard_.push_back("startScheduler"); }
  void fail_unrecoverably(const std::string&) override { heard_.push_back("globalFailover"); }

  // Returns: what has been heard meanwhile.
  std::vector<std::string> play(const Json& step) {
    const std::string op = step.at("op");
    if (op == "savepoint") {
      static_cast<void>(handler_->handle_savepoint_creation(savepoint(step.at("ok"))));
    } else if (op == "executionsEnd") {
      std::vector<ExecutionState> states;
      for (const Json& state : step.at("states")) states.push_back(state_named(state));
      static_cast<void>(handler_->handle_executions_termination(states));
    } else {
      throw MalformedCase("a step of a stop: " + op);
    }
    return std::exchange(heard_, {});
  }

 private:
  static CheckpointResult savepoint(bool ok) {
    if (!ok) return base::Failure{CheckpointFailureReason::CHECKPOINT_EXPIRED};
    auto completed = std::make_shared<CompletedCheckpoint>();
    completed->location.directory = kSavepoint;
    return CompletedCheckpointPtr(std::move(completed));
  }
  static ExecutionState state_named(const std::string& name) {
    for (const ExecutionState state :
         {ExecutionState::FINISHED, ExecutionState::CANCELED, ExecutionState::FAILED}) {
      if (name == to_string(state)) return state;
    }
    throw MalformedCase("no end of an execution: " + name);
  }

  std::vector<std::string> heard_;
  std::unique_ptr<StopWithSavepointTerminationHandler> handler_;
};

}  // namespace

bool is_stop_row(const Json& line) {
  return line.value("about", "") == "stop-with-savepoint";
}

void replay_stop_row(const Json& line) {
  Scheduler scheduler;
  Json all = Json::array();
  for (const Json& step : line.at("steps")) {
    const Json heard = scheduler.play(step);
    expect_equal("heard after " + step.at("op").get<std::string>(), step.at("heard"), heard);
    for (const Json& word : heard) all.push_back(word);
  }
  for (const Json& check : line.at("checks")) {
    const std::string what = check.at("what");
    if (what == "asked for") {
      expect_equal(what, check.at("value"), all);
    } else if (what != "the savepoint is kept") {  // nothing here could delete it
      throw MalformedCase("a check of a stop: " + what);
    }
  }
}

}  // namespace tailrace::golden
