// A checkpoint coordinator of 1.20 with hand-written surroundings: a clock that moves when told, one
// queue of events, tasks that take notes, storage, counter and store that fail on demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"
#include "engine/checkpoint/f120/standalone_completed_checkpoint_store_120.hpp"
#include "tests/engine/checkpoint/coordinator_setup_110.hpp"

namespace tailrace::engine::test {

class NotingVertex120 final : public ExecutionVertexAccess {
 public:
  // Everything that is told to the task.
  class Listener {
   public:
    virtual void on_trigger(std::int32_t task, const CheckpointMetaData& meta,
                            const CheckpointOptions& options) = 0;
    virtual void on_complete(std::int32_t task, CheckpointId id, CheckpointId last_subsumed) = 0;
    virtual void on_aborted(std::int32_t task, CheckpointId id, CheckpointId latest) = 0;

   protected:
    ~Listener() = default;
  };

  NotingVertex120(Listener& listener, std::int32_t task, std::int32_t vertex, std::int32_t subtask,
                  std::int32_t parallelism, ExecutionAttemptId attempt)
      : listener_(listener),
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
  void trigger_checkpoint(const CheckpointMetaData& meta, const CheckpointOptions& options, bool,
                          TriggerAnswered answered) override {
    listener_.on_trigger(task_, meta, options);
    answered(trigger_fails ? std::optional(CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE)
                           : std::nullopt);
  }
  void notify_checkpoint_complete(const CheckpointMetaData& meta,
                                  CheckpointId last_subsumed) override {
    listener_.on_complete(task_, meta.id, last_subsumed);
  }
  void notify_checkpoint_aborted(const CheckpointMetaData& meta, CheckpointId latest) override {
    listener_.on_aborted(task_, meta.id, latest);
  }

  [[nodiscard]] ExecutionAttemptId attempt() const { return attempt_; }
  void set_attempt(ExecutionAttemptId attempt) { attempt_ = attempt; }

  bool has_attempt = true;
  bool trigger_fails = false;
  ExecutionState execution_state = ExecutionState::RUNNING;

 private:
  Listener& listener_;
  std::int32_t task_;
  std::int32_t vertex_;
  std::int32_t subtask_;
  std::int32_t parallelism_;
  ExecutionAttemptId attempt_;
  OperatorId id_;
  std::vector<OperatorId> operators_;
};

// Fails on demand; true: with an I/O error.
class FailingIDCounter120 final : public CheckpointIDCounter {
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
    const auto failing = failing_calls.find(++calls_);
    if (failing == failing_calls.end()) return counter_.get_and_increment();
    was_io_ = failing->second;
    return std::nullopt;
  }
  [[nodiscard]] bool last_failure_was_io() const override { return was_io_; }
  [[nodiscard]] CheckpointId get() const override { return counter_.get(); }
  void set_count(CheckpointId next) override { counter_.set_count(next); }

  std::map<int, bool> failing_calls;  // counted from 1
  ManualWorld* remote = nullptr;
  Duration latency{};

 private:
  StandaloneCheckpointIDCounter counter_;
  int calls_ = 0;
  bool was_io_ = true;
};

class FailingStore120 final : public CompletedCheckpointStore120 {
 public:
  FailingStore120(std::int32_t retained, SharedStateRegistry120& registry,
                  CheckpointsCleaner& cleaner)
      : store_(retained, registry, cleaner) {}
  void add(CompletedCheckpointPtr checkpoint, MakePostCleanup make_post_cleanup,
           AddDone done) override {
    if (remote == nullptr) {
      return add_now(std::move(checkpoint), std::move(make_post_cleanup), std::move(done));
    }
    answer_later(*remote, latency,
                 [this, checkpoint, make_post_cleanup = std::move(make_post_cleanup),
                  done = std::move(done)]() mutable {
                   add_now(checkpoint, std::move(make_post_cleanup), std::move(done));
                 });
  }
  void add_now(CompletedCheckpointPtr checkpoint, MakePostCleanup make_post_cleanup, AddDone done) {
    const auto failing = failing_calls.find(++calls_);
    if (failing != failing_calls.end()) return done({failing->second, nullptr});
    store_.add(std::move(checkpoint), std::move(make_post_cleanup), std::move(done));
  }
  void shutdown(JobStatus status) override { store_.shutdown(status); }
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return store_.checkpoints();
  }

  std::map<int, Added> failing_calls;  // counted from 1
  ManualWorld* remote = nullptr;
  Duration latency{};

 private:
  StandaloneCompletedCheckpointStore120 store_;
  int calls_ = 0;
};

class NotingFailureManager120 final : public CheckpointFailureManager120, private FailJobCallback {
 public:
  class Listener {
   public:
    virtual void on_completed(CheckpointId id) = 0;
    virtual void on_failed(const CheckpointProperties& properties, CheckpointFailureReason reason,
                           CheckpointId id, std::optional<ExecutionAttemptId> attempt) = 0;
    virtual void on_fail_job() = 0;
    virtual void on_fail_job_due_to_task_failure(ExecutionAttemptId attempt) = 0;

   protected:
    ~Listener() = default;
  };

  NotingFailureManager120(Listener& listener, std::int32_t tolerable)
      : CheckpointFailureManager120(tolerable, *this), listener_(listener) {}

