#include "scenarios/world/simulated_cluster.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/generation.hpp"
#include "engine/task/stream_task.hpp"
#include "scenarios/world/job_settings.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// Between two processes of one machine: the kernel's loopback, no wire.
constexpr Duration kLoopbackLatency = Duration::micros(10);

// A job manager that is never short of cores: what it computes is priced, not queued.
constexpr std::int32_t kJobManagerCores = 4;

}  // namespace

SimulatedCluster::SimulatedCluster(const Scenario& scenario, sim::Simulation& simulation,
                                   RunRecorder& recorder)
    : scenario_(&scenario),
      simulation_(&simulation),
      recorder_(&recorder),
      costs_(scenario),
      random_(scenario.seed),
      pins_(scenario.pins),
      network_(simulation, scenario.cluster.network.latency, kLoopbackLatency),
      store_(simulation,
             {scenario.cluster.checkpoint_storage.directions
                  ? scenario.cluster.checkpoint_storage.directions->write
                  : scenario.cluster.checkpoint_storage.bandwidth,
              scenario.cluster.checkpoint_storage.per_connection,
              scenario.cluster.checkpoint_storage.request_latency},
             scenario.seed, "checkpoint-storage"),
      connections_(
          network_, scenario.cluster.network.latency,
          [this](engine::ProcessId process, Duration delay, base::Callback callback) {
            shared_.process(process).run_after(delay, std::move(callback));
          },
          [this](engine::ProcessId process) {
            return machines_[machine_of_[process.value - 1]].network;
          },
          [this](engine::ProcessId process) { return shared_.process(process).alive(); }) {
  shared_.simulation = simulation_;
  shared_.connections = &connections_;
  shared_.store = &store_;
  shared_.reads = &store_;
  if (const auto& storage = scenario.cluster.checkpoint_storage; storage.directions) {
    reads_.emplace(simulation,
                   sim::StorageConfig{storage.directions->read, storage.per_connection,
                                      storage.request_latency},
                   scenario.seed, "checkpoint-storage-reads");
    shared_.reads = &*reads_;
  }
  shared_.random = &random_;
  shared_.pins = &pins_;
  shared_.costs = &costs_;
  shared_.blobs = &blobs_;
  shared_.removed = &removed_;
  shared_.trouble = &trouble_;
  shared_.rpc_latency = scenario.cluster.rpc_latency;
  shared_.processes = &processes_;

  machines_.push_back(add_machine(kJobManagerCores, 1000));
  const TaskManagers& managers = scenario.cluster.task_managers;
  for (std::int32_t i = 0; i < managers.count; ++i) {
    machines_.push_back(add_machine(managers.cores, managers.speed_milli));
  }
  task_managers_.resize(static_cast<std::size_t>(managers.count));
  job_manager_ = &start_process(0);
  if (scenario.flink.high_availability != HighAvailabilityMode::NONE) {
    machines_.push_back(add_machine(kJobManagerCores, 1000));
    high_availability_ = std::make_unique<engine::HighAvailabilityServices>(
        start_process(machines_.size() - 1).ports(), high_availability_config(scenario));
  }
}

SimulatedCluster::~SimulatedCluster() {
  // Executors reach into their ports while they go.
  task_managers_.clear();
}

SimulatedCluster::Machine SimulatedCluster::add_machine(std::int32_t cores,
                                                        std::int64_t speed_milli) {
  const BytesPerSecond bandwidth = scenario_->cluster.network.bandwidth;
  return {std::make_unique<sim::Host>(*simulation_, cores, speed_milli),
          network_.add_host({bandwidth, bandwidth})};
}

ProcessPorts& SimulatedCluster::start_process(std::size_t machine) {
  const engine::ProcessId id{static_cast<std::uint32_t>(processes_.size() + 1)};
  processes_.push_back(std::make_unique<ProcessPorts>(shared_, id, *machines_[machine].host,
                                                      slow_downs_, *recorder_));
  machine_of_.push_back(machine);
  environments_.push_back(nullptr);
  return *processes_.back();
}

const engine::Ports& SimulatedCluster::job_manager_ports() const {
  return job_manager_->ports();
}

// The number of a process that is no task manager, in the trace.
constexpr std::int32_t kJobManagerIndex = -1;

void SimulatedCluster::start_job_manager() {
  TAILRACE_ASSERT(!job_manager_->alive());
  job_manager_ = &start_process(0);
  recorder_->trace(trace_kind::kProcessStarted, job_manager_->id().value, kJobManagerIndex);
}

bool SimulatedCluster::kill_job_manager(bool silently) {
  if (!job_manager_->alive()) return false;
  recorder_->trace(trace_kind::kProcessDied, job_manager_->id().value, kJobManagerIndex,
                   silently ? 1 : 0);
  job_manager_->die(silently);
  return true;
}

void SimulatedCluster::set_job_master(engine::RpcAddress<engine::JobMasterGateway> address) {
  job_master_ = address;
}

