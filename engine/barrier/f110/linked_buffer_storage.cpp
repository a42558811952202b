#include "engine/barrier/f110/linked_buffer_storage.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine::f110 {

LinkedBufferStorage::LinkedBufferStorage(BufferStorage& own, std::vector<BufferStorage*> others,
                                         std::int64_t max_buffered_bytes)
    : own_(own), others_(std::move(others)), max_buffered_bytes_(max_buffered_bytes) {
  TAILRACE_ASSERT(max_buffered_bytes == -1 || max_buffered_bytes > 0);
}

void LinkedBufferStorage::add(BufferOrEvent item) {
  own_.add(std::move(item));
}

void LinkedBufferStorage::roll_over() {
  own_.roll_over();
  for (BufferStorage* other : others_) other->roll_over();
}

void LinkedBufferStorage::close() {
  own_.close();
  for (BufferStorage* other : others_) other->close();
}

std::int64_t LinkedBufferStorage::pending_bytes() const {
  std::int64_t bytes = own_.pending_bytes();
  for (const BufferStorage* other : others_) bytes += other->pending_bytes();
  return bytes;
}

std::int64_t LinkedBufferStorage::rolled_bytes() const {
  std::int64_t bytes = own_.rolled_bytes();
  for (const BufferStorage* other : others_) bytes += other->rolled_bytes();
  return bytes;
}

}  // namespace tailrace::engine::f110
