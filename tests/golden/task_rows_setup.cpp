#include "tests/golden/task_rows_setup.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointId;

// A future of an operator without state: it writes a byte that no handle refers to.
class ScriptFuture final : public engine::SnapshotFuture {
 public:
  explicit ScriptFuture(CancelledFutures cancelled)
      : cancelled_(std::move(cancelled)), index_(cancelled_->size()) {
    cancelled_->push_back(false);
  }
  ~ScriptFuture() override {
    if (!ran_) (*cancelled_)[index_] = true;
  }
  ScriptFuture(const ScriptFuture&) = delete;
  ScriptFuture& operator=(const ScriptFuture&) = delete;

  [[nodiscard]] engine::Work sync_work() const override {
    return {.kind = engine::WorkKind::kSnapshotSync};
  }
  std::optional<engine::Work> step() override {
    ran_ = true;
    return std::nullopt;
  }
  std::vector<std::byte> take_stream() override { return {std::byte{0}}; }
  void finish(engine::StreamStateHandlePtr, engine::OperatorSubtaskState&) override {}

 private:
  CancelledFutures cancelled_;
  std::size_t index_;
  bool ran_ = false;
};

}  // namespace

// --- the world ---------------------------------------------------------------------------------

ScriptWorld::ScriptWorld() {
  ports_.clock = this;
  ports_.timers = this;
  ports_.compute = this;
  ports_.blobs = this;
}

void ScriptWorld::run_until_quiet() {
  while (!events_.empty()) {
    auto event = events_.extract(events_.begin());
    event.mapped()();
  }
}

engine::TimerId ScriptWorld::schedule(engine::Duration, engine::Callback callback) {
  events_.emplace(++last_, std::move(callback));
  return engine::TimerId{last_};
}

void ScriptWorld::run(engine::ComputeClient, engine::Duration nominal, engine::Callback done) {
  schedule(nominal, std::move(done));
}

void ScriptWorld::put(std::string, std::vector<std::byte>,
                      base::InplaceFunction<void(engine::PutStatus)> done) {
  const auto status = store_works ? engine::PutStatus::kStored : engine::PutStatus::kFailed;
  schedule({},
           [status, done = std::make_unique<decltype(done)>(std::move(done))] { (*done)(status); });
}

// --- the task ----------------------------------------------------------------------------------

ScriptTask::ScriptTask(Style style, std::size_t operators)
    : style_(style), operators_(operators), streams_(world_.ports(), "checkpoints", 0, "task") {}

void ScriptTask::run_async(std::size_t n) {
  if (n >= queue_.size()) {
    throw Difference("queue of the pool", "an operation " + std::to_string(n), "none");
  }
  const auto operation = queue_[n];
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(n));
  bool ended = false;
  operation->start([&ended] { ended = true; });
  world_.run_until_quiet();
  expect_equal("the operation has ended", true, ended);
}

void ScriptTask::note(const char* event, CheckpointId id) {
  events_.push_back({{"e", event}, {"cp", id}});
}

void ScriptTask::note_channel_state(const char* call, CheckpointId id) {
  events_.push_back({{"e", "channelState"}, {"call", call}, {"cp", id}});
}

void ScriptTask::prepare_snapshot_pre_barrier(CheckpointId id) {
  note("prepareSnapshotPreBarrier", id);
}

void ScriptTask::broadcast_event(const engine::RuntimeEvent& event, bool priority) {
  if (const auto* marker = std::get_if<engine::CancelCheckpointMarker>(&event)) {
    note("cancelMarker", marker->id);
    return;
  }
  const auto& barrier = std::get<engine::CheckpointBarrier>(event);
  note("barrier", barrier.id);
  if (style_ == Style::k110) return;
  events_.back()["priority"] = priority;
  events_.back()["alignment"] = engine::to_string(barrier.options.alignment);
}

bool ScriptTask::snapshot_state(const engine::CheckpointMetaData& meta,
                                const engine::CheckpointOptions&, const engine::AlignmentMetrics&,
                                std::vector<engine::OperatorSnapshotFutures>& futures) {
  // The recordings of 1.20 have the chain as one.
  if (style_ == Style::k120) note("snapshot", meta.id);
  for (std::size_t i = 0; i < operators_; ++i) {
    if (style_ == Style::k110) {
      note("snapshot", meta.id);
      events_.back()["operator"] = i;
    }
    if (throws_behind == static_cast<std::int64_t>(i)) return false;
    engine::OperatorSnapshotFutures op;
    op.id.bytes[0] = static_cast<std::uint8_t>(i);
    op.futures.push_back(std::make_unique<ScriptFuture>(cancelled_));
    futures.push_back(std::move(op));
  }
  return throws_behind != static_cast<std::int64_t>(operators_);
}

void ScriptTask::submit(std::shared_ptr<engine::AsyncCheckpointRunnable> runnable) {
  queue_.push_back(std::move(runnable));
}

void ScriptTask::submit_close(std::shared_ptr<engine::AsyncOperation> operation) {
  queue_.push_back(std::move(operation));
}

void ScriptTask::notify_operators_complete(CheckpointId id) {
  for (std::size_t i = 0; i < operators_; ++i) {
    note("operatorComplete", id);
    if (style_ != Style::k110) continue;
    events_.back()["operator"] = i;
    events_.back()["waiting"] = waiting();
  }
}

void ScriptTask::notify_operators_aborted(CheckpointId id) {
  note("operatorAborted", id);
}

void ScriptTask::notify_operators_subsumed(CheckpointId id) {
  note("operatorSubsumed", id);
}

void ScriptTask::prepare_input_snapshot(CheckpointId id, base::Callback done) {
  note("prepareInputs", id);
  done();
}

void ScriptTask::aligned_barrier_timeout(CheckpointId id) {
  note("alignedBarrierTimeout", id);
}

engine::TimerId ScriptTask::register_timer(engine::Duration, base::Callback) {
  events_.push_back({{"e", "alignmentTimer"}});
  return engine::TimerId{1};
}

void ScriptTask::acknowledge(CheckpointId id, const engine::CheckpointMetrics&,
                             std::shared_ptr<const engine::TaskStateSnapshot> state) {
  note("ack", id);
  if (style_ == Style::k120) events_.back()["state"] = state != nullptr;
}

void ScriptTask::decline(CheckpointId id, engine::CheckpointFailureReason reason) {
  note("decline", id);
  if (style_ == Style::k120) {
    events_.back()["reason"] = engine::to_string(reason);
  } else {
    // What is no checkpoint exception arrives as JOB_FAILURE.
    const bool plain = reason == engine::CheckpointFailureReason::JOB_FAILURE;
    events_.back()["cause"] = plain ? "Exception" : engine::to_string(reason);
  }
}

void ScriptTask::report_incomplete(CheckpointId id, const engine::CheckpointMetrics&) {
  note("incomplete", id);
}

void ScriptTask::start(CheckpointId id, const engine::CheckpointOptions&) {
  note_channel_state("start", id);
}

void ScriptTask::finish_input(CheckpointId id) {
  note_channel_state("finishInput", id);
}

void ScriptTask::finish_output(CheckpointId id) {
  note_channel_state("finishOutput", id);
}

void ScriptTask::abort(CheckpointId id) {
  note("channelStateAbort", id);
}

}  // namespace tailrace::golden
