// One attempt of one subtask on its task manager: its states, and what the job manager hears of it.
//
// Task of Flink 1.10 and 1.20 (spec rescale.md S-1.1, S-6.18; coordinator.md 5.1 steps 3 and 4, 5.3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/scheduling/deployment.hpp"
#include "engine/scheduling/gateways.hpp"
#include "engine/task/stream_task.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class NetworkEnvironment;

class Task final : private StreamTaskHost {
 public:
  // Tells its owner when the attempt has reached a terminal state; the owner may then destroy it,
  // but not from inside the call.
  class Owner {
   public:
    virtual void task_ended(Task& task) = 0;

   protected:
    ~Owner() = default;
  };

  Task(const Ports& ports, NetworkEnvironment& network,
       std::shared_ptr<const TaskDeploymentDescriptor> descriptor,
       RpcAddress<JobMasterGateway> job_master, Owner& owner, Time process_started,
       f120::ChannelStateWriteRequestExecutorFactory* channel_state = nullptr);
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // DEPLOYING, then RUNNING; 1.20: INITIALIZING until the state is restored, then RUNNING.
  // Its thread begins after that time; meanwhile it is DEPLOYING.
  void start(Duration after = {});

  // Ignored in a terminal state.
  void cancel();
  void fail(std::string cause);
  void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          bool advance_to_end_of_event_time);
  void notify_checkpoint_complete(CheckpointId id);
  void notify_checkpoint_aborted(CheckpointId id, CheckpointId latest_completed);  // 1.20
  void notify_checkpoint_subsumed(CheckpointId id);                                // 1.20

  [[nodiscard]] ExecutionAttemptId attempt() const { return descriptor_->attempt; }
  [[nodiscard]] ExecutionState state() const { return state_; }
  [[nodiscard]] const TaskDeploymentDescriptor& descriptor() const { return *descriptor_; }
  // Null once the attempt has ended.
  [[nodiscard]] StreamTask* invokable() { return invokable_.get(); }
  [[nodiscard]] const StreamTask* invokable() const { return invokable_.get(); }
  [[nodiscard]] std::vector<std::unique_ptr<ResultPartition>> take_partitions();

 private:
  void run();

  // StreamTaskHost
  void acknowledge(AcknowledgeCheckpoint message) override;
  void decline(DeclineCheckpoint message) override;
  void report_checkpoint_metrics(ReportCheckpointMetrics message) override;
  void state_restored(std::int64_t state_bytes) override;
  void invokable_restored() override;
  void end_of_data() override;
  void invokable_finished() override;
  void invokable_failed(std::string cause) override;
  void invokable_stopped() override;

  [[nodiscard]] bool takes_checkpoints() const {
    return state_ == ExecutionState::RUNNING && !failing_;
  }
  void report(ExecutionState state, std::string failure);
  void end(ExecutionState state);

  Ports ports_;
  NetworkEnvironment* network_;
  std::shared_ptr<const TaskDeploymentDescriptor> descriptor_;
  RpcAddress<JobMasterGateway> job_master_;
  Owner* owner_;
  Time process_started_;
  f120::ChannelStateWriteRequestExecutorFactory* channel_state_;
  ExecutionState state_ = ExecutionState::CREATED;
  std::string failure_;  // why it is on its way to FAILED
  bool failing_ = false;
  std::unique_ptr<StreamTask> invokable_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
