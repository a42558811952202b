// The machines of a scenario and the processes that live on them.
//
// Machine 0 runs the job manager, machine i + 1 task manager i; the last one the highly available
// store, if there is one. Job manager and task managers may die and come back as new processes; the
// store lives as long as the run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/network/network_environment.hpp"
#include "engine/scheduling/gateways.hpp"
#include "engine/scheduling/high_availability_services.hpp"
#include "engine/task/task_executor.hpp"
#include "scenarios/model.hpp"
#include "scenarios/world/connections.hpp"
#include "scenarios/world/cost_model.hpp"
#include "scenarios/world/process_ports.hpp"
#include "scenarios/world/run_recorder.hpp"
#include "sim/host.hpp"
#include "sim/network.hpp"
#include "sim/simulation.hpp"
#include "sim/storage.hpp"

namespace tailrace::scenarios {

class SimulatedCluster final : private engine::NetworkPeers {
 public:
  // A running attempt of a subtask.
  struct Located {
    std::int32_t task_manager = 0;
    const engine::Task* task = nullptr;
  };

  SimulatedCluster(const Scenario& scenario, sim::Simulation& simulation, RunRecorder& recorder);
  ~SimulatedCluster();
  SimulatedCluster(const SimulatedCluster&) = delete;
  SimulatedCluster& operator=(const SimulatedCluster&) = delete;

  [[nodiscard]] const engine::Ports& job_manager_ports() const;
  // A new process, after the one before has died.
  void start_job_manager();
  // As kill_task_manager. The owner of the job manager's objects destroys them next.
  bool kill_job_manager(bool silently);
  // Null: the cluster has no highly available store.
  [[nodiscard]] engine::HighAvailabilityServices* high_availability() {
    return high_availability_.get();
  }
  // Task managers register there from now on. With a highly available store they ask it instead.
  void set_job_master(engine::RpcAddress<engine::JobMasterGateway> address);

  [[nodiscard]] std::int32_t task_manager_count() const {
    return static_cast<std::int32_t>(task_managers_.size());
  }
  void start_task_manager(std::int32_t index);
  // `silently`: the power is cut; otherwise the process ends and its sockets close.
  // Returns: false if it was dead already.
  bool kill_task_manager(std::int32_t index, bool silently);
  // The end of the run. Asserts, as the end of every process does, that all network buffers come home.
  void shut_down_task_managers();
  // Null while it is dead.
  [[nodiscard]] engine::TaskExecutor* task_executor(std::int32_t index);

  // The attempt of subtask `subtask` of the vertex whose chain has stream node `op`; none if it is
  // not deployed.
  [[nodiscard]] std::optional<Located> locate(std::int32_t op, std::int32_t subtask);

  // Records that were sent between tasks and not yet received.
  [[nodiscard]] std::int64_t records_in_flight();

  [[nodiscard]] SlowDowns& slow_downs() { return slow_downs_; }
  // Replaces what was wrong before; the default: nothing.
  void set_storage_trouble(const StorageTrouble& trouble);
  [[nodiscard]] BlobContents& blobs() { return blobs_; }
  [[nodiscard]] sim::Host& host_of(std::int32_t task_manager) {
    return *machines_[static_cast<std::size_t>(task_manager) + 1].host;
  }
  [[nodiscard]] sim::OwnerTag owner_of(std::int32_t task_manager) const;

 private:
  struct Machine {
    std::unique_ptr<sim::Host> host;
    sim::HostId network;
  };
  struct TaskManager {
    engine::ProcessId process;  // 0: dead
    std::unique_ptr<engine::TaskExecutor> executor;
  };

  void shut_down(TaskManager& manager);
  [[nodiscard]] Machine add_machine(std::int32_t cores, std::int64_t speed_milli);
  // A new life of a process on machine `machine`.
  ProcessPorts& start_process(std::size_t machine);
  engine::NetworkEnvironment* environment_of(engine::ProcessId process) override;
  [[nodiscard]] std::string address_of(engine::ProcessId process) const override;

  const Scenario* scenario_;
  sim::Simulation* simulation_;
  RunRecorder* recorder_;
  CostModel costs_;
  RandomStreams random_;
  PinnedTimes pins_;
  sim::Network network_;
  sim::ObjectStore store_;
  std::optional<sim::ObjectStore>
      reads_;  // with a pipe for each direction: what store_ does not serve
  BlobContents blobs_;
  RemovedDirectories removed_;
  SlowDowns slow_downs_;
  StorageTrouble trouble_;
  std::vector<Machine> machines_;
  std::vector<std::unique_ptr<ProcessPorts>> processes_;  // by id, from 1
  std::vector<std::size_t> machine_of_;                   // by process id, from 1
  // By process id, from 1; null for the dead and for the job manager. Asked for every message.
  std::vector<engine::NetworkEnvironment*> environments_;
  Connections connections_;
  SharedWorld shared_;
  ProcessPorts* job_manager_ = nullptr;  // of its last life
  std::unique_ptr<engine::HighAvailabilityServices> high_availability_;
  engine::RpcAddress<engine::JobMasterGateway> job_master_;
  std::vector<TaskManager> task_managers_;
};

}  // namespace tailrace::scenarios
