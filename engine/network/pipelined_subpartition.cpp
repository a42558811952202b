#include "engine/network/pipelined_subpartition.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace tailrace::engine {

ResultSubpartitionView::~ResultSubpartitionView() {
  if (parent_ != nullptr) parent_->on_view_released();
}

std::optional<BufferAndBacklog> ResultSubpartitionView::get_next_buffer() {
  return parent_ == nullptr ? std::nullopt : parent_->poll_buffer();
}

bool ResultSubpartitionView::is_available() const {
  return parent_ != nullptr && parent_->is_available();
}

bool ResultSubpartitionView::next_buffer_is_event() const {
  return parent_ != nullptr && parent_->next_buffer_is_event();
}

ResultSubpartitionView::AvailabilityWithBacklog ResultSubpartitionView::availability_and_backlog(
    bool has_credit) const {
  if (parent_ == nullptr) return {};
  return {has_credit ? parent_->is_available() : parent_->next_buffer_is_event(),
          parent_->buffers_in_backlog()};
}

std::int32_t ResultSubpartitionView::queued_buffers() const {
  return parent_ == nullptr ? 0 : static_cast<std::int32_t>(parent_->queue().size());
}

void ResultSubpartitionView::resume_consumption() {
  if (parent_ != nullptr) parent_->resume_consumption();
}

void ResultSubpartitionView::notify_new_buffer_size(std::int32_t bytes) {
  if (parent_ != nullptr) parent_->set_buffer_size(bytes);
}

void ResultSubpartitionView::acknowledge_all_data_processed() {
  if (parent_ != nullptr && parent_->owner_ != nullptr) {
    parent_->owner_->on_subpartition_all_data_processed();
  }
}

std::size_t PipelinedSubpartition::known_finished_buffers() const {
  if (buffers_.empty()) return 0;
  if (buffers_.size() == 1 && buffers_.back().is_finished()) return 1;
  return buffers_.size() - 1;
}

bool PipelinedSubpartition::add(BufferConsumer consumer, bool finish) {
  if (finished_ || released_) return false;
  const bool priority = has_priority(consumer.type());
  if (consumer.is_buffer()) {
    ++data_buffers_;
  } else {
    on_barrier(consumer);
  }
  if (priority) {
    buffers_.add_priority_element(std::move(consumer));
    note_priority_event();
  } else {
    buffers_.add(std::move(consumer));
  }
  finished_ = finish;
  if (view_ == nullptr) return false;
  pending_data_ |= finish || (!flush_requested_ && !blocked_ && known_finished_buffers() == 1);
  return must_tell();
}

std::optional<CheckpointBarrier> PipelinedSubpartition::barrier_of(
    const BufferConsumer& event) const {
  const RuntimeEvent parsed = semantics_.parse_event(*event.event());
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&parsed)) return *barrier;
  return std::nullopt;
}

// Before the event is queued: whatever is behind the priority part now is overtaken by it, or in
// front of it.
void PipelinedSubpartition::on_barrier(const BufferConsumer& event) {
  const std::optional<CheckpointBarrier> barrier = barrier_of(event);
  if (!barrier) return;
  const bool priority = has_priority(event.type());
  TAILRACE_ASSERT_MSG(!priority || barrier->options.is_unaligned(),
                      "a barrier that is not unaligned is a priority event");
  std::vector<Buffer> unread = unread_data(buffers_.num_priority_elements(), buffers_.size());
  std::int64_t bytes = 0;
  for (const Buffer& buffer : unread) bytes += buffer.size();
  cut_ = {barrier->id, data_bytes_out_ + bytes, 0};
  if (priority) {
    cut_.persisted = bytes;
    if (!unread.empty() && channel_state_ != nullptr) {
      channel_state_->add_output_data(
          barrier->id, info_, ChannelStateWriter::kSequenceNumberUnknown, std::move(unread));
    }
  } else if (event.type() == DataType::kTimeoutableAlignedCheckpointBarrier) {
    TAILRACE_ASSERT(barrier->options.is_timeoutable());
    // Checkpoints whose barriers may time out do not overlap.
    if (future_ != nullptr) finish_future(true);
    future_ = std::make_shared<ChannelStateDataFuture>();
    future_checkpoint_ = barrier->id;
    if (channel_state_ != nullptr) {
      channel_state_->add_output_data_future(barrier->id, info_,
                                             ChannelStateWriter::kSequenceNumberUnknown, future_);
    }
  }
}

// A reader that waits for nothing but priority events is told of the first one alone; behind a block
// it could not leave.
void PipelinedSubpartition::note_priority_event() {
  if (view_ != nullptr && buffers_.num_priority_elements() == 1 && !blocked_) {
    pending_priority_ = sequence_number_;
  }
}

std::vector<Buffer> PipelinedSubpartition::unread_data(std::size_t begin, std::size_t end) const {
  std::vector<Buffer> unread;
  for (std::size_t i = begin; i < end; ++i) {
    if (buffers_[i].is_buffer()) unread.push_back(buffers_[i].unread_slice());
  }
  return unread;
}

void PipelinedSubpartition::finish_future(bool failed, std::vector<Buffer> data) {
  // Out of the member first: what listens may come back here.
  const std::shared_ptr<ChannelStateDataFuture> future = std::exchange(future_, nullptr);
  if (failed) {
    future->fail();
  } else {
    future->complete(std::move(data));
  }
}