  void handle_checkpoint_exception(const CheckpointProperties& properties,
                                   CheckpointFailureReason reason, CheckpointId id,
                                   std::optional<ExecutionAttemptId> attempt) override {
    listener_.on_failed(properties, reason, id, attempt);
    CheckpointFailureManager120::handle_checkpoint_exception(properties, reason, id, attempt);
  }
  void handle_checkpoint_success(CheckpointId id) override {
    listener_.on_completed(id);
    CheckpointFailureManager120::handle_checkpoint_success(id);
  }

 private:
  void fail_job(std::string_view) override { listener_.on_fail_job(); }
  void fail_job_due_to_task_failure(std::string_view, ExecutionAttemptId attempt) override {
    listener_.on_fail_job_due_to_task_failure(attempt);
  }

  Listener& listener_;
};

// The recordings' tracker remembers four checkpoints.
class NotingStatsTracker120 final : public CheckpointStatsTracker {
 public:
  NotingStatsTracker120() : CheckpointStatsTracker(kCheckpointStats120, 4) {}
  void report_restored_checkpoint(RestoredCheckpointStats restored) override {
    on_restored(restored.id);
    CheckpointStatsTracker::report_restored_checkpoint(std::move(restored));
  }
  std::function<void(CheckpointId)> on_restored = [](CheckpointId) {};
};

struct SetupOptions120 {
  std::int32_t sources = 2;
  std::int32_t others = 0;
  std::int32_t tolerable = CheckpointFailureManager120::kUnlimitedTolerableFailures;
  std::int32_t retained = 1;
  bool after_finish = true;
  CheckpointCoordinatorConfiguration120 configuration{};
  ScheduleListener* schedule_listener = nullptr;
};

// A source vertex and, all to all, a second one.
[[nodiscard]] inline JobGraph graph_of(std::int32_t sources, std::int32_t others) {
  JobGraph graph;
  const auto add = [&graph](std::int32_t parallelism) {
    JobVertex vertex;
    vertex.index = static_cast<std::int32_t>(graph.vertices.size());
    vertex.id.bytes[15] = static_cast<std::uint8_t>(vertex.index + 1);
    vertex.parallelism = parallelism;
    vertex.operator_ids_tail_first = {vertex.id};
    vertex.user_defined_ids_tail_first = {std::nullopt};
    graph.vertices.push_back(std::move(vertex));
  };
  add(sources);
  if (others == 0) return graph;
  add(others);
  JobEdge edge;
  edge.source_vertex = 0;
  edge.target_vertex = 1;
  edge.pattern = DistributionPattern::ALL_TO_ALL;
  graph.vertices[0].outputs.push_back(edge);
  graph.vertices[1].inputs.push_back(edge);
  return graph;
}

// Members are destroyed from the last to the first.
class CoordinatorSetup120 {
 public:
  CoordinatorSetup120(const SetupOptions120& options, NotingVertex120::Listener& tasks,
                      NotingFailureManager120::Listener& failures,
                      std::vector<OperatorCoordinatorCheckpointContext*> coordinators = {})
      : graph(graph_of(options.sources, options.others)),
        storage(journal, world),
        registry(
            [this](const StreamStateHandle& handle) { storage.discard_file(stream_name(handle)); }),
        cleaner([this](CompletedCheckpointPtr checkpoint, base::InplaceFunction<void(), 128> done) {
          discard_completed_checkpoint(*checkpoint, storage);
          done();
        }),
        store(options.retained, registry, cleaner),
        failure_manager(failures, options.tolerable) {
    std::vector<ExecutionVertexAccess*> all;
    for (std::int32_t task = 0; task < options.sources + options.others; ++task) {
      const bool source = task < options.sources;
      vertices.push_back(std::make_unique<NotingVertex120>(
          tasks, task, source ? 0 : 1, source ? task : task - options.sources,
          source ? options.sources : options.others, new_attempt(task)));
      all.push_back(vertices.back().get());
    }
    plans = std::make_unique<DefaultCheckpointPlanCalculator>(graph, std::move(all),
                                                              options.after_finish);
    coordinator = std::make_unique<CheckpointCoordinator120>(
        options.configuration, std::move(coordinators),
        CheckpointCoordinatorServices120{.clock = &world,
                                         .timers = &world,
                                         .compute = &world,
                                         .random = &draws,
                                         .observer = &observer,
                                         .storage = &storage,
                                         .store = &store,
                                         .cleaner = &cleaner,
                                         .registry = &registry,
                                         .id_counter = &id_counter,
                                         .failure_manager = &failure_manager,
                                         .stats_tracker = &stats_tracker,
                                         .plans = plans.get(),
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
  // -1: unknown.
  [[nodiscard]] std::int64_t task_of(ExecutionAttemptId attempt) const {
    const auto found = attempts_.find(attempt);
    return found == attempts_.end() ? -1 : found->second;
  }

  Journal journal;
  ManualWorld world;
  JobGraph graph;
  NotingStorage storage;
  FailingIDCounter120 id_counter;
  SharedStateRegistry120 registry;
  CheckpointsCleaner cleaner;
  FailingStore120 store;
  NotingFailureManager120 failure_manager;
  NotingStatsTracker120 stats_tracker;
  Observer observer;
  FixedDraws draws;
  std::vector<std::unique_ptr<NotingVertex120>> vertices;
  std::unique_ptr<DefaultCheckpointPlanCalculator> plans;
  std::unique_ptr<CheckpointCoordinator120> coordinator;

 private:
  std::uint64_t next_attempt_ = 1;
  std::map<ExecutionAttemptId, std::int32_t> attempts_;
};

}  // namespace tailrace::engine::test
