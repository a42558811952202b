// Bytes that travel like a buffer and belong to no pool.
//
// Flink MemorySegmentFactory.allocateUnpooledSegment with FreeingBufferRecycler: what a deserializer
// still holds when it becomes channel state, and channel state that has been read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/network/buffer.hpp"

namespace tailrace::engine {

// Lives as long as somebody refers to it.
class UnpooledSegment final : private BufferRecycler {
 public:
  // Requires: somebody takes a reference of what is returned. It is full and finished.
  [[nodiscard]] static NetworkBuffer& make(std::vector<std::byte> bytes) {
    auto* const owner = new UnpooledSegment(std::move(bytes));  // recycle() deletes it
    return owner->segment_;
  }
  [[nodiscard]] static Buffer make_buffer(std::vector<std::byte> bytes) {
    NetworkBuffer& segment = make(std::move(bytes));
    return Buffer(segment, 0, segment.capacity());
  }

 private:
  explicit UnpooledSegment(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)),
        segment_(bytes_.data(), static_cast<std::uint32_t>(bytes_.size())) {
    segment_.lend(*this);
    segment_.commit(segment_.capacity());
    segment_.finish();
  }
  void recycle(NetworkBuffer&) override { delete this; }

  std::vector<std::byte> bytes_;
  NetworkBuffer segment_;
};

}  // namespace tailrace::engine
