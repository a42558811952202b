// A checkpoint coordinator of 1.10 with hand-written surroundings: a clock that moves when told, one
// queue of events, tasks that take notes, storage, counter and store that fail on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"
#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine::test {

// Clock, timers and a processor for which nothing takes time.
class ManualWorld final : public Clock, public Timers, public Compute {
 public:
  [[nodiscard]] Time now() const override { return now_; }
  TimerId schedule(Duration delay, Callback callback) override {
    const std::uint64_t id = next_++;
    const Key key{now_ + delay, id};
    queue_.emplace(key, std::move(callback));
    due_.emplace(id, key);
    return {id};
  }
  void cancel(TimerId timer) override {
    const auto found = due_.find(timer.value);
    if (found == due_.end()) return;
    queue_.erase(found->second);
    due_.erase(found);
  }
  [[nodiscard]] Duration price(const Work& work) const override {
    last_work_ = work;
    return price_;
  }
  [[nodiscard]] Duration slice() const override { return Duration::millis(1); }
  void run(ComputeClient, Duration nominal, Callback done) override {
    schedule(nominal, std::move(done));
  }

  void set_price(Duration price) { price_ = price; }
  [[nodiscard]] const Work& last_work() const { return last_work_; }
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  void start_at(Time time) { now_ = time; }
  // Runs everything due until then, in the order of (time, scheduling).
  void run_until(Time end) {
    while (!queue_.empty() && queue_.begin()->first.first <= end) {
      auto node = queue_.extract(queue_.begin());
      due_.erase(node.key().second);
      now_ = node.key().first;
      node.mapped()();
    }
    now_ = end;
  }
  void run_due() { run_until(now_); }
  void advance(Duration by) { run_until(now_ + by); }

 private:
  using Key = std::pair<Time, std::uint64_t>;
  Time now_;
  std::uint64_t next_ = 1;
  std::map<Key, Callback> queue_;
  std::map<std::uint64_t, Key> due_;
  Duration price_{};
  mutable Work last_work_{};
};

// Where everything that happens is written down.
struct Journal {
  std::function<void(const std::string& event, CheckpointId id, std::int64_t task,
                     const std::string& detail, bool flag)>
      note = [](const std::string&, CheckpointId, std::int64_t, const std::string&, bool) {};
};

class NotingVertex final : public ExecutionVertexAccess {
 public:
  NotingVertex(Journal& journal, std::int32_t task, std::int32_t vertex, std::int32_t subtask,
               std::int32_t parallelism, ExecutionAttemptId attempt)
      : journal_(journal),
        task_(task),
        vertex_(vertex),
        subtask_(subtask),
        parallelism_(parallelism),
        attempt_(attempt) {
    id_.bytes[15] = static_cast<std::uint8_t>(vertex + 1);
    operators_ = {id_};
  }

  [[nodiscard]] JobVertexId job_vertex_id() const override { return id_; }
  [[nodiscard]] std::int32_t vertex_index() const override { return vertex_; }
  [[nodiscard]] std::int32_t subtask() const override { return subtask_; }
  [[nodiscard]] std::int32_t parallelism() const override { return parallelism_; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return 32768; }
  [[nodiscard]] const std::vector<OperatorId>& operator_ids() const override { return operators_; }
  [[nodiscard]] std::optional<ExecutionAttemptId> current_attempt() const override {
    return has_attempt ? std::optional(attempt_) : std::nullopt;
  }
  [[nodiscard]] std::int32_t attempt_number() const override { return 0; }
  [[nodiscard]] ExecutionState state() const override { return execution_state; }
  void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options,
                          bool advance, TriggerAnswered) override {
    journal_.note("trigger", meta.id, task_, to_string(options.type), advance);
  }
  void notify_checkpoint_aborted(const CheckpointMetaData&, CheckpointId) override {}
  void notify_checkpoint_complete(const CheckpointMetaData& meta, CheckpointId) override {
    journal_.note("notifyComplete", meta.id, task_, {}, false);
  }

  [[nodiscard]] ExecutionAttemptId attempt() const { return attempt_; }
  void set_attempt(ExecutionAttemptId attempt) { attempt_ = attempt; }

  bool has_attempt = true;
  ExecutionState execution_state = ExecutionState::RUNNING;

 private:
  Journal& journal_;
  std::int32_t task_;
  std::int32_t vertex_;
  std::int32_t subtask_;
  std::int32_t parallelism_;
  ExecutionAttemptId attempt_;
  OperatorId id_;
  std::vector<OperatorId> operators_;
};

