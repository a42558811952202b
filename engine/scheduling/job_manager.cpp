#include "engine/scheduling/job_manager.hpp"

#include <memory>
#include <utility>

#include "engine/generation.hpp"
#include "engine/graph/streaming_job_graph_generator.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

CheckpointDone explain(StopDone done) {
  return [done = std::make_unique<StopDone>(std::move(done))](CheckpointResult result) {
    if (result.ok()) {
      (*done)(std::move(result).value());
    } else {
      (*done)(base::Failure{std::string(to_string(result.error()))});
    }
  };
}

}  // namespace

struct JobManager::Recovery {
  std::vector<RecoveredJob> jobs;
  std::size_t next = 0;
  std::vector<JobId> recovered;
  base::InplaceFunction<void(std::vector<JobId>)> on_leader;
};

void JobManager::contend_for_leadership(base::InplaceFunction<void(std::vector<JobId>)> on_leader) {
  TAILRACE_ASSERT(high_availability_ != nullptr);
  auto recovery = std::make_shared<Recovery>();
  recovery->on_leader = std::move(on_leader);
  high_availability_->contend(lifeline_.bind([this, recovery] {
    high_availability_->get_jobs(lifeline_.bind([this, recovery](std::vector<RecoveredJob> jobs) {
      recovery->jobs = std::move(jobs);
      recover_jobs(recovery);
    }));
  }));
}

void JobManager::recover_jobs(std::shared_ptr<Recovery> recovery) {
  if (recovery->next == recovery->jobs.size()) {
    high_availability_->publish_leader(gateway());
    recovery->on_leader(std::move(recovery->recovered));
    return;
  }
  const RecoveredJob& job = recovery->jobs[recovery->next++];
  master_.recover(job, lifeline_.bind([this, recovery, id = job.id](bool recovered) {
    if (recovered) recovery->recovered.push_back(id);
    recover_jobs(recovery);
  }));
}

base::Result<JobId, std::string> JobManager::submit_job(JobSubmission submission) {
  base::Result<JobGraph, std::string> graph = generate_job_graph(submission.graph);
  if (!graph) return base::Failure{graph.error()};
  auto job_graph = std::make_shared<JobGraph>(std::move(graph).value());
  job_graph->edges = &subtask_edges(submission.tasks.generation);
  return master_.start(std::move(job_graph), std::move(submission));
}

void JobManager::cancel_job(JobId job) {
  if (DefaultScheduler* scheduler = master_.find_scheduler(job)) scheduler->cancel_job();
}

DefaultScheduler* JobManager::find_scheduler(JobId job, StopDone& done) {
  DefaultScheduler* scheduler = master_.find_scheduler(job);
  if (scheduler == nullptr) done(base::Failure{std::string("there is no such job")});
  return scheduler;
}

void JobManager::stop_with_savepoint(JobId job, std::string target_directory, bool drain,
                                     StopDone done) {
  DefaultScheduler* scheduler = find_scheduler(job, done);
  if (scheduler == nullptr) return;
  scheduler->stop_with_savepoint(std::move(target_directory), drain, std::move(done));
}

void JobManager::trigger_savepoint(JobId job, std::string target_directory, bool cancel,
                                   StopDone done) {
  DefaultScheduler* scheduler = find_scheduler(job, done);
  if (scheduler == nullptr) return;
  scheduler->trigger_savepoint(std::move(target_directory), cancel, std::move(done));
}

void JobManager::trigger_checkpoint(JobId job, StopDone done) {
  DefaultScheduler* scheduler = find_scheduler(job, done);
  if (scheduler == nullptr) return;
  if (is_globally_terminal(scheduler->status())) {
    done(base::Failure{std::string("the job is ") + to_string(scheduler->status())});
    return;
  }
  scheduler->coordinator()->trigger_checkpoint(false, explain(std::move(done)));
}

JobStatus JobManager::status(JobId job) {
  DefaultScheduler* scheduler = master_.find_scheduler(job);
  TAILRACE_ASSERT(scheduler != nullptr);
  return scheduler->status();
}

const JobSubmission& JobManager::submission(JobId job) {
  DefaultScheduler* scheduler = master_.find_scheduler(job);
  TAILRACE_ASSERT(scheduler != nullptr);
  return scheduler->submission();
}

}  // namespace tailrace::engine
