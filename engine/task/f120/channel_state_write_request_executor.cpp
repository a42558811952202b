#include "engine/task/f120/channel_state_write_request_executor.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

bool ChannelStateWriteRequest::is_ready() const {
  const auto* write = std::get_if<Write>(&what);
  return write == nullptr || write->future == nullptr ||
         write->future->state() != ChannelStateDataFuture::State::kOpen;
}

ChannelStateWriteRequestExecutor::ChannelStateWriteRequestExecutor(
    const Ports& ports, FsCheckpointStreamFactory streams, std::int32_t max_subtasks,
    base::InplaceFunction<void()> on_registered)
    : ports_(ports),
      streams_(std::move(streams)),
      max_subtasks_(max_subtasks),
      on_registered_(std::move(on_registered)) {
  TAILRACE_ASSERT(max_subtasks >= 1);
}

ChannelStateWriteRequestExecutor::~ChannelStateWriteRequestExecutor() = default;

// --- subtasks ----------------------------------------------------------------------------------

void ChannelStateWriteRequestExecutor::register_subtask(ChannelStateSubtask subtask) {
  TAILRACE_ASSERT(registering_ && !subtasks_.contains(subtask));
  subtasks_.insert(subtask);
  unready_[subtask];
  ready_.push_back({subtask, 0, ChannelStateWriteRequest::Register{}});
  wake();
  if (static_cast<std::int32_t>(subtasks_.size()) == max_subtasks_) complete_register();
}

void ChannelStateWriteRequestExecutor::release_subtask(ChannelStateSubtask subtask) {
  complete_register();
  subtasks_.erase(subtask);
  if (subtasks_.empty()) close();
}

void ChannelStateWriteRequestExecutor::complete_register() {
  if (std::exchange(registering_, false)) on_registered_();
}

