#include "engine/task/async_checkpoint_runnable.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

AsyncCheckpointRunnable::AsyncCheckpointRunnable(const Ports& ports,
                                                 FsCheckpointStreamFactory& streams,
                                                 CheckpointMetaData meta, CheckpointOptions options,
                                                 std::vector<OperatorFutures> operators,
                                                 CheckpointMetrics metrics, Done done)
    : ports_(ports),
      streams_(&streams),
      meta_(meta),
      options_(std::move(options)),
      operators_(std::move(operators)),
      metrics_(metrics),
      done_(std::move(done)),
      state_(std::make_shared<TaskStateSnapshot>()) {}

AsyncCheckpointRunnable::~AsyncCheckpointRunnable() {
  if (reported_) return;
  // Closed before it has reported: RUNNING -> DISCARDED.
  discard_state(*ports_.blobs, *state_);
}

void AsyncCheckpointRunnable::start() {
  started_ = ports_.clock->now();
  // An operator that reports nothing still has an entry (spec rescale.md S-1.15).
  for (const OperatorFutures& op : operators_) state_->operators[op.id];
  run();
}

void AsyncCheckpointRunnable::run() {
  while (operator_ < operators_.size() && future_ == operators_[operator_].futures.size()) {
    ++operator_;
    future_ = 0;
  }
  if (operator_ == operators_.size()) {
    reported_ = true;
    metrics_.async_ns = (ports_.clock->now() - started_).ns;
    const bool any = state_->has_state();
    done_(*this, {true, metrics_,
                  any ? std::shared_ptr<const TaskStateSnapshot>(std::move(state_)) : nullptr});
    return;
  }
  SnapshotFuture& future = *operators_[operator_].futures[future_];
  const std::optional<Work> work = future.step();
  if (!work) {
    store_stream();
    return;
  }
  ports_.compute->run({}, ports_.compute->price(*work), lifeline_.bind([this] { run(); }));
}

void AsyncCheckpointRunnable::store_stream() {
  OperatorFutures& op = operators_[operator_];
  upload_ = streams_->write(
      meta_.id, options_, op.futures[future_]->take_stream(), [this](StreamStateHandlePtr stream) {
        if (stream == nullptr) {
          fail();
          return;
        }
        OperatorFutures& written = operators_[operator_];
        written.futures[future_]->finish(std::move(stream), state_->operators[written.id]);
        ++future_;
        run();
      });
}

void AsyncCheckpointRunnable::fail() {
  reported_ = true;
  discard_state(*ports_.blobs, *state_);
  operators_.clear();
  done_(*this, {false, metrics_, nullptr});
}

}  // namespace tailrace::engine