class NotingStorage final : public CheckpointStorage {
 public:
  NotingStorage(Journal& journal, ManualWorld& world) : journal_(journal), world_(world) {}

  std::optional<CheckpointStorageLocation> initialize_location_for_checkpoint(
      CheckpointId id) override {
    return locate("chk-", id);
  }
  std::optional<CheckpointStorageLocation> initialize_location_for_savepoint(
      CheckpointId id, const std::string&) override {
    return locate("savepoint-", id);
  }
  void write_metadata(const CheckpointStorageLocation& location, std::vector<std::byte> bytes,
                      base::InplaceFunction<void(PutStatus)> done) override {
    const bool fails = failing.contains(ids_.at(location.directory));
    written_by_id[ids_.at(location.directory)] = bytes;
    written = std::move(bytes);
    // In a box, because a function of this size does not fit into another one.
    auto boxed = std::make_unique<base::InplaceFunction<void(PutStatus)>>(std::move(done));
    world_.schedule(put_time, [boxed = std::move(boxed), fails] {
      (*boxed)(fails ? PutStatus::kFailed : PutStatus::kStored);
    });
  }
  void discard_file(const std::string& path) override {
    if (path.ends_with("/_metadata")) return;
    const bool shared = path.starts_with(kShared);
    journal_.note(shared ? "discardShared" : "discardState", kNoCheckpoint, -1,
                  shared ? path.substr(kShared.size()) : path, false);
  }
  void dispose_on_failure(CheckpointId id, const CheckpointStorageLocation&) override {
    journal_.note("locationDisposed", id, -1, {}, false);
  }
  void dispose_completed(const CheckpointStorageLocation& location) override {
    journal_.note("completedDisposed", ids_.at(location.directory), -1, {}, false);
  }

  // What the other one holds lies here, too.
  void adopt(const NotingStorage& other) {
    ids_.insert(other.ids_.begin(), other.ids_.end());
    written_by_id.insert(other.written_by_id.begin(), other.written_by_id.end());
  }
  // Requires: there is a location for this checkpoint.
  [[nodiscard]] std::string directory_of(CheckpointId id) const {
    for (const auto& [directory, owner] : ids_) {
      if (owner == id) return directory;
    }
    throw std::out_of_range("no location of checkpoint " + std::to_string(id));
  }

  // Where files lie that checkpoints share.
  static constexpr std::string_view kShared = "shared/";

  std::set<CheckpointId> failing;  // whose metadata cannot be written
  Duration put_time{};
  std::vector<std::byte> written;
  std::map<CheckpointId, std::vector<std::byte>> written_by_id;

 private:
  CheckpointStorageLocation locate(const char* prefix, CheckpointId id) {
    CheckpointStorageLocation location{prefix + std::to_string(id)};
    ids_[location.directory] = id;
    return location;
  }

  Journal& journal_;
  ManualWorld& world_;
  std::map<std::string, CheckpointId> ids_;
};

// Runs `call` after `latency`.
template <typename Call>
void answer_later(ManualWorld& world, Duration latency, Call call) {
  world.schedule(latency, [call = std::make_unique<Call>(std::move(call))] { (*call)(); });
}