void ChannelStateWriteRequestExecutor::close() {
  closed_ = true;
  // As the thread that is interrupted: it fails all that has not been written.
  if (current_ != nullptr) cancel(*current_, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
  current_.reset();
  const auto drop = [](std::deque<ChannelStateWriteRequest>& requests) {
    for (auto& request : std::exchange(requests, {})) {
      cancel(request, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
    }
  };
  drop(ready_);
  for (auto& [subtask, requests] : unready_) drop(requests);
  fail_and_clear_writer(CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
}

// --- submission --------------------------------------------------------------------------------

bool ChannelStateWriteRequestExecutor::submit(ChannelStateWriteRequest request) {
  if (closed_) {
    cancel(request, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
    return !broken_;
  }
  const auto found = unready_.find(request.subtask);
  TAILRACE_ASSERT(found != unready_.end());
  if (!found->second.empty()) {
    found->second.push_back(std::move(request));
  } else if (request.is_ready()) {
    ready_.push_back(std::move(request));
    wake();
  } else {
    const ChannelStateSubtask subtask = request.subtask;
    found->second.push_back(std::move(request));
    await_first(subtask);
  }
  return true;
}

bool ChannelStateWriteRequestExecutor::submit_priority(ChannelStateWriteRequest request) {
  TAILRACE_ASSERT(request.is_ready());
  if (closed_) {
    cancel(request, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
    return !broken_;
  }
  TAILRACE_ASSERT(unready_.contains(request.subtask));
  ready_.push_front(std::move(request));
  wake();
  return true;
}

void ChannelStateWriteRequestExecutor::await_first(ChannelStateSubtask subtask) {
  auto& write = std::get<ChannelStateWriteRequest::Write>(unready_[subtask].front().what);
  write.future->when_done(lifeline_.bind([this, subtask] { move_ready_requests(subtask); }));
}

void ChannelStateWriteRequestExecutor::move_ready_requests(ChannelStateSubtask subtask) {
  std::deque<ChannelStateWriteRequest>& requests = unready_[subtask];
  while (!requests.empty()) {
    if (!requests.front().is_ready()) {
      await_first(subtask);
      return;
    }
    ready_.push_back(std::move(requests.front()));
    requests.pop_front();
    wake();
  }
}

// --- the thread --------------------------------------------------------------------------------

void ChannelStateWriteRequestExecutor::wake() {
  if (waking_ || waiting_) return;
  waking_ = true;
  ports_.timers->schedule({}, lifeline_.bind([this] {
    waking_ = false;
    run();
  }));
}

void ChannelStateWriteRequestExecutor::run() {
  while (!closed_ && !waiting_) {
    if (current_ == nullptr) {
      if (ready_.empty()) return;
      current_ = std::make_unique<ChannelStateWriteRequest>(std::move(ready_.front()));
      ready_.pop_front();
    }
    if (dispatch(*current_) == Next::kWait) {
      waiting_ = true;
    } else if (current_ != nullptr) {
      current_.reset();
    }
  }
}

ChannelStateWriteRequestExecutor::Next ChannelStateWriteRequestExecutor::dispatch(
    ChannelStateWriteRequest& request) {
  using Request = ChannelStateWriteRequest;
  if (std::holds_alternative<Request::Register>(request.what)) {
    registered_.insert(request.subtask);
    return Next::kGo;
  }
  if (std::holds_alternative<Request::Release>(request.what)) {
    if (registered_.erase(request.subtask) == 0 || writer_ == nullptr) return Next::kGo;
    return writer_->release_subtask(request.subtask);
  }
  auto* const begin = std::get_if<Request::Start>(&request.what);
  if (begin != nullptr) complete_register();
  if (is_aborted(request.checkpoint)) {
    drop_aborted(request);
    return Next::kGo;
  }
  if (begin != nullptr) return start(request, *begin);
  if (std::holds_alternative<Request::Abort>(request.what)) {
    abort(request);
    return Next::kGo;
  }
  TAILRACE_ASSERT(request.checkpoint == ongoing_ && writer_ != nullptr);
  if (auto* data = std::get_if<Request::Write>(&request.what)) return write(request.subtask, *data);
  return std::holds_alternative<Request::FinishInput>(request.what)
             ? writer_->complete_input(request.subtask)
             : writer_->complete_output(request.subtask);
}

ChannelStateWriteRequestExecutor::Next ChannelStateWriteRequestExecutor::start(
    const ChannelStateWriteRequest& request, ChannelStateWriteRequest::Start& start) {
  TAILRACE_ASSERT(request.checkpoint >= ongoing_);
  if (request.checkpoint > ongoing_) {
    fail_and_clear_writer(CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  }
  if (writer_ == nullptr) {
    writer_ = std::make_unique<ChannelStateCheckpointWriter>(
        registered_, request.checkpoint, start.options, streams_, [this] {
          waiting_ = false;
          // A write goes on with its next buffer; everything else has come to its end.
          if (!std::holds_alternative<ChannelStateWriteRequest::Write>(current_->what)) {
            current_.reset();
          }
          wake();
        });
    ongoing_ = request.checkpoint;
  }
  if (writer_->is_done()) {
    // The file has failed before this subtask came: Flink's thread throws, and ends.
    broken_ = true;
    close();
    return Next::kGo;
  }
  writer_->register_subtask_result(request.subtask, std::move(start.result));
  return Next::kGo;
}

ChannelStateWriteRequestExecutor::Next ChannelStateWriteRequestExecutor::write(
    ChannelStateSubtask subtask, ChannelStateWriteRequest::Write& write) {
  if (write.future != nullptr) {
    if (write.future->state() == ChannelStateDataFuture::State::kFailed) {
      writer_->fail(subtask, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
      return Next::kGo;
    }
    write.data = std::exchange(write.future, nullptr)->take_data();
  }
  // The buffer before has been written by now: it may go.
  if (write.written > 0) write.data[write.written - 1].reset();
  while (write.written < write.data.size()) {
    Buffer& buffer = write.data[write.written++];
    const Next next =
        std::holds_alternative<InputChannelInfo>(write.channel)
            ? writer_->write_input(subtask, std::get<InputChannelInfo>(write.channel), buffer)
            : writer_->write_output(subtask, std::get<ResultSubpartitionInfo>(write.channel),
                                    buffer);
    if (next == Next::kWait) return next;
    buffer.reset();
  }
  return Next::kGo;
}

void ChannelStateWriteRequestExecutor::abort(const ChannelStateWriteRequest& request) {
  if (request.checkpoint > max_aborted_) {
    max_aborted_ = request.checkpoint;
    aborted_by_ = request.subtask;
  }
  if (request.checkpoint == ongoing_) {
    if (writer_ != nullptr) {
      writer_->fail(request.subtask, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
    }
    writer_.reset();
  } else if (request.checkpoint > ongoing_) {
    fail_and_clear_writer(CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  }
}

void ChannelStateWriteRequestExecutor::drop_aborted(ChannelStateWriteRequest& request) {
  if (request.checkpoint != max_aborted_) {
    cancel(request, CheckpointFailureReason::CHECKPOINT_DECLINED_SUBSUMED);
  } else if (request.subtask == aborted_by_) {
    cancel(request, CheckpointFailureReason::CHECKPOINT_ASYNC_EXCEPTION);
  } else {
    cancel(request, CheckpointFailureReason::CHANNEL_STATE_SHARED_STREAM_EXCEPTION);
  }
}

void ChannelStateWriteRequestExecutor::fail_and_clear_writer(CheckpointFailureReason reason) {
  if (writer_ == nullptr) return;
  if (!writer_->is_completed()) writer_->fail(reason);
  writer_.reset();
}

void ChannelStateWriteRequestExecutor::cancel(ChannelStateWriteRequest& request,
                                              CheckpointFailureReason reason) {
  if (auto* start = std::get_if<ChannelStateWriteRequest::Start>(&request.what)) {
    start->result->fail(reason);
  } else if (auto* write = std::get_if<ChannelStateWriteRequest::Write>(&request.what)) {
    write->data.clear();
    write->future.reset();
  }
}

// --- the factory -------------------------------------------------------------------------------

std::shared_ptr<ChannelStateWriteRequestExecutor>
ChannelStateWriteRequestExecutorFactory::get_or_create(ChannelStateSubtask subtask,
                                                       std::int32_t max_subtasks_per_file,
                                                       const FsCheckpointStreamFactory& streams) {
  if (registering_ == nullptr) {
    registering_ = std::make_shared<ChannelStateWriteRequestExecutor>(
        ports_, streams.of_process(ports_, "channel-state"), max_subtasks_per_file,
        lifeline_.bind([this] { registering_.reset(); }));
  }
  // Its registration may be the one that completes it.
  std::shared_ptr<ChannelStateWriteRequestExecutor> executor = registering_;
  executor->register_subtask(subtask);
  return executor;
}

}  // namespace tailrace::engine::f120
