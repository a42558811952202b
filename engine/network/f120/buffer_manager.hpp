// The buffers of one remote channel of 1.20: its exclusive ones and the floating ones that it holds.
//
// Flink 1.20 BufferManager (spec barriers.md 6.4). What is required falls by one with every data
// message, before the backlog in the message sets it again, so it may be less than the exclusive
// buffers and even negative. A listener that is offered a floating buffer takes all that it needs.
// A base of its channel rather than a member of it, so that neither has to keep where the other is.
#pragma once

#include <cstdint>

#include "engine/network/channel_buffers.hpp"
#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"

namespace tailrace::engine {

class BufferManager120 : public BufferListener {
 public:
  BufferManager120(const BufferManager120&) = delete;
  BufferManager120& operator=(const BufferManager120&) = delete;

  // The last reference to an exclusive segment is gone.
  void recycle(NetworkBuffer& segment) final;
  Answer notify_buffer_available(NetworkBuffer& segment) final;

 protected:
  BufferManager120() = default;
  // Requires: `hand_over_buffers` has been called.
  ~BufferManager120() = default;

  // A segment from the global pool becomes an exclusive buffer.
  void add_exclusive_segment(NetworkBuffer& segment) { buffers_.add_exclusive(segment); }

  // A data message has come: takes a buffer for it, floating ones first. The segment is lent.
  // Null: there is none.
  NetworkBuffer* take_buffer();
  // Returns: how many were gained at once; the others come as they are offered.
  [[nodiscard]] std::int32_t request_floating_buffers(std::int32_t required);
  // Gives all that are free back to their pool.
  void release_floating_buffers();
  // Gives everything back; exclusive ones that are still out follow as they are recycled.
  // `drop_received` lets go of what the channel has received.
  template <typename DropReceived>
  void release_all_buffers(const DropReceived& drop_received) {
    released_ = true;
    collecting_ = true;
    drop_received();
    collecting_ = false;
    return_all();
  }
  // Buffers that somebody still holds find home without it.
  void hand_over_buffers() { buffers_.hand_over(global_buffers()); }

  [[nodiscard]] const ChannelBuffers& buffers() const { return buffers_; }
  [[nodiscard]] std::int32_t required() const { return required_; }
  [[nodiscard]] bool waits_for_floating() const { return waiting_for_floating_; }

 private:
  // The pool of exclusive buffers. Outlives the manager.
  [[nodiscard]] virtual NetworkBufferPool& global_buffers() = 0;
  // The pool of floating buffers. Null until the gate is set up; then no more.
  [[nodiscard]] virtual LocalBufferPool* floating_buffers() = 0;
  // The channel has gained buffers. `count` may be 0.
  virtual void on_buffers_gained(std::int32_t count) = 0;

  std::int32_t try_request_buffers();
  void return_all();

  ChannelBuffers buffers_;
  std::int32_t required_ = 0;
  bool waiting_for_floating_ = false;
  bool released_ = false;
  bool collecting_ = false;  // exclusive segments that come back are returned together
};

}  // namespace tailrace::engine
