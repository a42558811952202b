#include "engine/network/f110/local_buffer_pool.hpp"

namespace tailrace::engine {

LocalBufferPool::LocalBufferPool(NetworkBufferPool& global, std::int32_t required, std::int32_t max)
    : global_(global), required_(required), max_(max), size_(required) {
  TAILRACE_ASSERT(required >= 0 && max >= required && max > 0);
}

NetworkBuffer* LocalBufferPool::request_buffer() {
  return_excess();
  NetworkBuffer* segment = nullptr;
  if (free_.empty()) {
    TAILRACE_ASSERT(!destroyed_);
    if (requested_ < size_) {
      segment = global_.request_memory_segment();
      if (segment != nullptr) ++requested_;
    }
  } else {
    segment = free_.back();
    free_.pop_back();
  }
  if (segment == nullptr) {
    flag_ = false;
    return nullptr;
  }
  segment->lend(*this);
  return segment;
}

void LocalBufferPool::recycle(NetworkBuffer& segment) {
  while (true) {
    if (destroyed_ || requested_ > size_) {
      return_segment(segment);
      if (destroyed_ && requested_ == 0) global_.bury(*this);  // *this is gone
      return;
    }
    if (listeners_.empty()) break;
    BufferListener* listener = listeners_.pop_front();
    segment.lend(*this);
    const BufferListener::Answer answer = listener->notify_buffer_available(segment);
    if (answer == BufferListener::Answer::kUsedNeedMore && !destroyed_) {
      listeners_.push_back(listener);
    }
    if (answer != BufferListener::Answer::kNotUsed) return;
  }
  const bool was_empty = free_.empty();
  free_.push_back(&segment);
  if (was_empty) {
    flag_ = true;
    tell_available();
  }
}

bool LocalBufferPool::add_buffer_listener(BufferListener& listener) {
  if (!free_.empty() || destroyed_) return false;
  listeners_.push_back(&listener);
  return true;
}

void LocalBufferPool::remove_buffer_listener(BufferListener& listener) {
  for (std::size_t left = listeners_.size(); left > 0; --left) {
    BufferListener* one = listeners_.pop_front();
    if (one != &listener) listeners_.push_back(one);
  }
}

bool LocalBufferPool::is_available() const {
  return flag_ || (requested_ < size_ && global_.is_available());
}

void LocalBufferPool::set_num_buffers(std::int32_t size) {
  TAILRACE_ASSERT(size >= required_);
  size_ = size < max_ ? size : max_;
  return_excess();
  if (requested_ < size_ && free_.empty() && global_.is_available()) {
    // Flink wakes the waiting writer and leaves the flag unset: it tries the global pool.
    flag_ = false;
    tell_available();
  }
}

void LocalBufferPool::on_global_available() {
  if (requested_ < size_ && !flag_) tell_available();
}

void LocalBufferPool::lazy_destroy() {
  if (destroyed_) return;
  while (!free_.empty()) {
    NetworkBuffer* segment = free_.back();
    free_.pop_back();
    return_segment(*segment);
  }
  listeners_.clear();
  destroyed_ = true;
  on_available_.reset();
  global_.on_pool_destroyed(*this);
  if (requested_ == 0) global_.bury(*this);  // *this is gone
}

void LocalBufferPool::return_segment(NetworkBuffer& segment) {
  --requested_;
  global_.return_segment(segment);
}

void LocalBufferPool::return_excess() {
  while (requested_ > size_ && !free_.empty()) {
    NetworkBuffer* segment = free_.back();
    free_.pop_back();
    return_segment(*segment);
  }
}

void LocalBufferPool::tell_available() {
  if (on_available_) on_available_();
}

}  // namespace tailrace::engine
