// The buffers of one remote channel of 1.20: its exclusive ones and the floating ones that it holds.
//
// Flink 1.20 BufferManager (spec barriers.md 6.4). What is required falls by one with every data
// message, before the backlog in the message sets it again, so it may be less than the exclusive
// buffers and even negative. A listener that is offered a floating buffer takes all that it needs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/network/local_buffer_pool.hpp"
#include "engine/network/network_buffer_pool.hpp"

namespace tailrace::engine {

class BufferManager120 final : public BufferRecycler, public BufferListener {
 public:
  // The channel.
  class Owner {
   public:
    // The pool of floating buffers. Null until the gate is set up; then no more.
    [[nodiscard]] virtual LocalBufferPool* floating_pool() = 0;
    // The channel has gained buffers. `count` may be 0.
    virtual void notify_buffer_available(std::int32_t count) = 0;

   protected:
    ~Owner() = default;
  };

  // Both outlive the manager.
  BufferManager120(NetworkBufferPool& global, Owner& owner) : global_(global), owner_(owner) {}
  // Buffers that somebody still holds find home without it.
  ~BufferManager120();
  BufferManager120(const BufferManager120&) = delete;
  BufferManager120& operator=(const BufferManager120&) = delete;

  // A segment from the global pool becomes an exclusive buffer.
  void add_exclusive_segment(NetworkBuffer& segment);

  // A data message has come: takes a buffer for it, floating ones first. The segment is lent.
  // Null: there is none.
  NetworkBuffer* request_buffer();
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

  // The last reference to an exclusive segment is gone.
  void recycle(NetworkBuffer& segment) override;
  Answer notify_buffer_available(NetworkBuffer& segment) override;

  [[nodiscard]] std::int32_t available() const {
    return exclusive_available() + floating_available();
  }
  [[nodiscard]] std::int32_t required() const { return required_; }
  [[nodiscard]] std::int32_t floating_available() const {
    return static_cast<std::int32_t>(floating_.size());
  }
  [[nodiscard]] std::int32_t exclusive_available() const {
    return static_cast<std::int32_t>(exclusive_.size());
  }
  [[nodiscard]] bool is_waiting_for_floating() const { return waiting_for_floating_; }

 private:
  std::int32_t try_request_buffers();
  void return_all();

  NetworkBufferPool& global_;
  Owner& owner_;
  std::vector<NetworkBuffer*> own_;        // every exclusive segment, wherever it is
  std::vector<NetworkBuffer*> exclusive_;  // free
  std::vector<NetworkBuffer*> floating_;   // free
  std::int32_t required_ = 0;
  bool waiting_for_floating_ = false;
  bool released_ = false;
  bool collecting_ = false;  // exclusive segments that come back are returned together
};

}  // namespace tailrace::engine
