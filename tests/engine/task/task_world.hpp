// A world for tests of one task manager's tasks: an event list, priced work, a store that can be
// broken, and a host that writes down what its task says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/network/network_environment.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/observer.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/task/operators/line_source.hpp"
#include "engine/task/stream_task.hpp"
#include "tests/engine/task/operator_fixture.hpp"

namespace tailrace::engine {

// Work of operator n costs `record_cost` a record, everything else nothing.
class TaskWorld final : public Clock,
                        public Timers,
                        public Compute,
                        public BlobStore,
                        public RandomDraws,
                        public Observer,
                        public NetworkPeers {
 public:
  explicit TaskWorld(NetworkConfig network = {}) {
    ports_.self = ProcessId{1};
    ports_.clock = this;
    ports_.timers = this;
    ports_.compute = this;
    ports_.blobs = this;
    ports_.random = this;
    ports_.observer = this;
    network_ = std::make_unique<NetworkEnvironment>(ports_, network, *this);
  }
  [[nodiscard]] const Ports& ports() const { return ports_; }
  [[nodiscard]] NetworkEnvironment& network() { return *network_; }

  void run_until(Time end) {
    while (!events_.empty() && events_.begin()->first.first <= end) {
      auto node = events_.extract(events_.begin());
      now_ = node.key().first;
      node.mapped()();
    }
    now_ = end;
  }
  void run_until_ms(std::int64_t ms) { run_until(Time{} + Duration::millis(ms)); }

  // Clock, Timers
  [[nodiscard]] Time now() const override { return now_; }
  TimerId schedule(Duration delay, Callback callback) override {
    events_.emplace(std::pair{now_ + delay, ++last_}, std::move(callback));
    return TimerId{last_};
  }
  void cancel(TimerId timer) override {
    std::erase_if(events_, [timer](const auto& e) { return e.first.second == timer.value; });
  }
  // Compute
  [[nodiscard]] Duration price(const Work& work) const override {
    if (work.kind != WorkKind::kOperatorRecord) return Duration{};
    return slow_operator >= 0 && work.op != slow_operator ? Duration{} : record_cost * work.count;
  }
  [[nodiscard]] Duration slice() const override { return slice_length; }
  void run(ComputeClient, Duration nominal, Callback done) override {
    schedule(nominal, std::move(done));
  }
  // BlobStore
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(PutStatus)> done) override {
    contents[path] = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    stored.push_back(std::move(path));
    schedule(Duration::millis(1), [answer = store_works ? PutStatus::kStored : PutStatus::kFailed,
                                   done = std::make_unique<base::InplaceFunction<void(PutStatus)>>(
                                       std::move(done))] { (*done)(answer); });
  }
  void get(const std::string& path, base::InplaceFunction<void(Blob)> done) override {
    answer(contents[path], std::move(done));
  }
  void get_range(const std::string& path, std::int64_t offset, std::int64_t length,
                 base::InplaceFunction<void(Blob)> done) override {
    const auto begin = contents.at(path)->begin() + offset;
    answer(std::make_shared<const std::vector<std::byte>>(begin, begin + length), std::move(done));
  }
  void remove(const std::string& path) override { std::erase(stored, path); }
  void remove_directory(const std::string& path) override {
    std::erase_if(stored, [&path](const std::string& p) { return p.starts_with(path + '/'); });
  }
  // RandomDraws
  std::int64_t uniform(std::string_view, std::int64_t low, std::int64_t) override { return low; }
  // NetworkPeers: there is one process.
  NetworkEnvironment* environment_of(ProcessId) override { return network_.get(); }
  // Observer
  void on_snapshot_started(JobId, SubtaskRef subtask, CheckpointId id, std::int64_t) override {
    snapshots.push_back({subtask.vertex, id, now_});
  }

  struct Snapshot {
    std::int32_t vertex = 0;
    CheckpointId id = 0;
    Time at;

