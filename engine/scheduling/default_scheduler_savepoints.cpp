// Savepoints of a job that runs, its stop, and the end of its data. Flink 1.10 SchedulerBase, 1.20 with
// StopWithSavepointTerminationManager.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/observer.hpp"
#include "engine/scheduling/default_scheduler.hpp"

namespace tailrace::engine {

bool DefaultScheduler::can_take_savepoint(const std::string& target_directory,
                                          StopDone& done) const {
  std::string problem;
  if (target_directory.empty() && submission_.checkpoints.savepoint_directory.empty()) {
    problem = "no savepoint directory configured: set state.savepoints.dir or name one";
  } else if (is_globally_terminal(status())) {
    problem = std::string("the job is ") + to_string(status());
  }
  if (problem.empty()) return true;
  done(base::Failure{std::move(problem)});
  return false;
}

void DefaultScheduler::trigger_savepoint(std::string target_directory, bool cancel, StopDone done) {
  if (!can_take_savepoint(target_directory, done)) return;
  if (cancel) coordinator_->stop_checkpoint_scheduler();
  coordinator_->trigger_savepoint(
      std::move(target_directory), SavepointFormatType::CANONICAL,
      lifeline_.bind([this, cancel,
                      done = std::make_unique<StopDone>(std::move(done))](CheckpointResult result) {
        if (!result.ok()) {
          if (cancel) restart_checkpoint_scheduler();
          (*done)(base::Failure{std::string(to_string(result.error()))});
          return;
        }
        if (cancel) cancel_job();
        (*done)(std::move(result).value());
      }));
}

void DefaultScheduler::stop_with_savepoint(std::string target_directory, bool drain,
                                           StopDone done) {
  if (!can_take_savepoint(target_directory, done)) return;
  const std::uint64_t id = next_id_++;
  Stop& stop = stops_[id];
  stop.handler = semantics_->make_stop_handler(*this, std::move(done));
  for (const ExecutionVertexId vertex : graph_.all_vertices()) {
    const Execution& execution = graph_.vertex(vertex).execution();
    if (is_terminal(execution.state)) {
      stop.ended.push_back(execution.state);
    } else {
      stop.running.insert(execution.id);
    }
  }
  // Only the savepoint's data must be committed: periodic checkpoints end here.
  coordinator_->stop_checkpoint_scheduler();
  coordinator_->trigger_synchronous_savepoint(
      std::move(target_directory), drain, SavepointFormatType::CANONICAL,
      lifeline_.bind([this, id](CheckpointResult result) {
        const auto found = stops_.find(id);
        if (found == stops_.end()) return;
        found->second.has_savepoint = result.ok();
        if (found->second.handler->handle_savepoint_creation(std::move(result))) {
          stops_.erase(id);
        } else {
          end_stop_when_terminated(id);
        }
      }));
}

void DefaultScheduler::on_attempt_terminal(ExecutionAttemptId attempt, ExecutionState state) {
  for (auto& [id, stop] : stops_) {
    if (stop.running.erase(attempt) == 0) continue;
    stop.ended.push_back(state);
    end_stop_when_terminated(id);
  }
}

void DefaultScheduler::end_stop_when_terminated(std::uint64_t id) {
  const Stop& stop = stops_.at(id);
  if (!stop.handler->follows_executions()) return;
  if (!stop.has_savepoint || !stop.running.empty()) return;
  if (is_globally_terminal(status()) && !is_shut_down_) return;  // report_end
  ports_.timers->schedule(Duration{0}, lifeline_.bind([this, id] {
    const auto found = stops_.find(id);
    if (found == stops_.end() || (is_globally_terminal(status()) && !is_shut_down_)) return;
    const std::vector<ExecutionState> states = found->second.ended;
    if (found->second.handler->handle_executions_termination(states)) stops_.erase(id);
  }));
}

void DefaultScheduler::restart_checkpoint_scheduler() {
  if (is_globally_terminal(status())) return;
  if (coordinator_->is_periodic_checkpointing_configured()) {
    coordinator_->start_checkpoint_scheduler();
  }
}

void DefaultScheduler::fail_unrecoverably(const std::string& cause) {
  if (status() != JobStatus::RUNNING && status() != JobStatus::RESTARTING) return;
  if (ports_.observer != nullptr) ports_.observer->on_failover(job_, {-1, -1, 0}, cause, false);
  terminate_job(JobStatus::FAILING, cause);
}

void DefaultScheduler::notify_end_of_data(ExecutionAttemptId attempt) {
  const ExecutionVertex* vertex = graph_.find_vertex(attempt);
  if (vertex == nullptr || !semantics_->checkpoints_at_end_of_data) return;
  if (!submission_.checkpoints.interval ||
      !submission_.checkpoints.checkpoints_after_tasks_finish) {
    return;
  }
  end_of_data_.record_task_end_of_data(vertex->id());
  if (end_of_data_.are_all_tasks_end_of_data()) {
    coordinator_->trigger_checkpoint_of_type(RequestedCheckpointType::CONFIGURED, {});
  }
}

}  // namespace tailrace::engine
