#include "engine/network/f110/pipelined_subpartition.hpp"

#include <algorithm>
#include <utility>

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

std::int32_t ResultSubpartitionView::queued_buffers() const {
  return parent_ == nullptr ? 0 : static_cast<std::int32_t>(parent_->queue().size());
}

void ResultSubpartitionView::resume_consumption() {
  if (parent_ != nullptr) parent_->resume_consumption();
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
  if (consumer.is_buffer()) ++data_buffers_;
  buffers_.push_back(std::move(consumer));
  finished_ = finish;
  if (view_ == nullptr) return false;
  return finish || (!flush_requested_ && !blocked_ && known_finished_buffers() == 1);
}

bool PipelinedSubpartition::flush() {
  if (buffers_.empty() || flush_requested_) return false;
  const bool lone_unread = buffers_.size() == 1 && buffers_.back().has_unread();
  flush_requested_ = buffers_.size() > 1 || lone_unread;
  return lone_unread && !blocked_ && view_ != nullptr;
}

void PipelinedSubpartition::resume_consumption() {
  TAILRACE_ASSERT_MSG(blocked_, "a subpartition that is not blocked is resumed");
  blocked_ = false;
}

void PipelinedSubpartition::notify_data_available() {
  if (listener_ != nullptr) listener_->notify_data_available();
}

std::unique_ptr<ResultSubpartitionView> PipelinedSubpartition::create_read_view(
    BufferAvailabilityListener& listener) {
  TAILRACE_ASSERT(!released_ && view_ == nullptr);
  auto view = std::make_unique<ResultSubpartitionView>(*this);
  view_ = view.get();
  listener_ = &listener;
  if (!buffers_.empty()) notify_data_available();
  return view;
}

void PipelinedSubpartition::release() {
  if (released_) return;
  released_ = true;
  buffers_.clear();
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
  if (buffers_.empty()) flush_requested_ = false;
  while (!buffers_.empty()) {
    BufferConsumer& head = buffers_.front();
    const bool is_buffer = head.is_buffer();
    blocked_ = head.blocks();
    item = head.build();
    const bool finished = head.is_finished();
    TAILRACE_ASSERT_MSG(finished || buffers_.size() == 1,
                        "an open buffer with something behind it at the head of a subpartition");
    if (buffers_.size() == 1) flush_requested_ = false;
    if (finished) {
      buffers_.pop_front();
      if (is_buffer) --data_buffers_;
    }
    if (item.size() > 0) break;
    item = {};
    if (!finished) break;
  }
  if (item.size() == 0) return std::nullopt;
  return BufferAndBacklog{std::move(item), is_available(), buffers_in_backlog(),
                          !blocked_ && next_buffer_is_event()};
}

std::int32_t PipelinedSubpartition::buffers_in_backlog() const {
  if (blocked_) return 0;
  const bool all_complete =
      flush_requested_ || finished_ ||
      (event_completes_backlog_ && !buffers_.empty() && !buffers_.back().is_buffer());
  return all_complete ? data_buffers_ : std::max(data_buffers_ - 1, 0);
}

std::int64_t PipelinedSubpartition::queued_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) bytes += buffers_[i].unread();
  return bytes;
}

}  // namespace tailrace::engine
