// The job manager's end of all talk with task managers.
//
// Flink 1.10 JobMaster and what it shares with the other masters of its process: one endpoint, one
// slot pool and one heartbeat manager serve all jobs (spec rescale.md 6.6, 6.7).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/scheduling/default_scheduler.hpp"
#include "engine/scheduling/gateways.hpp"
#include "engine/scheduling/heartbeat_manager.hpp"
#include "engine/scheduling/high_availability_client.hpp"
#include "engine/scheduling/job_submission.hpp"
#include "engine/scheduling/slot_pool.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// Hears how jobs end. Called from inside the job manager: whoever wants to act schedules an event.
class JobListener {
 public:
  // `cause`: of a FAILED job.
  virtual void on_job_terminated(JobId job, JobStatus status, const std::string& cause) = 0;

 protected:
  ~JobListener() = default;
};

// Ids that no other job manager of the cluster has given or will give; random ones in Flink.
struct UniqueIds {
  std::uint32_t last_job = 0;
  ExecutionAttemptIds attempts;
};

// What a job manager finds in its cluster.
struct JobManagerServices {
  HighAvailabilityClient* high_availability = nullptr;  // null: jobs end with their job manager
  UniqueIds* ids = nullptr;                             // null: there is only one job manager
};

class JobMaster final : public JobMasterGateway, private SchedulerOwner {
 public:
  JobMaster(const Ports& ports, const ClusterConfig& config, CheckpointingFactory& checkpointing,
            JobManagerServices services = {});
  JobMaster(const JobMaster&) = delete;
  JobMaster& operator=(const JobMaster&) = delete;

  // Takes the job over; it starts as the next event, or once the highly available store has it.
  JobId start(std::shared_ptr<const JobGraph> graph, JobSubmission submission);
  // Takes a job of a former leader over, and starts it. `done` runs once it is known here, with
  // whether its checkpoints can be read; if not, it does not start, and the listener hears of it.
  void recover(RecoveredJob job, base::InplaceFunction<void(bool)> done);
  // Null for an unknown job. Jobs that have ended stay known.
  [[nodiscard]] DefaultScheduler* find_scheduler(JobId job);
  void set_job_listener(JobListener* listener) { listener_ = listener; }
  [[nodiscard]] const SlotPool& slot_pool() const { return pool_; }

  // JobMasterGateway.
  void register_task_manager(TaskManagerRegistration registration) override;
  void update_task_execution_state(TaskExecutionState state) override;
  void cancel_acknowledged(ExecutionAttemptId attempt) override;
  void acknowledge_checkpoint(AcknowledgeCheckpoint message) override;
  void decline_checkpoint(DeclineCheckpoint message) override;
  void report_checkpoint_metrics(ReportCheckpointMetrics message) override;
  void notify_end_of_data(JobId job, ExecutionAttemptId attempt) override;
  void heartbeat_from_task_manager(ProcessId task_manager) override;

 private:
  // Flink 1.10 CheckpointRecoveryFactory.
  [[nodiscard]] StoredJob stored_job(JobId job, CheckpointId next_checkpoint);
  void create(JobId job, std::shared_ptr<const JobGraph> graph, JobSubmission submission,
              StoredJob stored);
  void start_next(JobId job);

  // SchedulerOwner.
  void on_slots_freed() override;
  [[nodiscard]] Duration requirements_changed() override;
  void on_job_terminated(JobId job, JobStatus status, const std::string& cause) override;

  // S-6.27: its slots are gone, what ran on them fails, and it is told so.
  void disconnect_task_manager(ProcessId process, const std::string& cause);
  // Forgets it with its slots; what runs there has failed.
  void release_task_manager(ProcessId process, const std::string& cause);

  Ports ports_;
  ClusterConfig config_;
  CheckpointingFactory& checkpointing_;
  JobManagerServices services_;
  SlotPool pool_;
  UniqueIds own_ids_;
  std::map<JobId, std::unique_ptr<HighAvailableJob>> stored_jobs_;
  std::map<JobId, std::unique_ptr<DefaultScheduler>> schedulers_;
  Time next_check_;        // of requirements, if it is not over
  bool offering_ = false;  // an event that offers slots is on its way
  JobListener* listener_ = nullptr;
  HeartbeatManagerSender heartbeats_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
