#include "engine/network/f120/buffer_manager.hpp"

#include <utility>

namespace tailrace::engine {

BufferManager120::~BufferManager120() {
  for (NetworkBuffer* segment : own_) segment->hand_over(global_);
}

void BufferManager120::add_exclusive_segment(NetworkBuffer& segment) {
  own_.push_back(&segment);
  exclusive_.push_back(&segment);
}

NetworkBuffer* BufferManager120::request_buffer() {
  --required_;
  if (!floating_.empty()) {
    NetworkBuffer* segment = floating_.back();
    floating_.pop_back();
    return segment;
  }
  if (exclusive_.empty()) return nullptr;
  NetworkBuffer* segment = exclusive_.back();
  exclusive_.pop_back();
  segment->lend(*this);
  return segment;
}

std::int32_t BufferManager120::request_floating_buffers(std::int32_t required) {
  if (released_) return 0;
  required_ = required;
  return try_request_buffers();
}

std::int32_t BufferManager120::try_request_buffers() {
  std::int32_t gained = 0;
  while (available() < required_ && !waiting_for_floating_) {
    LocalBufferPool& pool = *owner_.floating_pool();
    if (NetworkBuffer* segment = pool.request_buffer(); segment != nullptr) {
      floating_.push_back(segment);
      ++gained;
    } else {
      // Refused: a segment has come meanwhile, so the next request finds it.
      waiting_for_floating_ = pool.add_buffer_listener(*this);
    }
  }
  return gained;
}

void BufferManager120::release_floating_buffers() {
  required_ = 0;
  for (NetworkBuffer* segment : std::exchange(floating_, {})) {
    owner_.floating_pool()->recycle(*segment);
  }
}

void BufferManager120::return_all() {
  LocalBufferPool* const pool = owner_.floating_pool();
  if (std::exchange(waiting_for_floating_, false)) pool->remove_buffer_listener(*this);
  for (NetworkBuffer* segment : std::exchange(floating_, {})) pool->recycle(*segment);
  const std::vector<NetworkBuffer*> exclusive = std::exchange(exclusive_, {});
  for (NetworkBuffer* segment : exclusive) std::erase(own_, segment);
  global_.return_segments(exclusive);
  if (!exclusive.empty()) global_.release_unpooled(static_cast<std::int32_t>(exclusive.size()));
}

void BufferManager120::recycle(NetworkBuffer& segment) {
  if (released_ && !collecting_) {
    std::erase(own_, &segment);
    global_.recycle(segment);
    return;
  }
  exclusive_.push_back(&segment);
  if (released_) return;
  // One more than is needed: a floating one, if there is one, is of more use to other channels.
  if (available() > required_ && !floating_.empty()) {
    NetworkBuffer* floating = floating_.back();
    floating_.pop_back();
    owner_.floating_pool()->recycle(*floating);
    return;
  }
  owner_.notify_buffer_available(1);
}

BufferListener::Answer BufferManager120::notify_buffer_available(NetworkBuffer& segment) {
  TAILRACE_ASSERT(waiting_for_floating_);
  waiting_for_floating_ = false;
  if (released_ || available() >= required_) return Answer::kNotUsed;
  floating_.push_back(&segment);
  owner_.notify_buffer_available(1 + try_request_buffers());
  // It has registered again itself if it needs more.
  return Answer::kUsedNoNeedMore;
}

}  // namespace tailrace::engine