class FailingIDCounter final : public CheckpointIDCounter {
 public:
  [[nodiscard]] bool is_remote() const override { return remote != nullptr; }
  void get_and_increment_async(Next done) override {
    if (remote == nullptr) return CheckpointIDCounter::get_and_increment_async(std::move(done));
    answer_later(*remote, latency,
                 [this, done = std::move(done)]() mutable { done(get_and_increment()); });
  }
  void set_count_async(CheckpointId next, Set done) override {
    if (remote == nullptr) return CheckpointIDCounter::set_count_async(next, std::move(done));
    answer_later(*remote, latency, [this, next, done = std::move(done)]() mutable {
      set_count(next);
      done(true);
    });
  }
  std::optional<CheckpointId> get_and_increment() override {
    return failing_calls.contains(++calls_) ? std::nullopt : counter_.get_and_increment();
  }
  [[nodiscard]] CheckpointId get() const override { return counter_.get(); }
  void set_count(CheckpointId next) override { counter_.set_count(next); }

  std::set<int> failing_calls;  // counted from 1
  ManualWorld* remote = nullptr;
  Duration latency{};

 private:
  StandaloneCheckpointIDCounter counter_;
  int calls_ = 0;
};

class FailingStore final : public CompletedCheckpointStore {
 public:
  FailingStore(std::int32_t retained, CheckpointStorage& storage, SharedStateRegistry110& registry)
      : store_(retained, storage, registry) {}
  [[nodiscard]] bool is_remote() const override { return remote != nullptr; }
  void recover_async(Done done) override {
    if (remote == nullptr) return CompletedCheckpointStore::recover_async(std::move(done));
    answer_later(*remote, latency, [this, done = std::move(done)]() mutable { done(!unreadable); });
  }
  void add_checkpoint_async(CompletedCheckpointPtr checkpoint, Done done) override {
    if (remote == nullptr) {
      return CompletedCheckpointStore::add_checkpoint_async(std::move(checkpoint), std::move(done));
    }
    answer_later(*remote, latency, [this, checkpoint, done = std::move(done)]() mutable {
      done(add_checkpoint(checkpoint));
    });
  }
  void recover() override { store_.recover(); }
  bool add_checkpoint(CompletedCheckpointPtr checkpoint) override {
    return !failing_calls.contains(++calls_) && store_.add_checkpoint(std::move(checkpoint));
  }
  void shutdown(JobStatus status) override { store_.shutdown(status); }
  void register_shared_states_after_restored(SharedStateRegistry110& registry) override {
    store_.register_shared_states_after_restored(registry);
  }
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return store_.checkpoints();
  }

  std::set<int> failing_calls;  // counted from 1
  ManualWorld* remote = nullptr;
  Duration latency{};
  bool unreadable = false;

 private:
  StandaloneCompletedCheckpointStore store_;
  int calls_ = 0;
};

class NotingFailureManager final : public CheckpointFailureManager110, private FailJobCallback {
 public:
  NotingFailureManager(Journal& journal, std::int32_t tolerable)
      : CheckpointFailureManager110(tolerable, *this), journal_(journal) {}

  void handle_job_level_checkpoint_exception(CheckpointFailureReason reason,
                                             CheckpointId id) override {
    journal_.note("failed", id, kNoTask, to_string(reason), false);
    CheckpointFailureManager110::handle_job_level_checkpoint_exception(reason, id);
  }
  void handle_task_level_checkpoint_exception(CheckpointFailureReason reason, CheckpointId id,
                                              ExecutionAttemptId attempt) override {
    journal_.note("failed", id, task_of(attempt), to_string(reason), false);
    CheckpointFailureManager110::handle_task_level_checkpoint_exception(reason, id, attempt);
  }
  void handle_synchronous_savepoint_failure(CheckpointFailureReason reason) override {
    journal_.note("syncSavepointFailed", kNoCheckpoint, -1, to_string(reason), false);
    CheckpointFailureManager110::handle_synchronous_savepoint_failure(reason);
  }
  void handle_checkpoint_success(CheckpointId id) override {
    journal_.note("completed", id, -1, {}, false);
    CheckpointFailureManager110::handle_checkpoint_success(id);
  }