    friend bool operator==(const Snapshot&, const Snapshot&) = default;
  };
  Duration record_cost = Duration::millis(1);
  Duration slice_length = Duration::millis(5);
  std::int32_t slow_operator = -1;  // negative: all of them cost something
  bool store_works = true;
  std::map<std::string, Blob> contents;  // also of what was removed
  std::vector<std::string> stored;
  std::vector<Snapshot> snapshots;

 private:
  void answer(Blob blob, base::InplaceFunction<void(Blob)> done) {
    schedule(Duration::millis(1),
             [blob = std::move(blob), done = std::make_unique<base::InplaceFunction<void(Blob)>>(
                                          std::move(done))] { (*done)(blob); });
  }

  Ports ports_;
  Time now_;
  std::uint64_t last_ = 0;
  std::map<std::pair<Time, std::uint64_t>, Callback> events_;
  std::unique_ptr<NetworkEnvironment> network_;
};

// What an operator of a test sees, in its order: "a line", "snapshot 3", "complete 3",
// "abort 3", "endInput", "finish", "close".
using Story = std::vector<std::string>;

class Storyteller final : public StreamOperator {
 public:
  explicit Storyteller(Story& story) : story_(&story) {}
  void initialize_state(const OperatorContext& context) override {
    // A state, so that snapshots have something to write.
    state_ = &context.operator_state->get_list_state<std::int64_t>("records");
    if (context.keyed_state != nullptr) {
      auto count = context.keyed_state->get_value_state<std::int64_t>("count");
      context.keyed_state->set_current_key("some key");
      count.update(1);
    }
    output_ = context.output;
  }
  void process(const Record& record) override {
    story_->emplace_back(record.text);
    state_->add(1);
    output_->collect(record);
  }
  void snapshot_state(CheckpointId id) override {
    story_->push_back("snapshot " + std::to_string(id));
  }
  void notify_checkpoint_complete(CheckpointId id) override {
    story_->push_back("complete " + std::to_string(id));
  }
  void notify_checkpoint_aborted(CheckpointId id) override {
    story_->push_back("abort " + std::to_string(id));
  }
  void end_input() override { story_->push_back("endInput"); }
  void finish() override { story_->push_back("finish"); }
  void close() override { story_->push_back("close"); }

 private:
  Story* story_;
  PartitionableListState<std::int64_t>* state_ = nullptr;
  Output* output_ = nullptr;
};

class StorytellerFactory final : public StreamOperatorFactory {
 public:
  // `keyed`: whether it is, when it is asked; null: it is not.
  explicit StorytellerFactory(Story& story, const bool* keyed = nullptr)
      : story_(&story), keyed_(keyed) {}
  [[nodiscard]] bool is_keyed() const override { return keyed_ != nullptr && *keyed_; }
  [[nodiscard]] std::unique_ptr<StreamOperator> create() const override {
    return std::make_unique<Storyteller>(*story_);
  }

 private:
  Story* story_;
  const bool* keyed_;
};

// A task and its host.
class HostedTask final : private StreamTaskHost {
 public:
  HostedTask(TaskWorld& world, std::shared_ptr<const TaskDeploymentDescriptor> descriptor,
             f120::ChannelStateWriteRequestExecutorFactory* channel_state = nullptr)
      : world_(&world),
        task_(std::make_unique<StreamTask>(world.ports(), world.network(), std::move(descriptor),
                                           static_cast<StreamTaskHost&>(*this), Time{},
                                           channel_state)) {}
  [[nodiscard]] StreamTask& task() { return *task_; }
  void trigger(CheckpointId id, CheckpointType type = CheckpointType::CHECKPOINT) {
    task_->trigger_checkpoint({id, 0}, {type, {}}, false);
  }

  void trigger(CheckpointId id, const CheckpointOptions& options) {
    task_->trigger_checkpoint({id, world_->now().millis_truncated()}, options, false);
  }

  std::vector<CheckpointId> acknowledged;
  CheckpointMetrics last_metrics;                       // acknowledged
  std::shared_ptr<const TaskStateSnapshot> last_state;  // acknowledged
  std::vector<std::pair<CheckpointId, CheckpointFailureReason>> declined;
  std::vector<CheckpointId> incomplete;
  std::optional<Time> restored;
  std::optional<Time> ended_data;
  std::optional<Time> finished;
  std::optional<Time> stopped;
  std::string failure;

