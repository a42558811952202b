#include "engine/task/async_checkpoint_runnable.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

AsyncCheckpointRunnable::AsyncCheckpointRunnable(const Ports& ports,
                                                 FsCheckpointStreamFactory& streams,
                                                 CheckpointMetaData meta, CheckpointOptions options,
                                                 std::vector<OperatorSnapshotFutures> operators,
                                                 const CheckpointMetrics& metrics,
                                                 Finished finished, Listener& listener)
    : ports_(ports),
      streams_(&streams),
      meta_(meta),
      options_(std::move(options)),
      operators_(std::move(operators)),
      metrics_(metrics),
      finished_(finished),
      listener_(&listener),
      constructed_(ports.clock->now()),
      snapshot_(std::make_shared<TaskStateSnapshot>()) {}

AsyncCheckpointRunnable::~AsyncCheckpointRunnable() {
  if (state_ == State::RUNNING) discard();
}

void AsyncCheckpointRunnable::synchronous_part_ended(std::int64_t sync_ns) {
  metrics_.sync_ns = sync_ns;
  constructed_ = ports_.clock->now();
}

void AsyncCheckpointRunnable::start(base::Callback ended) {
  ended_ = std::move(ended);
  if (state_ != State::RUNNING) {
    end();
    return;
  }
  // An operator that reports nothing still has an entry (spec rescale.md S-1.15).
  for (const OperatorSnapshotFutures& op : operators_) snapshot_->operators[op.id];
  run();
}

void AsyncCheckpointRunnable::run() {
  if (state_ != State::RUNNING) return;  // closed while a piece was being computed
  while (operator_ < operators_.size() && future_ == operators_[operator_].futures.size()) {
    ++operator_;
    future_ = 0;
  }
  if (operator_ == operators_.size()) {
    await_channel_state();
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

// Its writer has been at work beside this all the time.
void AsyncCheckpointRunnable::await_channel_state() {
  if (channel_state_ == nullptr) {
    complete();
    return;
  }
  channel_state_->when_done(lifeline_.bind([this] {
    if (state_ == State::RUNNING) take_channel_state();
  }));
}

void AsyncCheckpointRunnable::take_channel_state() {
  if (channel_state_->failure()) {
    failure_ = *channel_state_->failure();
    fail();
    return;
  }
  ChannelStateWriteResult::Handles handles = channel_state_->take_handles();
  for (const auto& handle : handles.input_channels) {
    metrics_.bytes_persisted_during_alignment += handle.size_bytes;
  }
  for (const auto& handle : handles.result_subpartitions) {
    metrics_.bytes_persisted_during_alignment += handle.size_bytes;
  }
  metrics_.unaligned = metrics_.bytes_persisted_during_alignment > 0;
  if (!operators_.empty()) {
    // The chain was captured tail first.
    snapshot_->operators[operators_.back().id].input_channels = std::move(handles.input_channels);
    snapshot_->operators[operators_.front().id].result_subpartitions =
        std::move(handles.result_subpartitions);
  }
  complete();
}

void AsyncCheckpointRunnable::complete() {
  state_ = State::COMPLETED;
  snapshot_->is_task_deployed_as_finished = finished_.deployed_as_finished;
  snapshot_->is_task_finished = finished_.task_finished;
  metrics_.async_ns = (ports_.clock->now() - constructed_).ns;
  const bool any = snapshot_->has_state();
  snapshot_->take_notes();
  listener_->snapshot_completed(
      *this, metrics_,
      any ? std::shared_ptr<const TaskStateSnapshot>(std::move(snapshot_)) : nullptr);
  end();
}

void AsyncCheckpointRunnable::store_stream() {
  OperatorSnapshotFutures& op = operators_[operator_];
  upload_ = streams_->write(
      meta_.id, options_, op.futures[future_]->take_stream(), [this](StreamStateHandlePtr stream) {
        if (stream == nullptr) {
          fail();
          return;
        }
        OperatorSnapshotFutures& written = operators_[operator_];
        written.futures[future_]->finish(std::move(stream), snapshot_->operators[written.id]);
        ++future_;
        run();
      });
}

void AsyncCheckpointRunnable::fail() {
  discard();
  listener_->snapshot_failed(*this);
  end();
}

std::optional<CheckpointMetrics> AsyncCheckpointRunnable::close() {
  if (state_ != State::RUNNING) return std::nullopt;
  metrics_.total_bytes_persisted = snapshot_->state_size_bytes();
  metrics_.bytes_persisted_of_this_checkpoint = metrics_.total_bytes_persisted;
  upload_.abort();
  discard();
  end();
  return metrics_;
}

void AsyncCheckpointRunnable::discard() {
  TAILRACE_ASSERT(state_ == State::RUNNING);
  state_ = State::DISCARDED;
  discard_state(*ports_.blobs, *snapshot_);
  operators_.clear();  // cancels what has not been written
}

void AsyncCheckpointRunnable::end() {
  if (ended_) std::exchange(ended_, {})();
}

}  // namespace tailrace::engine
