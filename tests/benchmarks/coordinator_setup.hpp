// Checkpoint coordinators of both generations whose surroundings cost next to nothing.
//
// The coordinator, its statistics, its failure manager and its store are the real ones. Tasks count
// what they are told, nothing takes time, the storage drops what it gets: what a measurement sees is
// the coordinator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"
#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"
#include "engine/checkpoint/f120/standalone_completed_checkpoint_store_120.hpp"
#include "engine/graph/job_graph.hpp"
#include "engine/observer.hpp"
#include "engine/state/f120/name_uuid.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::bench {

// Vertices of the same size, connected in a row, all to all. The first one is the source.
struct JobSize {
  std::int32_t vertices = 10;
  std::int32_t subtasks = 1'000;  // of each vertex

  [[nodiscard]] std::int32_t tasks() const { return vertices * subtasks; }
};

// Time stands still; what is to happen at once happens when `run_due` is called, in order. What is to
// happen later does not.
class StandingWorld final : public Clock, public Timers, public Compute, public RandomDraws {
 public:
  [[nodiscard]] Time now() const override { return Time{} + Duration::seconds(1); }
  TimerId schedule(Duration delay, Callback callback) override {
    if (delay == Duration{}) due_.emplace_back(++last_, std::move(callback));
    return {delay == Duration{} ? last_ : 0};
  }
  void cancel(TimerId timer) override {
    for (auto& [id, callback] : due_) {
      if (id == timer.value) callback = [] {};
    }
  }
  [[nodiscard]] Duration price(const Work&) const override { return {}; }
  [[nodiscard]] Duration slice() const override { return Duration::millis(1); }
  void run(ComputeClient, Duration nominal, Callback done) override {
    schedule(nominal, std::move(done));
  }
  std::int64_t uniform(std::string_view, std::int64_t low, std::int64_t) override { return low; }

  void run_due() {
    while (!due_.empty()) {
      Callback callback = std::move(due_.front().second);
      due_.pop_front();
      callback();
    }
  }

 private:
  std::uint64_t last_ = 0;
  std::deque<std::pair<std::uint64_t, Callback>> due_;
};

// What the tasks were told.
struct Told {
  std::int64_t triggers = 0;
  std::int64_t completions = 0;
  std::int64_t abortions = 0;
};

class CountingVertex final : public ExecutionVertexAccess {
 public:
  CountingVertex(Told& told, const JobSize& size, std::int32_t task)
      : told_(&told),
        vertex_(task / size.subtasks),
        subtask_(task % size.subtasks),
        parallelism_(size.subtasks),
        attempt_(static_cast<std::uint64_t>(task) + 1) {
    id_.bytes[15] = static_cast<std::uint8_t>(vertex_ + 1);
    operators_ = {id_};
  }

  [[nodiscard]] JobVertexId job_vertex_id() const override { return id_; }
  [[nodiscard]] std::int32_t vertex_index() const override { return vertex_; }
  [[nodiscard]] std::int32_t subtask() const override { return subtask_; }
  [[nodiscard]] std::int32_t parallelism() const override { return parallelism_; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return 32768; }
  [[nodiscard]] const std::vector<OperatorId>& operator_ids() const override { return operators_; }
  [[nodiscard]] std::optional<ExecutionAttemptId> current_attempt() const override {
    return attempt_;
  }
  [[nodiscard]] std::int32_t attempt_number() const override { return 0; }
  [[nodiscard]] ExecutionState state() const override { return ExecutionState::RUNNING; }
  void trigger_checkpoint(const CheckpointMetaData&, const CheckpointOptions&, bool,
                          TriggerAnswered answered) override {
    ++told_->triggers;
    if (answered) answered(std::nullopt);
  }
  void notify_checkpoint_complete(const CheckpointMetaData&, CheckpointId) override {
    ++told_->completions;
  }
  void notify_checkpoint_aborted(const CheckpointMetaData&, CheckpointId) override {
    ++told_->abortions;
  }

