#include "engine/network/channel_buffers.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void ChannelBuffers::add_exclusive(NetworkBuffer& segment) {
  TAILRACE_ASSERT(size_ == exclusive_);
  append(segment);
  std::swap(items()[exclusive_++], items()[free_exclusive_++]);
}

// From the end: the one that was taken first stands there.
std::uint32_t ChannelBuffers::index_of(const NetworkBuffer& segment) {
  for (std::uint32_t i = exclusive_; i > free_exclusive_; --i) {
    if (items()[i - 1] == &segment) return i - 1;
  }
  TAILRACE_ASSERT_MSG(false, "a segment that is no exclusive one of its channel, or is free");
  return 0;
}

void ChannelBuffers::return_exclusive(NetworkBuffer& segment) {
  std::swap(items()[index_of(segment)], items()[free_exclusive_]);
  ++free_exclusive_;
}

void ChannelBuffers::forget_exclusive(NetworkBuffer& segment) {
  erase(index_of(segment));
  --exclusive_;
}

NetworkBuffer* ChannelBuffers::remove_exclusive() {
  if (free_exclusive_ == 0) return nullptr;
  NetworkBuffer* const segment = items()[0];
  erase(0);
  --free_exclusive_;
  --exclusive_;
  return segment;
}

NetworkBuffer* ChannelBuffers::remove_floating() {
  if (size_ == exclusive_) return nullptr;
  NetworkBuffer* const segment = items()[exclusive_];
  erase(exclusive_);
  return segment;
}

void ChannelBuffers::hand_over(BufferRecycler& recycler) {
  for (std::uint32_t i = free_exclusive_; i < exclusive_; ++i) items()[i]->hand_over(recycler);
}

void ChannelBuffers::erase(std::uint32_t index) {
  NetworkBuffer** const all = items();
  std::copy(all + index + 1, all + size_, all + index);
  --size_;
}

void ChannelBuffers::grow() {
  auto* const larger = new NetworkBuffer*[2 * capacity_];
  std::copy(items(), items() + size_, larger);
  if (!is_in_place()) delete[] items_.allocated;
  items_.allocated = larger;
  capacity_ *= 2;
}

}  // namespace tailrace::engine