  [[nodiscard]] FailJobCallback& fail_job_callback() { return *this; }

  static constexpr std::int64_t kNoTask = -2;
  // The task of an attempt; -1: unknown.
  std::function<std::int64_t(ExecutionAttemptId)> task_of = [](ExecutionAttemptId) { return -1; };

 private:
  void fail_job(std::string_view) override {
    journal_.note("failJob", kNoCheckpoint, -1, {}, false);
  }
  void fail_job_due_to_task_failure(std::string_view, ExecutionAttemptId attempt) override {
    journal_.note("failJobDueToTaskFailure", kNoCheckpoint, task_of(attempt), {}, false);
  }

  Journal& journal_;
};

class CountingObserver final : public Observer {
 public:
  void on_checkpoint_triggered(JobId, const CheckpointMetaData&, const CheckpointOptions&,
                               std::int32_t) override {
    ++total;
    ++in_progress;
  }
  void on_checkpoint_acknowledged(JobId, CheckpointId, SubtaskRef, std::int32_t count,
                                  const CheckpointMetrics&, std::int64_t) override {
    last_acknowledged = count;
  }
  void on_checkpoint_declined(JobId, CheckpointId, SubtaskRef, CheckpointFailureReason) override {
    ++declined;
  }
  void on_checkpoint_completed(JobId, const CheckpointMetaData&, const CheckpointOptions&,
                               std::int64_t bytes) override {
    --in_progress;
    ++completed;
    last_bytes = bytes;
  }
  void on_checkpoint_failed(JobId, CheckpointId id, CheckpointFailureReason) override {
    if (id == kNoCheckpoint) {
      ++refused;
      return;
    }
    --in_progress;
    ++failed;
  }

  int total = 0;
  int in_progress = 0;
  int completed = 0;
  int failed = 0;
  int refused = 0;
  int declined = 0;
  std::int32_t last_acknowledged = 0;
  std::int64_t last_bytes = 0;
};

class FixedDraws final : public RandomDraws {
 public:
  std::int64_t uniform(std::string_view, std::int64_t low, std::int64_t high) override {
    return next(low, high);
  }
  std::function<std::int64_t(std::int64_t, std::int64_t)> next = [](std::int64_t low,
                                                                    std::int64_t) { return low; };
};

// The state of one subtask: one file for each operator.
inline std::shared_ptr<const TaskStateSnapshot> state_in_file(const OperatorId& id,
                                                              std::string path) {
  auto snapshot = std::make_shared<TaskStateSnapshot>();
  OperatorStateHandle handle;
  handle.states.emplace_back("list", OperatorStateHandle::StateMetaInfo{{0}, {}});
  handle.delegate = std::make_shared<StreamStateHandle>(FileStateHandle{std::move(path), 10});
  snapshot->operators[id].managed_operator.push_back(std::move(handle));
  return snapshot;
}

// A file that an incremental snapshot shares with others.
struct SharedFile {
  std::string name;
  bool placeholder = false;
};

