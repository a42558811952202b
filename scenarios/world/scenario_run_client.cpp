// What the client of a run does: it asks the job manager to rescale or to stop the job, again and again.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/rescale/rescale_by_savepoint.hpp"
#include "scenarios/world/job_builder.hpp"
#include "scenarios/world/scenario_run.hpp"

namespace tailrace::scenarios {
namespace {

// A person or a script that stops or rescales a job which cannot be stopped just now (it restarts,
// a checkpoint fails) tries again after so long.
constexpr Duration kClientRetry = Duration::seconds(1);

}  // namespace

// Asks the job manager for what the client wants now: a rescale under way comes before the end.
void ScenarioRun::ask() {
  if (job_ended_) return;
  if (job_manager_ == nullptr || job_manager_->find_scheduler(job_) == nullptr) {
    ask_again_later();  // nobody leads, or whoever does has not taken the job over yet
    return;
  }
  request_ = std::make_unique<base::Lifeline>();
  if (rescaling_) {
    ask_to_rescale(*rescaling_);
  } else {
    ask_to_stop();
  }
}

void ScenarioRun::ask_again_later() {
  request_.reset();
  simulation_.schedule(kClientRetry, [this] { ask(); });
}

void ScenarioRun::refused() {
  if (job_manager_->status(job_) == engine::JobStatus::FINISHED) {
    finish_by_itself();  // its sources ended while we asked
  } else {
    ask_again_later();  // it goes on as it was
  }
}

// Flink 1.10 leaves a stop with savepoint unanswered if a task fails between the savepoint and the
// end of the tasks: the job restarts from the savepoint and goes on. The client sees that it runs.
// A request may be older than the job's first RUNNING; that one is no restart.
void ScenarioRun::on_running(engine::JobId job) {
  if (job != job_) return;
  if (std::exchange(has_run_, true) && request_ != nullptr) ask_again_later();
}

void ScenarioRun::ask_to_rescale(std::size_t index) {
  std::vector<std::int32_t> wanted =
      rescaled_parallelism(parallelism_, scenario_->timeline[index].rescales);
  engine::Parallelisms changes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    changes.emplace(scenario_->job.operators[i].id, wanted[i]);
  }
  engine::rescale_by_savepoint(
      *job_manager_, job_, changes, {}, *request_,
      [this, wanted = std::move(wanted)](base::Result<engine::JobId, std::string> result) {
        if (job_ended_) return;
        if (!result.ok()) {
          refused();
          return;
        }
        request_.reset();
        parallelism_ = wanted;
        rescaling_.reset();
        submitted(result.value());
        if (ending_) {
          ask();
        } else {
          next_rescale();
        }
      });
}

void ScenarioRun::ask_to_stop() {
  job_manager_->stop_with_savepoint(job_, {}, drain_,
                                    request_->bind([this](engine::StopResult stopped) {
                                      if (job_ended_) return;
                                      if (stopped.ok()) {
                                        final_savepoint_ = stopped.value();
                                        finish();
                                      } else {
                                        refused();
                                      }
                                    }));
}

}  // namespace tailrace::scenarios