bool PipelinedSubpartition::aligned_barrier_timeout(CheckpointId id) {
  if (future_ == nullptr || future_checkpoint_ != id) return false;
  for (std::size_t i = buffers_.num_priority_elements(); i < buffers_.size(); ++i) {
    if (buffers_[i].type() != DataType::kTimeoutableAlignedCheckpointBarrier) continue;
    std::optional<CheckpointBarrier> barrier = barrier_of(buffers_[i]);
    if (barrier->id != id) continue;
    std::vector<Buffer> unread = unread_data(buffers_.num_priority_elements(), i);
    if (cut_.checkpoint == id) {
      for (const Buffer& buffer : unread) cut_.persisted += buffer.size();
    }
    barrier->options = barrier->options.as_unaligned();
    buffers_.take(i);
    buffers_.add_priority_element(
        BufferConsumer(semantics_.serialize_event(*barrier), DataType::kPrioritizedEventBuffer));
    note_priority_event();
    finish_future(false, std::move(unread));
    return must_tell();
  }
  TAILRACE_ASSERT_MSG(false, "the barrier of an open future is not queued");
  return false;
}

void PipelinedSubpartition::abort_checkpoint(CheckpointId id) {
  if (future_ != nullptr && future_checkpoint_ == id) finish_future(true);
}

void PipelinedSubpartition::set_buffer_size(std::int32_t bytes) {
  TAILRACE_ASSERT_MSG(bytes >= 0, "a buffer size below zero");
  buffer_size_ = bytes;
}

bool PipelinedSubpartition::flush() {
  if (buffers_.empty() || flush_requested_) return false;
  const bool lone_unread = buffers_.size() == 1 && buffers_.back().has_unread();
  flush_requested_ = buffers_.size() > 1 || lone_unread;
  if (!lone_unread || blocked_ || view_ == nullptr) return false;
  pending_data_ = true;
  return true;
}

void PipelinedSubpartition::resume_consumption() {
  TAILRACE_ASSERT_MSG(blocked_, "a subpartition that is not blocked is resumed");
  blocked_ = false;
}

void PipelinedSubpartition::notify_data_available() {
  const std::optional<std::int32_t> priority = std::exchange(pending_priority_, std::nullopt);
  const bool data = std::exchange(pending_data_, false);
  if (priority && listener_ != nullptr) listener_->notify_priority_event(*priority);
  if (data && listener_ != nullptr) listener_->notify_data_available();
}

std::unique_ptr<ResultSubpartitionView> PipelinedSubpartition::create_read_view(
    BufferAvailabilityListener& listener) {
  TAILRACE_ASSERT(!released_ && view_ == nullptr);
  auto view = std::make_unique<ResultSubpartitionView>(*this);
  view_ = view.get();
  listener_ = &listener;
  pending_data_ = semantics_.signals_new_reader && !buffers_.empty();
  notify_data_available();
  return view;
}

void PipelinedSubpartition::release() {
  if (released_) return;
  released_ = true;
  buffers_.clear();
  if (future_ != nullptr) finish_future(true);
  listener_ = nullptr;
  if (view_ != nullptr) std::exchange(view_, nullptr)->parent_ = nullptr;
}

void PipelinedSubpartition::on_view_released() {
  view_ = nullptr;
  release();
  if (owner_ != nullptr) owner_->on_consumed_subpartition();
}

std::optional<BufferAndBacklog> PipelinedSubpartition::poll_buffer() {
  if (blocked_) return std::nullopt;
  NetworkItem item;
  bool found = false;
  if (buffers_.empty()) flush_requested_ = false;
  while (!found && !buffers_.empty()) {
    BufferConsumer& head = buffers_.front();
    const bool is_buffer = head.is_buffer();
    blocked_ = is_blocking_upstream(head.type());
    if (future_ != nullptr && head.type() == DataType::kTimeoutableAlignedCheckpointBarrier &&
        barrier_of(head)->id == future_checkpoint_) {
      finish_future(false);  // it leaves in time: nothing is overtaken
    }
    item = head.build();
    const bool finished = head.is_finished();
    TAILRACE_ASSERT_MSG(finished || buffers_.size() == 1,
                        "an open buffer with something behind it at the head of a subpartition");
    if (buffers_.size() == 1) flush_requested_ = false;
    if (finished) {
      buffers_.poll();
      if (is_buffer) --data_buffers_;
    }
    found = item.size() > 0 || (finished && receiver_exclusive_buffers_ == 0);
    if (!finished) break;
  }
  if (!found) return std::nullopt;
  if (item.is_buffer() && item.size() > 0) {
    data_bytes_out_ += item.size();
    data_number_ = next_sequence_number(data_number_);
    item.buffer.set_sequence_number(data_number_);
  }
  const bool more = is_available();
  return BufferAndBacklog{std::move(item), more, buffers_in_backlog(),
                          more ? buffers_.front().type() : DataType::kNone, sequence_number_++};
}

std::int32_t PipelinedSubpartition::buffers_in_backlog() const {
  if (blocked_) return 0;
  // After a release 1.10 goes on counting what it has dropped.
  if (semantics_.event_completes_backlog && buffers_.empty()) return 0;
  const bool all_complete = flush_requested_ || finished_ ||
                            (semantics_.event_completes_backlog && !buffers_.back().is_buffer());
  return all_complete ? data_buffers_ : std::max(data_buffers_ - 1, 0);
}

std::int64_t PipelinedSubpartition::queued_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) bytes += buffers_[i].unread();
  return bytes;
}

}  // namespace tailrace::engine