 private:
  void acknowledge(AcknowledgeCheckpoint message) override {
    acknowledged.push_back(message.checkpoint_id);
    last_state = std::move(message.state);
    last_metrics = message.metrics;
  }
  void decline(DeclineCheckpoint message) override {
    declined.emplace_back(message.checkpoint_id, message.reason);
  }
  void state_restored(std::int64_t) override {}
  void invokable_restored() override { restored = world_->now(); }
  void end_of_data() override { ended_data = world_->now(); }
  void report_checkpoint_metrics(ReportCheckpointMetrics message) override {
    incomplete.push_back(message.checkpoint_id);
  }
  void invokable_finished() override { finished = world_->now(); }
  void invokable_failed(std::string cause) override { failure = std::move(cause); }
  void invokable_stopped() override { stopped = world_->now(); }

  TaskWorld* world_;
  std::unique_ptr<StreamTask> task_;
};

// A source chained to a storyteller (vertex 0), whose records a second storyteller (vertex 1) reads
// through the network if `connected`.
class TwoTasks {
 public:
  TwoTasks(const FakeLog& log, bool connected,
           PartitionerKind partitioner = PartitionerKind::kForward)
      : partitioner_(partitioner) {
    auto graph = std::make_shared<JobGraph>();
    graph->vertices.resize(connected ? 2 : 1);
    JobVertex& head = graph->vertices[0];
    head.name = "source";
    head.chain.resize(2);
    head.chain[0].factory = make_line_source_factory(log);
    head.chain[0].id.bytes[0] = 1;
    head.chain[0].outs.push_back({true, 1});
    head.chain[1].factory = std::make_shared<StorytellerFactory>(upstream);
    head.chain[1].id.bytes[0] = 2;
    head.chain[1].stream_node = 1;
    if (connected) {
      JobEdge edge;
      edge.target_vertex = 1;
      edge.partitioner = partitioner;
      head.chain[1].outs.push_back({false, 0});
      head.outputs.push_back(edge);
      JobVertex& tail = graph->vertices[1];
      tail.index = 1;
      tail.name = "reader";
      tail.chain.resize(1);
      tail.chain[0].factory = std::make_shared<StorytellerFactory>(downstream, &keyed_reader);
      tail.chain[0].id.bytes[0] = 3;
      tail.chain[0].stream_node = 2;
      tail.inputs.push_back(edge);
    }
    graph_ = graph;
  }
  // Of one of so many readers, or of the source that writes to them.
  [[nodiscard]] std::shared_ptr<const TaskDeploymentDescriptor> descriptor(
      std::int32_t vertex, std::int32_t subtask = 0, std::int32_t readers = 1) const {
    auto descriptor = std::make_shared<TaskDeploymentDescriptor>();
    descriptor->job = JobId{1};
    descriptor->attempt = ExecutionAttemptId{static_cast<std::uint64_t>(vertex + subtask) + 1};
    descriptor->graph = graph_;
    descriptor->vertex = vertex;
    descriptor->subtask = subtask;
    if (vertex == 1) descriptor->parallelism = readers;
    descriptor->config = config;
    const ResultPartitionId partition{0, 0, ExecutionAttemptId{1}};
    if (vertex == 0 && graph_->vertices.size() > 1) {
      ResultPartitionDescriptor output;
      output.id = partition;
      output.partitioner = partitioner_;
      output.subpartitions = readers;
      descriptor->outputs.push_back(output);
    }
    if (vertex == 1) {
      InputGateDescriptor gate;
      gate.channels.push_back({partition, subtask, ProcessId{1}});
      descriptor->gates.push_back(gate);
    }
    return descriptor;
  }

  Story upstream;
  Story downstream;
  bool keyed_reader = false;
  TaskConfig config;

 private:
  PartitionerKind partitioner_;
  std::shared_ptr<const JobGraph> graph_;
};

}  // namespace tailrace::engine
