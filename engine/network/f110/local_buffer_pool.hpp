// The segments that one result partition or one gate may use.
//
// Flink 1.10 LocalBufferPool (spec barriers.md 6.1). "Available" is only a hint: it can be true
// while no segment is free, and the next write then blocks inside the record. Nothing here waits;
// whoever finds nothing is told through the availability listener or as a buffer listener.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/network/buffer.hpp"
#include "engine/network/network_buffer_pool.hpp"
#include "engine/network/ring_queue.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

// Flink BufferListener: a channel that waits for a floating buffer.
class BufferListener {
 public:
  enum class Answer : std::uint8_t { kNotUsed, kUsedNoNeedMore, kUsedNeedMore };
  // Offers a segment, lent by the pool. kNotUsed: it stays with the pool.
  virtual Answer notify_buffer_available(NetworkBuffer& segment) = 0;

 protected:
  ~BufferListener() = default;
};

class LocalBufferPool final : public BufferRecycler {
 public:
  LocalBufferPool(NetworkBufferPool& global, std::int32_t required, std::int32_t max);

  // Null if there is none now. The segment is lent: the first Buffer made of it holds it.
  NetworkBuffer* request_buffer();
  // The last reference to a segment of this pool is gone.
  void recycle(NetworkBuffer& segment) override;
  // Returns: false if there is a free segment, or the pool is destroyed; then it is not registered.
  bool add_buffer_listener(BufferListener& listener);
  // A listener that goes before its turn.
  void remove_buffer_listener(BufferListener& listener);

  [[nodiscard]] bool is_available() const;
  // Runs when the pool may have become available, also in vain. It must only take a note.
  void set_availability_listener(base::InplaceFunction<void()> listener) {
    on_available_ = std::move(listener);
  }

  // What is free goes home now, the rest when it is recycled. The pool may be gone afterwards.
  void lazy_destroy();

  [[nodiscard]] std::int32_t required() const { return required_; }
  [[nodiscard]] std::int32_t max() const { return max_; }
  [[nodiscard]] std::int32_t size() const { return size_; }
  [[nodiscard]] std::int32_t requested() const { return requested_; }
  [[nodiscard]] std::int32_t free_segments() const {
    return static_cast<std::int32_t>(free_.size());
  }
  // Segments that are out (Flink bestEffortGetNumOfUsedBuffers).
  [[nodiscard]] std::int32_t used_buffers() const {
    return std::max(0, requested_ - free_segments());
  }
  [[nodiscard]] bool is_destroyed() const { return destroyed_; }

  // For NetworkBufferPool alone.
  void set_num_buffers(std::int32_t size);
  void on_global_available();

 private:
  void return_segment(NetworkBuffer& segment);
  void return_excess();
  void tell_available();

  NetworkBufferPool& global_;
  std::int32_t required_;
  std::int32_t max_;
  std::int32_t size_;
  std::int32_t requested_ = 0;  // taken from the global pool and not returned
  bool flag_ = false;           // Flink's AvailabilityHelper
  bool destroyed_ = false;
  std::vector<NetworkBuffer*> free_;
  RingQueue<BufferListener*> listeners_;
  base::InplaceFunction<void()> on_available_;
};

}  // namespace tailrace::engine