 private:
  Told* told_;
  std::int32_t vertex_;
  std::int32_t subtask_;
  std::int32_t parallelism_;
  ExecutionAttemptId attempt_;
  OperatorId id_;
  std::vector<OperatorId> operators_;
};

class DroppingStorage final : public CheckpointStorage {
 public:
  std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId id) override {
    return CheckpointStorageLocation{"/checkpoints/chk-" + std::to_string(id)};
  }
  std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId id, const std::string&) override {
    return CheckpointStorageLocation{"/savepoints/savepoint-" + std::to_string(id)};
  }
  void write_metadata(const CheckpointStorageLocation&, std::vector<std::byte> bytes,
                      base::InplaceFunction<void(PutStatus)> done) override {
    metadata_bytes += bytes.size();
    done(PutStatus::kStored);
  }
  void discard_file(const std::string&) override { ++discarded_files; }
  void dispose_on_failure(CheckpointId, const CheckpointStorageLocation&) override {}
  void dispose_completed(const CheckpointStorageLocation&) override {}

  std::size_t metadata_bytes = 0;
  std::size_t discarded_files = 0;
};

class IgnoringFailures final : public FailJobCallback {
 public:
  void fail_job(std::string_view) override {}
  void fail_job_due_to_task_failure(std::string_view, ExecutionAttemptId) override {}
};

// One file of keyed state for each subtask, as the tasks of one checkpoint report them; or null.
enum class Snapshots : std::uint8_t { NONE, KEYED };

class Surroundings {
 public:
  explicit Surroundings(const JobSize& size) : size_(size) {
    for (std::int32_t task = 0; task < size.tasks(); ++task)
      vertices_.emplace_back(told, size, task);
    for (CountingVertex& vertex : vertices_) all_.push_back(&vertex);
  }

  [[nodiscard]] const JobSize& size() const { return size_; }
  [[nodiscard]] const std::vector<ExecutionVertexAccess*>& all() const { return all_; }
  [[nodiscard]] std::vector<ExecutionVertexAccess*> sources() const {
    return {all_.begin(), all_.begin() + size_.subtasks};
  }
  // All acknowledgements of a checkpoint, in an order that is not that of the tasks.
  [[nodiscard]] std::vector<AcknowledgeCheckpoint> acknowledgements(CheckpointId id,
                                                                    Snapshots snapshots) const {
    // Coprime to the number of tasks, or at least to all that occur.
    constexpr std::int64_t kStride = 7919;
    const std::int64_t tasks = size_.tasks();
    TAILRACE_ASSERT(tasks % kStride != 0);
    std::vector<AcknowledgeCheckpoint> messages;
    messages.reserve(static_cast<std::size_t>(tasks));
    for (std::int64_t i = 0; i < tasks; ++i) {
      const CountingVertex& vertex = vertices_[static_cast<std::size_t>(i * kStride % tasks)];
      AcknowledgeCheckpoint message;
      message.attempt = *vertex.current_attempt();
      message.checkpoint_id = id;
      message.metrics = {.sync_ns = 1'000'000 + i, .async_ns = 20'000'000 + i};
      if (snapshots == Snapshots::KEYED) message.state = keyed_state(id, vertex);
      messages.push_back(std::move(message));
    }
    return messages;
  }

  Told told;
  StandingWorld world;
  Observer observer;
  DroppingStorage storage;
  StandaloneCheckpointIDCounter id_counter;
  IgnoringFailures failures;

 private:
  [[nodiscard]] static std::shared_ptr<const TaskStateSnapshot> keyed_state(
      CheckpointId id, const CountingVertex& vertex) {
    const std::int32_t first = vertex.subtask() * 8;
    KeyGroupRangeOffsets offsets{{first, first + 7}, {}};
    for (std::int64_t group = 0; group < 8; ++group) offsets.offsets.push_back(100 + 50 * group);
    std::string path = "/checkpoints/chk-" + std::to_string(id) + "/" +
                       std::to_string(vertex.vertex_index()) + "-" +
                       std::to_string(vertex.subtask());
    // As the tasks of 1.20 give it; in 1.10 nobody looks at it.
    std::string handle_id = name_uuid(path);
    auto snapshot = std::make_shared<TaskStateSnapshot>();
    snapshot->operators[vertex.operator_ids().front()].managed_keyed.push_back(
        std::make_shared<KeyGroupsStateHandle>(
            std::move(offsets),
            std::make_shared<StreamStateHandle>(FileStateHandle{std::move(path), 500}),
            std::move(handle_id)));
    snapshot->take_notes();
    return snapshot;
  }

