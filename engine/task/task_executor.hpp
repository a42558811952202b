// The task manager process: runs attempts of subtasks, owns their network stack, sends heartbeats.
//
// Flink 1.10 TaskExecutor. One object is one life of the process; the world destroys it when the
// process dies and makes another when it comes back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/network/network_config.hpp"
#include "engine/network/network_environment.hpp"
#include "engine/scheduling/gateways.hpp"
#include "engine/task/task.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

struct TaskExecutorConfig {
  std::int32_t index = 0;  // position in the cluster
  std::int32_t slots = 1;
  Duration heartbeat_timeout = Duration::seconds(50);
  NetworkConfig network;
};

class TaskExecutor final : public TaskExecutorGateway, private Task::Owner {
 public:
  TaskExecutor(const Ports& ports, const TaskExecutorConfig& config, NetworkPeers& peers);
  ~TaskExecutor();
  TaskExecutor(const TaskExecutor&) = delete;
  TaskExecutor& operator=(const TaskExecutor&) = delete;

  // Registers with the job manager; its heartbeats are watched from then on.
  void connect(RpcAddress<JobMasterGateway> job_master);

  // There is another leader, or, without a gateway, none: the tasks of the one before fail. Flink
  // 1.10 JobLeaderService, TaskExecutor.jobManagerGainedLeadership, jobManagerLostLeadership.
  void job_manager_leader_changed(RpcAddress<JobMasterGateway> leader);

  // TaskExecutorGateway
  void submit_task(std::shared_ptr<const TaskDeploymentDescriptor> descriptor) override;
  void cancel_task(ExecutionAttemptId attempt) override;
  [[nodiscard]] RemoteCalls& calls() override { return *ports_.calls; }
  std::optional<CheckpointFailureReason> trigger_checkpoint(
      ExecutionAttemptId attempt, CheckpointMetaData meta, CheckpointOptions options,
      bool advance_to_end_of_event_time) override;
  void confirm_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                          CheckpointId last_subsumed) override;
  void abort_checkpoint(ExecutionAttemptId attempt, CheckpointMetaData meta,
                        CheckpointId latest_completed) override;
  void heartbeat_from_job_manager() override;
  void disconnect_job_manager() override;

  // Makes a running attempt fail, as an exception in user code would. False: no such attempt.
  bool fail_task(ExecutionAttemptId attempt, std::string cause);

  // The process ends: its tasks go, and what the network stack keeps. Nothing of it runs any more.
  // Returns: segments that nobody has given back; 0 unless we are wrong.
  std::int32_t shut_down();

  [[nodiscard]] NetworkEnvironment& network() { return network_; }
  // Attempts that have not ended, in the order of their deployment.
  [[nodiscard]] const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }
  [[nodiscard]] std::int32_t index() const { return config_.index; }

 private:
  [[nodiscard]] f120::ChannelStateWriteRequestExecutorFactory& channel_state_of(JobId job);
  [[nodiscard]] Task* find(ExecutionAttemptId attempt);
  void task_ended(Task& task) override;
  void register_at_job_manager();
  void watch_job_manager();
  void fail_all(const std::string& cause);

  Ports ports_;
  TaskExecutorConfig config_;
  Time started_;
  NetworkEnvironment network_;
  // By job: which of its subtasks share files of buffers in flight (1.20). They hold such buffers, so
  // they go before the network stack.
  std::map<JobId, std::unique_ptr<f120::ChannelStateWriteRequestExecutorFactory>> channel_state_;
  RpcAddress<JobMasterGateway> job_master_;
  TimerId heartbeat_timer_;
  Time deployed_;  // when the last task that was submitted starts
  std::vector<std::unique_ptr<Task>> tasks_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
