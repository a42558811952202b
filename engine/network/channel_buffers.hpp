// The segments of one remote channel: its exclusive ones, wherever they are, and the floating ones
// that it holds.
//
// Flink 1.10 RemoteInputChannel.AvailableBufferQueue, 1.20 BufferManager.AvailableBufferQueue; who
// takes which and when is the business of the channel. There is one for every channel, mostly for
// nothing, so that all lies in one array, which holds the default of two exclusive segments in place.
//
// Invariants
//   A1  items are: exclusive ones that are free, the one freed last at the end; exclusive ones that
//       are out; floating ones, all free, the one gained last at the end.
#pragma once

#include <cstdint>

#include "engine/network/buffer.hpp"

namespace tailrace::engine {

class ChannelBuffers {
 public:
  ChannelBuffers() = default;
  ~ChannelBuffers() {
    if (!is_in_place()) delete[] items_.allocated;
  }
  ChannelBuffers(const ChannelBuffers&) = delete;
  ChannelBuffers& operator=(const ChannelBuffers&) = delete;

  // One more exclusive segment, which is free. Requires: no floating one is held.
  void add_exclusive(NetworkBuffer& segment);
  void add_floating(NetworkBuffer& segment) { append(segment); }

  // The one that came last. Null: none is free.
  NetworkBuffer* take_floating() { return size_ == exclusive_ ? nullptr : items()[--size_]; }
  // It is out from now on.
  NetworkBuffer* take_exclusive() {
    return free_exclusive_ == 0 ? nullptr : items()[--free_exclusive_];
  }
  // An exclusive one that was out is free again. Requires: it is one of those.
  // Cost: O(1) if they come back in the order in which they were taken.
  void return_exclusive(NetworkBuffer& segment);
  // An exclusive one that was out will not come back. Requires: it is one of those.
  void forget_exclusive(NetworkBuffer& segment);
  // The free exclusive ones go for good, the one that was freed first before the others.
  // Null: none is left.
  NetworkBuffer* remove_exclusive();
  // Takes out the floating one that was gained first. Null: none is left. Cost: O(floating).
  NetworkBuffer* remove_floating();

  // Exclusive segments that are out find home at `recycler`.
  void hand_over(BufferRecycler& recycler);

  [[nodiscard]] std::int32_t available() const { return free_exclusive() + floating(); }
  [[nodiscard]] std::int32_t free_exclusive() const {
    return static_cast<std::int32_t>(free_exclusive_);
  }
  [[nodiscard]] std::int32_t floating() const {
    return static_cast<std::int32_t>(size_ - exclusive_);
  }

 private:
  static constexpr std::uint32_t kInPlace = 2;

  union Items {
    NetworkBuffer* in_place[kInPlace];
    NetworkBuffer** allocated;
  };

  [[nodiscard]] bool is_in_place() const { return capacity_ == kInPlace; }
  [[nodiscard]] NetworkBuffer** items() {
    return is_in_place() ? items_.in_place : items_.allocated;
  }
  // Of an exclusive one that is out.
  [[nodiscard]] std::uint32_t index_of(const NetworkBuffer& segment);
  void append(NetworkBuffer& segment) {
    if (size_ == capacity_) grow();
    items()[size_++] = &segment;
  }
  // Those behind it move up.
  void erase(std::uint32_t index);
  void grow();

  Items items_{};
  std::uint32_t capacity_ = kInPlace;
  std::uint32_t size_ = 0;
  std::uint32_t exclusive_ = 0;
  std::uint32_t free_exclusive_ = 0;
};

}  // namespace tailrace::engine