void SimulatedCluster::start_task_manager(std::int32_t index) {
  TaskManager& manager = task_managers_[static_cast<std::size_t>(index)];
  TAILRACE_ASSERT(manager.executor == nullptr);
  ProcessPorts& process = start_process(static_cast<std::size_t>(index) + 1);
  recorder_->trace(trace_kind::kProcessStarted, process.id().value, index);

  engine::TaskExecutorConfig config;
  config.index = index;
  config.slots = scenario_->cluster.task_managers.slots;
  config.heartbeat_timeout = scenario_->flink.heartbeat_timeout;
  config.network.semantics = &engine::network_semantics(scenario_->flink.generation);
  config.network.segment_bytes = static_cast<std::int32_t>(scenario_->flink.segment_bytes);
  config.network.exclusive_per_channel = scenario_->flink.buffers_per_channel;
  config.network.floating_per_gate = scenario_->flink.floating_buffers_per_gate;
  config.network.max_buffers_per_channel = scenario_->flink.max_buffers_per_channel;
  config.network.max_overdraft_buffers_per_gate = scenario_->flink.max_overdraft_buffers_per_gate;
  config.network.buffer_debloat = scenario_->flink.buffer_debloat;
  config.network.partition_request_backoff_initial =
      Duration::millis(scenario_->flink.request_backoff_initial_ms);
  config.network.partition_request_backoff_max =
      Duration::millis(scenario_->flink.request_backoff_max_ms);
  manager.process = process.id();
  engine::NetworkPeers& peers = *this;
  manager.executor = std::make_unique<engine::TaskExecutor>(process.ports(), config, peers);
  environments_[process.id().value - 1] = &manager.executor->network();
  if (high_availability_ == nullptr) {
    manager.executor->connect(job_master_);
    return;
  }
  using Watcher = engine::HighAvailabilityServices::LeaderWatcher;
  const auto watcher = std::make_shared<Watcher>(
      [executor = manager.executor.get()](engine::HighAvailabilityServices::LeaderAddress leader) {
        executor->job_manager_leader_changed(leader);
      });
  process.ports().calls->send(high_availability_->process(), engine::kRpcBytes,
                              [store = high_availability_.get(), self = process.id(), watcher] {
                                store->watch_leader(self, watcher);
                              });
}

bool SimulatedCluster::kill_task_manager(std::int32_t index, bool silently) {
  TaskManager& manager = task_managers_[static_cast<std::size_t>(index)];
  if (manager.executor == nullptr) return false;
  recorder_->trace(trace_kind::kProcessDied, manager.process.value, index, silently ? 1 : 0);
  // First nothing of it runs any more, then its memory goes.
  shared_.process(manager.process).die(silently);
  shut_down(manager);
  return true;
}

void SimulatedCluster::shut_down(TaskManager& manager) {
  environments_[manager.process.value - 1] = nullptr;
  const std::unique_ptr<engine::TaskExecutor> executor = std::move(manager.executor);
  const engine::ProcessId process = std::exchange(manager.process, {});
  const std::int32_t missing = executor->shut_down();
  TAILRACE_ASSERT_MSG(missing == 0, std::to_string(missing) + " network buffers of " +
                                        address_of(process) + " did not come back");
}

void SimulatedCluster::shut_down_task_managers() {
  // First nothing runs any more, anywhere: what one of them does at its end must reach nobody.
  for (const TaskManager& manager : task_managers_) {
    if (manager.executor != nullptr) shared_.process(manager.process).die(true);
  }
  for (TaskManager& manager : task_managers_) {
    if (manager.executor != nullptr) shut_down(manager);
  }
}

engine::TaskExecutor* SimulatedCluster::task_executor(std::int32_t index) {
  return task_managers_[static_cast<std::size_t>(index)].executor.get();
}

sim::OwnerTag SimulatedCluster::owner_of(std::int32_t task_manager) const {
  return sim::OwnerTag{task_managers_[static_cast<std::size_t>(task_manager)].process.value};
}

void SimulatedCluster::set_storage_trouble(const StorageTrouble& trouble) {
  trouble_ = trouble;
  store_.set_error_ppm(trouble.error_rate_ppm);
  store_.set_slow_down({trouble.slow_milli, 1000});
  if (!reads_) return;
  reads_->set_error_ppm(trouble.error_rate_ppm);
  reads_->set_slow_down({trouble.slow_milli, 1000});
}

std::optional<SimulatedCluster::Located> SimulatedCluster::locate(std::int32_t op,
                                                                  std::int32_t subtask) {
  for (std::int32_t i = 0; i < task_manager_count(); ++i) {
    const engine::TaskExecutor* executor = task_executor(i);
    if (executor == nullptr) continue;
    for (const auto& task : executor->tasks()) {
      const engine::TaskDeploymentDescriptor& descriptor = task->descriptor();
      if (descriptor.subtask != subtask || engine::is_terminal(task->state())) continue;
      const auto& chain = descriptor.job_vertex().chain;
      if (std::any_of(chain.begin(), chain.end(), [op](const engine::ChainedOperator& member) {
            return member.stream_node == op;
          })) {
        return Located{i, task.get()};
      }
    }
  }
  return std::nullopt;
}

std::int64_t SimulatedCluster::records_in_flight() {
  std::int64_t records = 0;
  for (std::int32_t i = 0; i < task_manager_count(); ++i) {
    const engine::TaskExecutor* executor = task_executor(i);
    if (executor == nullptr) continue;
    for (const auto& task : executor->tasks()) {
      const engine::StreamTask* invokable = task->invokable();
      if (invokable == nullptr || engine::is_terminal(task->state())) continue;
      records += invokable->copies_out();
      if (!task->descriptor().job_vertex().is_source()) records -= invokable->records_in();
    }
  }
  // Restored in-flight data is read here and was written by an attempt before.
  return std::max<std::int64_t>(0, records);
}

engine::NetworkEnvironment* SimulatedCluster::environment_of(engine::ProcessId process) {
  return environments_[process.value - 1];
}

std::string SimulatedCluster::address_of(engine::ProcessId process) const {
  return "taskmanager-" + std::to_string(machine_of_[process.value - 1] - 1);
}

}  // namespace tailrace::scenarios
