// A world on one thread for tests of the scheduler: a list of events, task executors that answer,
// a coordinator that notes what it is told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/observer.hpp"
#include "engine/scheduling/job_manager.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

class World final : public Clock,
                    public Timers,
                    public RemoteCalls,
                    public BlobStore,
                    public RandomDraws {
 public:
  static constexpr Duration kLatency = Duration::millis(1);

  // Events.
  [[nodiscard]] Time now() const override { return now_; }
  TimerId schedule(Duration delay, Callback callback) override {
    const TimerId id{++last_};
    events_.emplace(std::pair{now_ + delay, id.value}, std::move(callback));
    due_[id.value] = now_ + delay;
    return id;
  }
  void cancel(TimerId timer) override {
    const auto due = due_.find(timer.value);
    if (due == due_.end()) return;
    events_.erase({due->second, timer.value});
    due_.erase(due);
  }
  void run_until(Time end) {
    while (!events_.empty() && events_.begin()->first.first <= end) {
      const auto key = events_.begin()->first;
      Callback callback = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      due_.erase(key.second);
      now_ = key.first;
      callback();
    }
    now_ = end;
  }
  void run_for(Duration duration) { run_until(now_ + duration); }

  // The least that may be drawn.
  std::int64_t uniform(std::string_view, std::int64_t low, std::int64_t) override { return low; }

  // Calls. A dead process gets nothing.
  void send(ProcessId to, std::int64_t, Callback deliver) override {
    schedule(kLatency, [this, to, call = std::make_unique<Callback>(std::move(deliver))] {
      if (!dead_.contains(to)) (*call)();
    });
  }
  void kill(ProcessId process) { dead_.insert(process); }
  [[nodiscard]] bool is_dead(ProcessId process) const { return dead_.contains(process); }

  // Blobs.
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    blobs_[path] = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    schedule(kLatency, [done = std::make_unique<base::InplaceFunction<void(PutStatus)>>(
                            std::move(done))] { (*done)(PutStatus::kStored); });
  }
  void get(const std::string& path, base::InplaceFunction<void(Blob)> done) override {
    const auto found = blobs_.find(path);
    struct Reading {
      Blob blob;
      base::InplaceFunction<void(Blob)> done;
    };
    auto reading = std::unique_ptr<Reading>(
        new Reading{found == blobs_.end() ? nullptr : found->second, std::move(done)});
    schedule(kLatency, [reading = std::move(reading)] { reading->done(reading->blob); });
  }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    const auto found = blobs_.find(path);
    Blob part;
    if (found != blobs_.end()) {
      const auto begin = found->second->begin() + offset;
      part = std::make_shared<const std::vector<std::byte>>(begin, begin + length);
    }
    schedule(kLatency, [part, done = std::make_unique<base::InplaceFunction<void(Blob)>>(
                                  std::move(done))] { (*done)(part); });
  }
  void remove(const std::string& path) override { blobs_.erase(path); }
  void remove_directory(const std::string& path) override {
    std::erase_if(blobs_, [&](const auto& blob) { return blob.first.starts_with(path + '/'); });
  }

 private:
  Time now_{};
  std::uint64_t last_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Callback> events_;
  std::map<std::uint64_t, Time> due_;
  std::set<ProcessId> dead_;
  std::map<std::string, Blob> blobs_;
};

// Runs what it is told to, and says so; nothing is computed.
class FakeTaskExecutor final : public TaskExecutorGateway {
 public:
  FakeTaskExecutor(World& world, ProcessId self, RpcAddress<JobMasterGateway> job_master)
      : world_(world), self_(self), job_master_(job_master) {}

  void register_at_job_master(std::int32_t index, std::int32_t slots) {
    tell([registration = TaskManagerRegistration{{self_, this}, index, slots}](
             JobMasterGateway& gateway) { gateway.register_task_manager(registration); });
  }
  void report(ExecutionAttemptId attempt, ExecutionState state, const std::string& failure = {}) {
    tell([update = std::make_shared<TaskExecutionState>(TaskExecutionState{
              tasks.at(attempt)->job, attempt, state, failure})](JobMasterGateway& gateway) {
      gateway.update_task_execution_state(*update);
    });
  }

