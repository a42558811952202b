// A task as the scripts of its checkpoints see it: operators, outputs and the job manager write down
// what happens to them, and a pool runs nothing until the script says so.
//
// The recordings do not name the faults that were injected, so they are read off what Flink did then:
// a synchronous part that failed is one whose step has an exception or a decline for it. Everything
// else is compared.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/channel_state_writer.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/task/checkpointing_task.hpp"
#include "engine/task/mailbox.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Time, work that costs nothing, and a store.
class ScriptWorld final : public engine::Clock,
                          public engine::Timers,
                          public engine::Compute,
                          public engine::BlobStore {
 public:
  ScriptWorld();
  [[nodiscard]] const engine::Ports& ports() const { return ports_; }
  void run_until_quiet();
  bool store_works = true;

  [[nodiscard]] engine::Time now() const override { return {}; }
  engine::TimerId schedule(engine::Duration delay, engine::Callback callback) override;
  void cancel(engine::TimerId timer) override { events_.erase(timer.value); }
  [[nodiscard]] engine::Duration price(const engine::Work&) const override { return {}; }
  [[nodiscard]] engine::Duration slice() const override { return {}; }
  void run(engine::ComputeClient, engine::Duration, engine::Callback done) override;
  void put(std::string path, std::vector<std::byte> bytes,
           base::InplaceFunction<void(engine::PutStatus)> done) override;
  void get(const std::string&, base::InplaceFunction<void(engine::Blob)>) override {}
  void get_range(const std::string&, std::int64_t, std::int64_t,
                 base::InplaceFunction<void(engine::Blob)>) override {}
  void remove(const std::string&) override {}
  void remove_directory(const std::string&) override {}

 private:
  engine::Ports ports_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, engine::Callback> events_;  // all due at once, in order
};

// Whether each future, in the order of their creation, went without having run.
using CancelledFutures = std::shared_ptr<std::vector<bool>>;

class ScriptTask final : public engine::CheckpointingTask, public engine::ChannelStateWriter {
 public:
  enum class Style : std::uint8_t { k110, k120 };
  ScriptTask(Style style, std::size_t operators);

  [[nodiscard]] ScriptWorld& world() { return world_; }
  [[nodiscard]] engine::FsCheckpointStreamFactory& streams() { return streams_; }
  // What has happened since the last call.
  [[nodiscard]] Json take_events() { return std::exchange(events_, Json::array()); }
  [[nodiscard]] std::string take_failure() { return std::exchange(failure_, {}); }
  [[nodiscard]] std::size_t queued_async() const { return queue_.size(); }
  [[nodiscard]] const std::vector<bool>& cancelled() const { return *cancelled_; }
  // Runs the n-th operation that waits in the pool, to its end.
  void run_async(std::size_t n);

  bool running = true;
  // How many operators take their snapshot before one throws; negative: none throws.
  std::int64_t throws_behind = -1;
  // Whether the task waits for its synchronous savepoint, for the events of operators.
  base::InplaceFunction<bool()> waiting;

  // CheckpointingTask
  [[nodiscard]] bool is_running() const override { return running; }
  void prepare_snapshot_pre_barrier(engine::CheckpointId id) override;
  void broadcast_event(const engine::RuntimeEvent& event, bool priority) override;
  bool snapshot_state(const engine::CheckpointMetaData& meta, const engine::CheckpointOptions&,
                      const engine::AlignmentMetrics&,
                      std::vector<engine::OperatorSnapshotFutures>& futures) override;
  void submit(std::shared_ptr<engine::AsyncCheckpointRunnable> runnable) override;
  void submit_close(std::shared_ptr<engine::AsyncOperation> operation) override;
  void notify_operators_complete(engine::CheckpointId id) override;
  void notify_operators_aborted(engine::CheckpointId id) override;
  void notify_operators_subsumed(engine::CheckpointId id) override;
  void prepare_input_snapshot(engine::CheckpointId id, base::Callback done) override;
  void aligned_barrier_timeout(engine::CheckpointId id) override;
  void abort_outputs(engine::CheckpointId) override {}
  engine::TimerId register_timer(engine::Duration delay, base::Callback mail) override;
  void cancel_timer(engine::TimerId) override {}
  void acknowledge(engine::CheckpointId id, const engine::CheckpointMetrics& metrics,
                   std::shared_ptr<const engine::TaskStateSnapshot> state) override;
  void decline(engine::CheckpointId id, engine::CheckpointFailureReason reason) override;
  void report_incomplete(engine::CheckpointId id, const engine::CheckpointMetrics&) override;
  void fail(std::string cause) override { failure_ = std::move(cause); }
  // ChannelStateWriter
  void start(engine::CheckpointId id, const engine::CheckpointOptions&) override;
  // No row has buffers in flight.
  void add_input_data(engine::CheckpointId, engine::InputChannelInfo, std::int32_t,
                      std::vector<engine::Buffer>) override {
    throw Difference("input data of channel state", "none", "some");
  }
  void add_output_data(engine::CheckpointId, engine::ResultSubpartitionInfo, std::int32_t,
                       std::vector<engine::Buffer>) override {
    throw Difference("output data of channel state", "none", "some");
  }
  void add_output_data_future(engine::CheckpointId, engine::ResultSubpartitionInfo, std::int32_t,
                              std::shared_ptr<engine::ChannelStateDataFuture>) override {
    throw Difference("promised output data of channel state", "none", "some");
  }
  void finish_input(engine::CheckpointId id) override;
  void finish_output(engine::CheckpointId id) override;
  void abort(engine::CheckpointId id) override;
  void close() override {}

 private:
  void note(const char* event, engine::CheckpointId id);
  void note_channel_state(const char* call, engine::CheckpointId id);

  Style style_;
  std::size_t operators_;
  ScriptWorld world_;
  engine::FsCheckpointStreamFactory streams_;
  Json events_ = Json::array();
  std::string failure_;
  CancelledFutures cancelled_ = std::make_shared<std::vector<bool>>();
  std::vector<std::shared_ptr<engine::AsyncOperation>> queue_;
};

}  // namespace tailrace::golden