// Adds the incremental snapshot of one subtask, by a backend that is called after its task.
inline void add_shared_state(TaskStateSnapshot& snapshot, const OperatorId& id, std::int64_t task,
                             CheckpointId checkpoint, const std::vector<SharedFile>& files) {
  const std::string backend = "backend-" + std::to_string(task);
  const auto file_at = [](std::string path) {
    return std::make_shared<const StreamStateHandle>(FileStateHandle{std::move(path), 10});
  };
  IncrementalRemoteKeyedStateHandle::Content content;
  content.backend_id = backend;
  content.key_group_range = {0, 127};
  content.checkpoint_id = checkpoint;
  content.meta_state = file_at("meta-" + backend + "-" + std::to_string(checkpoint));
  content.state_handle_id = "handle-" + backend + "-" + std::to_string(checkpoint);
  for (const SharedFile& file : files) {
    const std::string path = std::string(NotingStorage::kShared) + file.name;
    content.shared_state.push_back({file.name, file.placeholder
                                                   ? std::make_shared<const StreamStateHandle>(
                                                         PlaceholderStreamStateHandle{path, 10})
                                                   : file_at(path)});
  }
  snapshot.operators[id].managed_keyed.push_back(
      std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
}

struct SetupOptions {
  std::int32_t sources = 2;
  std::int32_t others = 0;
  std::int32_t tolerable = CheckpointFailureManager110::kUnlimitedTolerableFailures;
  std::int32_t retained = 1;
  CheckpointCoordinatorConfiguration110 configuration{};
  ScheduleListener* schedule_listener = nullptr;
};

// Members are destroyed from the last to the first.
class CoordinatorSetup110 {
 public:
  explicit CoordinatorSetup110(const SetupOptions& options)
      : storage(journal, world),
        registry(
            [this](const StreamStateHandle& handle) { storage.discard_file(stream_name(handle)); }),
        store(options.retained, storage, registry),
        failure_manager(journal, options.tolerable) {
    CheckpointVertices access;
    for (std::int32_t task = 0; task < options.sources + options.others; ++task) {
      const bool source = task < options.sources;
      vertices.push_back(std::make_unique<NotingVertex>(
          journal, task, source ? 0 : 1, source ? task : task - options.sources,
          source ? options.sources : options.others, new_attempt(task)));
      if (source) access.to_trigger.push_back(vertices.back().get());
      access.to_acknowledge.push_back(vertices.back().get());
      access.to_confirm.push_back(vertices.back().get());
    }
    failure_manager.task_of = [this](ExecutionAttemptId attempt) -> std::int64_t {
      const auto found = attempts_.find(attempt);
      return found == attempts_.end() ? -1 : found->second;
    };
    job = options.configuration.job;
    coordinator = std::make_unique<CheckpointCoordinator110>(
        options.configuration, std::move(access),
        CheckpointCoordinatorServices110{.clock = &world,
                                         .timers = &world,
                                         .compute = &world,
                                         .random = &draws,
                                         .observer = &observer,
                                         .storage = &storage,
                                         .store = &store,
                                         .registry = &registry,
                                         .id_counter = &id_counter,
                                         .failure_manager = &failure_manager,
                                         .stats_tracker = &stats_tracker,
                                         .fail_job = &failure_manager.fail_job_callback(),
                                         .schedule_listener = options.schedule_listener});
  }

  ExecutionAttemptId new_attempt(std::int32_t task) {
    const ExecutionAttemptId attempt{next_attempt_++};
    attempts_[attempt] = task;
    return attempt;
  }
  // -1: an attempt that nobody knows.
  [[nodiscard]] ExecutionAttemptId attempt_of(std::int64_t task) const {
    return task < 0 ? ExecutionAttemptId{1'000'000'000}
                    : vertices.at(static_cast<std::size_t>(task))->attempt();
  }

  Journal journal;
  ManualWorld world;
  NotingStorage storage;
  FailingIDCounter id_counter;
  SharedStateRegistry110 registry;
  FailingStore store;
  NotingFailureManager failure_manager;
  CheckpointStatsTracker stats_tracker{kCheckpointStats110, 10};
  CountingObserver observer;
  FixedDraws draws;
  std::vector<std::unique_ptr<NotingVertex>> vertices;
  JobId job;
  std::unique_ptr<CheckpointCoordinator110> coordinator;

 private:
  std::uint64_t next_attempt_ = 1;
  std::map<ExecutionAttemptId, std::int32_t> attempts_;
};

}  // namespace tailrace::engine::test