  void submit_task(std::shared_ptr<const TaskDeploymentDescriptor> descriptor) override {
    const ExecutionAttemptId attempt = descriptor->attempt;
    tasks[attempt] = descriptor;
    running.insert(attempt);
    report(attempt, ExecutionState::RUNNING);
  }
  void cancel_task(ExecutionAttemptId attempt) override {
    ++cancel_calls;
    if (!answers_cancel) return;
    tell([attempt](JobMasterGateway& gateway) { gateway.cancel_acknowledged(attempt); });
    if (running.erase(attempt) == 0) return;
    world_.schedule(cancel_takes, [this, attempt] { report(attempt, ExecutionState::CANCELED); });
  }
  [[nodiscard]] RemoteCalls& calls() override { return world_; }
  std::optional<CheckpointFailureReason> trigger_checkpoint(ExecutionAttemptId, CheckpointMetaData,
                                                            CheckpointOptions, bool) override {
    return std::nullopt;
  }
  void confirm_checkpoint(ExecutionAttemptId, CheckpointMetaData, CheckpointId) override {}
  void abort_checkpoint(ExecutionAttemptId, CheckpointMetaData, CheckpointId) override {}
  void heartbeat_from_job_manager() override {
    tell([self = self_](JobMasterGateway& gateway) { gateway.heartbeat_from_task_manager(self); });
  }
  void disconnect_job_manager() override { ++disconnects; }

  std::map<ExecutionAttemptId, std::shared_ptr<const TaskDeploymentDescriptor>> tasks;
  std::set<ExecutionAttemptId> running;
  Duration cancel_takes{};
  bool answers_cancel = true;
  int cancel_calls = 0;
  int disconnects = 0;

 private:
  template <typename Message>
  void tell(Message message) {
    if (!world_.is_dead(self_)) job_master_.tell(world_, kRpcBytes, std::move(message));
  }

  World& world_;
  ProcessId self_;
  RpcAddress<JobMasterGateway> job_master_;
};

// Restores what it is given, completes savepoints when the test says so.
class FakeCoordinator final : public CheckpointCoordinator, public JobCheckpointing {
 public:
  explicit FakeCoordinator(std::vector<std::string>& log) : log_(log) {}
  [[nodiscard]] CheckpointCoordinator& coordinator() override { return *this; }

  void start_checkpoint_scheduler() override { log_.push_back("start"); }
  void stop_checkpoint_scheduler() override { log_.push_back("stop"); }
  [[nodiscard]] bool is_periodic_checkpointing_configured() const override { return true; }
  void on_job_status_change(JobStatus status) override {
    log_.push_back(std::string("status ") + to_string(status));
  }
  void trigger_checkpoint(bool, CheckpointDone) override {}
  void trigger_checkpoint_of_type(RequestedCheckpointType, CheckpointDone) override {
    log_.push_back("checkpoint");
  }
  void trigger_savepoint(std::string target, SavepointFormatType, CheckpointDone done) override {
    log_.push_back("plain savepoint " + target);
    savepoint_done = std::move(done);
  }
  void report_checkpoint_metrics(const ReportCheckpointMetrics&) override {}
  void trigger_synchronous_savepoint(std::string target, bool, SavepointFormatType,
                                     CheckpointDone done) override {
    log_.push_back("savepoint " + target);
    savepoint_done = std::move(done);
  }
  void receive_acknowledge_message(AcknowledgeCheckpoint, AcknowledgeDone) override {}
  void receive_decline_message(DeclineCheckpoint) override {}
  void fail_unacknowledged_pending_checkpoints_for(ExecutionAttemptId) override {}
  void abort_pending_checkpoints(CheckpointFailureReason) override {
    log_.push_back("abort");
    if (abort_fails_job) fail_job->fail_job("an aborted savepoint");
  }
  void restore_latest_checkpointed_state(RestoreRequest, RestoreDone done) override {
    log_.push_back("restore");
    done(latest);
  }
  void restore_savepoint(CompletedCheckpointPtr savepoint, ClaimMode, bool,
                         RestoreDone done) override {
    log_.push_back("restore savepoint");
    latest = savepoint;
    done(savepoint);
  }
  void shutdown(JobStatus, ShutdownDone done) override {
    log_.push_back("shutdown");
    if (done) done();
  }

  CompletedCheckpointPtr latest;
  CheckpointDone savepoint_done;
  FailJobCallback* fail_job = nullptr;
  bool abort_fails_job = false;

 private:
  std::vector<std::string>& log_;
};

class FakeCheckpointing final : public CheckpointingFactory {
 public:
  [[nodiscard]] std::unique_ptr<JobCheckpointing> create(CoordinatorContext context) override {
    auto coordinator = std::make_unique<FakeCoordinator>(log);
    coordinator->fail_job = context.fail_job;
    last = coordinator.get();
    return coordinator;
  }
  [[nodiscard]] base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
      JobId, const std::string& path, const std::vector<std::byte>&, const JobGraph&,
      bool) override {
    if (savepoint == nullptr) return base::Failure{"malformed metadata in " + path};
    return savepoint;
  }

  std::vector<std::string> log;
  FakeCoordinator* last = nullptr;
  CompletedCheckpointPtr savepoint;
};

class AnyFactory final : public StreamOperatorFactory {
 public:
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override { return nullptr; }
};

