#include "engine/barrier/f110/cached_buffer_storage.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {

CachedBufferStorage::CachedBufferStorage(std::int64_t page_bytes, std::int64_t max_buffered_bytes)
    : page_bytes_(page_bytes), max_buffered_bytes_(max_buffered_bytes) {
  TAILRACE_ASSERT(page_bytes > 0);
  TAILRACE_ASSERT(max_buffered_bytes == -1 || max_buffered_bytes > 0);
}

void CachedBufferStorage::add(BufferOrEvent item) {
  pending_.push_back(std::move(item));
}

void CachedBufferStorage::roll_over() {
  if (pending_.empty()) return;
  if (replaying_) {
    // Its full size, although a part has been handed out already: as Flink counts.
    rolled_bytes_ += original_bytes(current_);
    pushed_back_.push_back(std::move(current_));
  }
  current_ = {std::exchange(pending_, take_spare()), 0};
  replaying_ = true;
}

std::optional<BufferOrEvent> CachedBufferStorage::poll_next() {
  if (!replaying_) return std::nullopt;
  if (current_.next < current_.items.size()) return std::move(current_.items[current_.next++]);

  keep_spare(std::move(current_.items));
  if (pushed_back_.empty()) {
    replaying_ = false;
  } else {
    current_ = std::move(pushed_back_.back());
    pushed_back_.pop_back();
    rolled_bytes_ -= original_bytes(current_);
  }
  return std::nullopt;
}

void CachedBufferStorage::close() {
  pending_.clear();
  current_ = {};
  replaying_ = false;
  pushed_back_.clear();
  rolled_bytes_ = 0;
}

CachedBufferStorage::Items CachedBufferStorage::take_spare() {
  if (spares_.empty()) return {};
  Items items = std::move(spares_.back());
  spares_.pop_back();
  return items;
}

void CachedBufferStorage::keep_spare(Items items) {
  items.clear();
  spares_.push_back(std::move(items));
}

}  // namespace tailrace::engine::f110
