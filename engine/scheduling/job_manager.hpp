// The job manager process: where clients submit, rescale and stop jobs.
//
// Flink 1.10 Dispatcher with its JobMaster. Built once per process over that process's ports; all
// functions return at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/scheduling/job_master.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class JobManager {
 public:
  // `checkpointing` makes the coordinators of the engine's generation; it outlives this.
  // What `services` points to outlives this as well.
  JobManager(const Ports& ports, const ClusterConfig& config, CheckpointingFactory& checkpointing,
             JobManagerServices services = {})
      : self_(ports.self),
        high_availability_(services.high_availability),
        master_(ports, config, checkpointing, services) {}

  // Waits for its turn to lead the cluster, takes over the jobs that the store has, and tells the
  // task managers; then runs `on_leader` with these jobs. A job that cannot be taken over fails.
  // Requires: a highly available store. No job is submitted before.
  // Source: Flink 1.10 Dispatcher.grantLeadership, tryAcceptLeadershipAndRunJobs.
  void contend_for_leadership(base::InplaceFunction<void(std::vector<JobId>)> on_leader);

  // What task managers register at.
  [[nodiscard]] RpcAddress<JobMasterGateway> gateway() { return {self_, &master_}; }

  // Errors: what generate_job_graph finds wrong. A savepoint that cannot be restored shows later, as
  // a FAILED job.
  [[nodiscard]] base::Result<JobId, std::string> submit_job(JobSubmission submission);
  // An unknown or ended job: ignored.
  void cancel_job(JobId job);
  // `target_directory`: empty for the configured one. `done` runs once the job has FINISHED, or with
  // the reason why it goes on; possibly inside this call.
  void stop_with_savepoint(JobId job, std::string target_directory, bool drain, StopDone done);
  // A savepoint, or a checkpoint out of turn, of a job that goes on.
  // `cancel`: the job ends when the savepoint is complete.
  void trigger_savepoint(JobId job, std::string target_directory, bool cancel, StopDone done);
  void trigger_checkpoint(JobId job, StopDone done);

  // Requires: a job of this job manager.
  [[nodiscard]] JobStatus status(JobId job);
  [[nodiscard]] const JobSubmission& submission(JobId job);
  // Null for an unknown job.
  [[nodiscard]] DefaultScheduler* find_scheduler(JobId job) { return master_.find_scheduler(job); }
  void set_job_listener(JobListener* listener) { master_.set_job_listener(listener); }
  [[nodiscard]] const SlotPool& slot_pool() const { return master_.slot_pool(); }

 private:
  // Null, and `done` is told so, for an unknown job.
  [[nodiscard]] DefaultScheduler* find_scheduler(JobId job, StopDone& done);

  // Takes the jobs over from `next` on, one after the other.
  struct Recovery;
  void recover_jobs(std::shared_ptr<Recovery> recovery);

  ProcessId self_;
  HighAvailabilityClient* high_availability_;
  JobMaster master_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
