#include "engine/network/f120/buffer_manager.hpp"

#include <utility>
#include <vector>

namespace tailrace::engine {

NetworkBuffer* BufferManager120::take_buffer() {
  --required_;
  if (NetworkBuffer* const floating = buffers_.take_floating()) return floating;
  NetworkBuffer* const segment = buffers_.take_exclusive();
  if (segment != nullptr) segment->lend(*this);
  return segment;
}

std::int32_t BufferManager120::request_floating_buffers(std::int32_t required) {
  if (released_) return 0;
  required_ = required;
  return try_request_buffers();
}

std::int32_t BufferManager120::try_request_buffers() {
  std::int32_t gained = 0;
  while (buffers_.available() < required_ && !waiting_for_floating_) {
    LocalBufferPool& pool = *floating_buffers();
    if (NetworkBuffer* segment = pool.request_buffer(); segment != nullptr) {
      buffers_.add_floating(*segment);
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
  while (NetworkBuffer* const segment = buffers_.remove_floating()) {
    floating_buffers()->recycle(*segment);
  }
}

void BufferManager120::return_all() {
  LocalBufferPool* const pool = floating_buffers();
  if (std::exchange(waiting_for_floating_, false)) pool->remove_buffer_listener(*this);
  while (NetworkBuffer* const segment = buffers_.remove_floating()) pool->recycle(*segment);
  std::vector<NetworkBuffer*> exclusive;
  while (NetworkBuffer* const segment = buffers_.remove_exclusive()) exclusive.push_back(segment);
  NetworkBufferPool& global = global_buffers();
  global.return_segments(exclusive);
  if (!exclusive.empty()) global.release_unpooled(static_cast<std::int32_t>(exclusive.size()));
}

void BufferManager120::recycle(NetworkBuffer& segment) {
  if (released_ && !collecting_) {
    buffers_.forget_exclusive(segment);
    global_buffers().recycle(segment);
    return;
  }
  buffers_.return_exclusive(segment);
  if (released_) return;
  // One more than is needed: a floating one, if there is one, is of more use to other channels.
  if (buffers_.available() > required_) {
    if (NetworkBuffer* const floating = buffers_.take_floating()) {
      floating_buffers()->recycle(*floating);
      return;
    }
  }
  on_buffers_gained(1);
}

BufferListener::Answer BufferManager120::notify_buffer_available(NetworkBuffer& segment) {
  TAILRACE_ASSERT(waiting_for_floating_);
  waiting_for_floating_ = false;
  if (released_ || buffers_.available() >= required_) return Answer::kNotUsed;
  buffers_.add_floating(segment);
  on_buffers_gained(1 + try_request_buffers());
  // It has registered again itself if it needs more.
  return Answer::kUsedNoNeedMore;
}

}  // namespace tailrace::engine
