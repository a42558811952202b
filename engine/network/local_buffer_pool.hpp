// The segments that one result partition or one gate may use.
//
// Flink BufferPool, BufferListener (spec barriers.md 6.1); LocalBufferPool110 and LocalBufferPool120
// are Flink's LocalBufferPool of the two generations. Nothing here waits: whoever finds nothing is
// told through the availability listener or as a buffer listener. Belongs to its NetworkBufferPool,
// which keeps it until `lazy_destroy` and the return of its last segment.
//
// Invariants
//   P1  Every segment taken from the global pool is free here or lent to somebody, until it goes
//       back.
//   P2  size() lies between required() and max().
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/network/buffer.hpp"
#include "engine/network/ring_queue.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class NetworkBufferPool;

// Flink BufferListener: a channel that waits for a floating buffer. It is also where the exclusive
// buffers of a channel go home, as both interfaces are Flink's BufferManager and 1.10
// RemoteInputChannel; one table of functions for the two is one pointer less in every channel.
class BufferListener : public BufferRecycler {
 public:
  enum class Answer : std::uint8_t { kNotUsed, kUsedNoNeedMore, kUsedNeedMore };
  // Offers a segment, lent by the pool. kNotUsed: it stays with the pool. kUsedNeedMore: the pool
  // puts the listener at the end of its queue; without it a listener registers again by itself.
  virtual Answer notify_buffer_available(NetworkBuffer& segment) = 0;

 protected:
  ~BufferListener() = default;
};

// What Flink's BufferPoolFactory is asked for. 1.10 knows `required` and `max` alone.
struct BufferPoolSpec {
  std::int32_t required = 0;
  std::int32_t max = 0;
  std::int32_t subpartitions = 0;  // 0: a pool of an input gate
  std::int32_t max_buffers_per_channel = std::numeric_limits<std::int32_t>::max();
  std::int32_t max_overdraft_buffers = 0;
};

class LocalBufferPool : public BufferRecycler {
 public:
  LocalBufferPool(NetworkBufferPool& global, const BufferPoolSpec& spec);
  LocalBufferPool(const LocalBufferPool&) = delete;
  LocalBufferPool& operator=(const LocalBufferPool&) = delete;
  virtual ~LocalBufferPool() = default;

  // `subpartition`: whom it counts for until it is recycled (1.20).
  // Returns: null if there is none now. The segment is lent: the first Buffer made of it holds it.
  // Requires: not destroyed.
  virtual NetworkBuffer* request_buffer(std::int32_t subpartition = kUnknownSubpartition) = 0;
  // The last reference to a segment of this pool is gone.
  void recycle(NetworkBuffer& segment) override = 0;
  // Flink 1.20 LocalBufferPool.reserveSegments: holds `count` segments, free or lent.
  // Requires: count <= required(); 0 in 1.10, which knows no such thing.
  // Returns: false if the global pool cannot give them now; ask again.
  virtual bool reserve_segments(std::int32_t count) = 0;

  // Returns: false if there is a free segment, or the pool is destroyed; then it is not registered.
  bool add_buffer_listener(BufferListener& listener);
  // A listener that goes before its turn.
  void remove_buffer_listener(BufferListener& listener);

  [[nodiscard]] virtual bool is_available() const = 0;
  // Runs when the pool may have become available, also in vain. It must only take a note.
  void set_availability_listener(base::InplaceFunction<void()> listener) {
    on_available_ = std::move(listener);
  }

  // What is free goes home now, the rest when it is recycled. The pool may be gone afterwards.
  void lazy_destroy();

  [[nodiscard]] std::int32_t required() const { return required_; }
  [[nodiscard]] std::int32_t max() const { return max_; }
  [[nodiscard]] std::int32_t size() const { return size_; }
  // Flink's count of what was taken from the global pool and not returned.
  [[nodiscard]] std::int32_t requested() const { return requested_; }
  [[nodiscard]] std::int32_t free_segments() const {
    return static_cast<std::int32_t>(free_.size());
  }
  // Flink BufferPool.bestEffortGetNumOfUsedBuffers, which inPoolUsage and outPoolUsage show.
  [[nodiscard]] std::int32_t used_segments() const {
    return requested_ > free_segments() ? requested_ - free_segments() : 0;
  }
  // Above the size: overdraft, and what a pool that shrank has not got back.
  [[nodiscard]] std::int32_t excess_segments() const {
    return requested_ > size_ ? requested_ - size_ : 0;
  }
  // Whether someone waits for a segment to be recycled.
  [[nodiscard]] bool has_buffer_listeners() const { return !listeners_.empty(); }
  [[nodiscard]] bool is_destroyed() const { return destroyed_; }

  // What NetworkBufferPool deals out. Requires: size >= required().
  virtual void set_num_buffers(std::int32_t size) = 0;
  // For NetworkBufferPool alone: it has a segment again, after it had none.
  virtual void on_global_available() = 0;

 protected:
  // The same, which no pool may forget.
  void resize(std::int32_t size);
  NetworkBuffer* take_from_global();
  NetworkBuffer* take_free();
  void return_segment(NetworkBuffer& segment);
  void return_excess();
  // Recycles until somebody has the segment: the global pool, or the first listener that wants it.
  // Returns: whether it belongs to the free ones now; otherwise *this may be gone.
  bool pass_on(NetworkBuffer& segment);
  void tell_available() {
    if (on_available_) on_available_();
  }

  NetworkBufferPool& global_;
  std::int32_t required_;
  std::int32_t max_;
  std::int32_t size_;
  std::int32_t requested_ = 0;
  std::int32_t uncounted_ = 0;  // taken, but not in requested_ (see LocalBufferPool120)
  bool destroyed_ = false;
  std::vector<NetworkBuffer*> free_;

 private:
  // Called by lazy_destroy once nothing is free here any more.
  virtual void on_destroyed() {}

  RingQueue<BufferListener*> listeners_;
  base::InplaceFunction<void()> on_available_;
};

}  // namespace tailrace::engine
