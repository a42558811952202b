#include "engine/task/f120/channel_state_writer_impl.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f120 {

using Request = ChannelStateWriteRequest;

void ChannelStateWriterImpl::start(CheckpointId id, const CheckpointOptions& options) {
  auto result = std::make_shared<ChannelStateWriteResult>();
  const bool is_new = results_.emplace(id, result).second;
  TAILRACE_ASSERT(is_new);
  submit(id, Request::Start{options, std::move(result)});
}

void ChannelStateWriterImpl::add_input_data(CheckpointId id, InputChannelInfo channel,
                                            std::int32_t /*start_sequence_number*/,
                                            std::vector<Buffer> data) {
  submit(id, Request::Write{channel, std::move(data)});
}

void ChannelStateWriterImpl::add_output_data(CheckpointId id, ResultSubpartitionInfo subpartition,
                                             std::int32_t /*start_sequence_number*/,
                                             std::vector<Buffer> data) {
  submit(id, Request::Write{subpartition, std::move(data)});
}

void ChannelStateWriterImpl::add_output_data_future(CheckpointId id,
                                                    ResultSubpartitionInfo subpartition,
                                                    std::int32_t /*start_sequence_number*/,
                                                    std::shared_ptr<ChannelStateDataFuture> data) {
  submit(id, Request::Write{subpartition, {}, std::move(data)});
}

void ChannelStateWriterImpl::finish_input(CheckpointId id) {
  submit(id, Request::FinishInput{});
}

void ChannelStateWriterImpl::finish_output(CheckpointId id) {
  submit(id, Request::FinishOutput{});
}

void ChannelStateWriterImpl::abort(CheckpointId id) {
  if (executor_ != nullptr) {
    // Whatever has begun is aborted at once, whatever still waits in the queue when it is reached.
    accept(executor_->submit_priority({subtask_, id, Request::Abort{}}));
    submit(id, Request::Abort{});
  }
  results_.erase(id);
}

void ChannelStateWriterImpl::accept(bool submitted) {
  if (submitted || !on_failure_) return;
  auto on_failure = std::exchange(on_failure_, {});
  on_failure("unable to send request to worker");
}

std::shared_ptr<ChannelStateWriteResult> ChannelStateWriterImpl::take_write_result(
    CheckpointId id) {
  const auto found = results_.find(id);
  TAILRACE_ASSERT(found != results_.end());
  auto result = std::move(found->second);
  results_.erase(found);
  return result;
}

void ChannelStateWriterImpl::close() {
  if (executor_ == nullptr) return;
  results_.clear();
  on_failure_ = {};
  submit(0, Request::Release{});
  const auto executor = std::exchange(executor_, nullptr);
  executor->release_subtask(subtask_);
}

}  // namespace tailrace::engine::f120