class NotingObserver final : public Observer {
 public:
  explicit NotingObserver(const World& world) : world_(world) {}
  void on_job_status(JobId, JobStatus status) override {
    statuses.emplace_back(world_.now(), to_string(status));
  }
  void on_failover(JobId, SubtaskRef, std::string_view cause, bool restarts) override {
    failovers.emplace_back(cause, restarts);
  }
  void on_restore(JobId, CheckpointId id) override { restores.emplace_back(world_.now(), id); }
  void on_task_manager_lost(ProcessId process, std::string_view) override {
    lost.emplace_back(world_.now(), process);
  }

  std::vector<std::pair<Time, std::string>> statuses;
  std::vector<std::pair<std::string, bool>> failovers;
  std::vector<std::pair<Time, CheckpointId>> restores;
  std::vector<std::pair<Time, ProcessId>> lost;

 private:
  const World& world_;
};

// A job manager (process 1) and `count` task managers with one slot each (processes 2, 3, …).
class Cluster {
 public:
  explicit Cluster(std::int32_t count, ClusterConfig config = {}) : observer(world) {
    Ports ports;
    ports.self = ProcessId{1};
    ports.clock = &world;
    ports.timers = &world;
    ports.calls = &world;
    ports.random = &world;
    ports.blobs = &world;
    ports.observer = &observer;
    manager = std::make_unique<JobManager>(ports, config, checkpointing);
    for (std::int32_t i = 0; i < count; ++i) add_task_manager(i);
  }

  FakeTaskExecutor& add_task_manager(std::int32_t index) {
    const ProcessId process{static_cast<std::uint32_t>(executors.size() + 2)};
    executors.push_back(std::make_unique<FakeTaskExecutor>(world, process, manager->gateway()));
    executors.back()->register_at_job_master(index, 1);
    return *executors.back();
  }
  static ProcessId process(std::size_t executor) {
    return ProcessId{static_cast<std::uint32_t>(executor + 2)};
  }

  // source --(how)--> sink.
  static JobSubmission job(std::int32_t sources, std::int32_t sinks, PartitionerKind how) {
    JobSubmission submission;
    submission.graph.job_name = "job";
    for (const auto& [name, parallelism] :
         {std::pair{"source", sources}, std::pair{"sink", sinks}}) {
      StreamNode node;
      node.name = name;
      node.parallelism = parallelism;
      node.chaining = ChainingStrategy::NEVER;
      node.factory = std::make_shared<const AnyFactory>();
      submission.graph.nodes.push_back(node);
    }
    StreamEdge edge;
    edge.source = 0;
    edge.target = 1;
    edge.partitioner = how;
    submission.graph.edges.push_back(edge);
    submission.tasks.checkpointing_enabled = true;
    submission.restart.kind = RestartStrategyConfig::Kind::kFixedDelay;
    submission.restart.fixed_delay_attempts = 10;
    submission.checkpoints.savepoint_directory = "savepoints";
    return submission;
  }
  JobId submit(JobSubmission submission) {
    const auto id = manager->submit_job(std::move(submission));
    TAILRACE_ASSERT(id.ok());
    world.run_for(Duration::millis(10));
    return id.value();
  }
  ExecutionVertex& vertex(JobId job, std::int32_t v, std::int32_t subtask) {
    return manager->find_scheduler(job)->execution_graph().vertex({v, subtask});
  }
  FakeTaskExecutor& executor_of(JobId job, std::int32_t v, std::int32_t subtask) {
    return *executors[vertex(job, v, subtask).execution().slot->task_manager.process.value - 2];
  }
  void fail(JobId job, std::int32_t v, std::int32_t subtask) {
    FakeTaskExecutor& executor = executor_of(job, v, subtask);
    const ExecutionAttemptId attempt = vertex(job, v, subtask).execution().id;
    executor.running.erase(attempt);
    executor.report(attempt, ExecutionState::FAILED, "boom");
  }
  bool all_running(JobId job) {
    for (const ExecutionVertexId id :
         manager->find_scheduler(job)->execution_graph().all_vertices()) {
      if (vertex(job, id.vertex, id.subtask).state() != ExecutionState::RUNNING) return false;
    }
    return true;
  }
  // How many attempts were ever sent to task managers.
  std::size_t deployments() const {
    std::size_t count = 0;
    for (const auto& executor : executors) count += executor->tasks.size();
    return count;
  }
  void finish_all(JobId job) {
    for (const ExecutionVertexId id :
         manager->find_scheduler(job)->execution_graph().all_vertices()) {
      executor_of(job, id.vertex, id.subtask)
          .report(vertex(job, id.vertex, id.subtask).execution().id, ExecutionState::FINISHED);
    }
    world.run_for(Duration::millis(10));
  }

  World world;
  NotingObserver observer;
  FakeCheckpointing checkpointing;
  std::unique_ptr<JobManager> manager;
  std::vector<std::unique_ptr<FakeTaskExecutor>> executors;
};

}  // namespace tailrace::engine