  JobSize size_;
  std::deque<CountingVertex> vertices_;
  std::vector<ExecutionVertexAccess*> all_;
};

// `max_concurrent` checkpoints, of which `retained` are kept.
class Coordinated110 {
 public:
  explicit Coordinated110(const JobSize& size)
      : around(size),
        registry([](const StreamStateHandle&) {}),
        store(1, around.storage, registry),
        failure_manager(CheckpointFailureManager110::kUnlimitedTolerableFailures, around.failures),
        coordinator({}, {around.sources(), around.all(), around.all()},
                    {.clock = &around.world,
                     .timers = &around.world,
                     .compute = &around.world,
                     .random = &around.world,
                     .observer = &around.observer,
                     .storage = &around.storage,
                     .store = &store,
                     .registry = &registry,
                     .id_counter = &around.id_counter,
                     .failure_manager = &failure_manager,
                     .stats_tracker = &stats_tracker}) {}

  Surroundings around;
  SharedStateRegistry110 registry;
  StandaloneCompletedCheckpointStore store;
  CheckpointFailureManager110 failure_manager;
  CheckpointStatsTracker stats_tracker{kCheckpointStats110, 10};
  CheckpointCoordinator110 coordinator;
};

[[nodiscard]] inline JobGraph graph_of(const JobSize& size) {
  JobGraph graph;
  for (std::int32_t index = 0; index < size.vertices; ++index) {
    JobVertex vertex;
    vertex.index = index;
    vertex.id.bytes[15] = static_cast<std::uint8_t>(index + 1);
    vertex.parallelism = size.subtasks;
    if (index > 0) {
      JobEdge edge;
      edge.source_vertex = index - 1;
      edge.target_vertex = index;
      edge.pattern = DistributionPattern::ALL_TO_ALL;
      graph.vertices.back().outputs.push_back(edge);
      vertex.inputs.push_back(edge);
    }
    graph.vertices.push_back(std::move(vertex));
  }
  return graph;
}

class Coordinated120 {
 public:
  explicit Coordinated120(const JobSize& size)
      : around(size),
        graph(graph_of(size)),
        registry([](const StreamStateHandle&) {}),
        cleaner([this](CompletedCheckpointPtr checkpoint, base::InplaceFunction<void(), 128> done) {
          discard_unneeded_checkpoint(*checkpoint, store.checkpoints(), around.storage);
          done();
        }),
        store(1, registry, cleaner),
        failure_manager(CheckpointFailureManager120::kUnlimitedTolerableFailures, around.failures),
        plans(graph, around.all(), true),
        coordinator({}, {},
                    {.clock = &around.world,
                     .timers = &around.world,
                     .compute = &around.world,
                     .random = &around.world,
                     .observer = &around.observer,
                     .storage = &around.storage,
                     .store = &store,
                     .cleaner = &cleaner,
                     .registry = &registry,
                     .id_counter = &around.id_counter,
                     .failure_manager = &failure_manager,
                     .stats_tracker = &stats_tracker,
                     .plans = &plans}) {}

  Surroundings around;
  JobGraph graph;
  SharedStateRegistry120 registry;
  CheckpointsCleaner cleaner;
  StandaloneCompletedCheckpointStore120 store;
  CheckpointFailureManager120 failure_manager;
  CheckpointStatsTracker stats_tracker{kCheckpointStats120, 10};
  DefaultCheckpointPlanCalculator plans;
  CheckpointCoordinator120 coordinator;
};

}  // namespace tailrace::engine::bench
