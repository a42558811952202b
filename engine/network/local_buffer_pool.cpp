#include "engine/network/local_buffer_pool.hpp"

#include "engine/network/network_buffer_pool.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

LocalBufferPool::LocalBufferPool(NetworkBufferPool& global, const BufferPoolSpec& spec)
    : global_(global), required_(spec.required), max_(spec.max), size_(spec.required) {
  TAILRACE_ASSERT(spec.required >= 0 && spec.max >= spec.required && spec.max > 0);
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

void LocalBufferPool::lazy_destroy() {
  if (destroyed_) return;
  while (!free_.empty()) return_segment(*take_free());
  listeners_.clear();
  destroyed_ = true;
  on_available_.reset();
  on_destroyed();
  global_.on_pool_destroyed(*this);
  if (requested_ + uncounted_ == 0) global_.bury(*this);  // *this is gone
}

void LocalBufferPool::resize(std::int32_t size) {
  TAILRACE_ASSERT(size >= required_);
  size_ = size < max_ ? size : max_;
  return_excess();
}

NetworkBuffer* LocalBufferPool::take_from_global() {
  NetworkBuffer* segment = global_.request_memory_segment();
  if (segment != nullptr) ++requested_;
  return segment;
}

NetworkBuffer* LocalBufferPool::take_free() {
  NetworkBuffer* segment = free_.back();
  free_.pop_back();
  return segment;
}

void LocalBufferPool::return_segment(NetworkBuffer& segment) {
  --requested_;
  global_.return_segment(segment);
}

void LocalBufferPool::return_excess() {
  while (requested_ > size_ && !free_.empty()) return_segment(*take_free());
}

bool LocalBufferPool::pass_on(NetworkBuffer& segment) {
  while (true) {
    if (destroyed_ || requested_ > size_) {
      return_segment(segment);
      if (destroyed_ && requested_ + uncounted_ == 0) global_.bury(*this);  // *this is gone
      return false;
    }
    if (listeners_.empty()) break;
    BufferListener* listener = listeners_.pop_front();
    segment.lend(*this);
    const BufferListener::Answer answer = listener->notify_buffer_available(segment);
    if (answer == BufferListener::Answer::kUsedNeedMore && !destroyed_) {
      listeners_.push_back(listener);
    }
    if (answer != BufferListener::Answer::kNotUsed) return false;
  }
  free_.push_back(&segment);
  return true;
}

}  // namespace tailrace::engine
