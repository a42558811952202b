// A FIFO that stops allocating once it has reached its largest size.
//
// std::deque gives blocks back and takes new ones while elements stream through it; the queues of
// the network stack are on the path of every buffer. There is one for every channel, so that an empty
// one is small: a pointer and three 32-bit numbers, and no memory before the first element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

template <typename T>
class RingQueue {
 public:
  RingQueue() = default;
  RingQueue(RingQueue&& other) noexcept { swap(other); }
  RingQueue& operator=(RingQueue&& other) noexcept {
    RingQueue moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~RingQueue() = default;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // `index` counts from the front.
  [[nodiscard]] T& operator[](std::size_t index) { return slots_[slot(index)]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slots_[slot(index)]; }
  [[nodiscard]] T& front() { return slots_[head_]; }
  [[nodiscard]] const T& front() const { return slots_[head_]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) grow();
    slots_[slot(size_)] = std::move(value);
    ++size_;
  }

  // Puts it in front of the element at `index`, which is then the next one; those before it move.
  // Requires: index <= size(). Cost: O(index).
  void insert(std::size_t index, T value) {
    TAILRACE_ASSERT(index <= size_);
    if (size_ == capacity_) grow();
    head_ = (head_ + capacity_ - 1) & (capacity_ - 1);
    ++size_;
    for (std::size_t i = 0; i < index; ++i) (*this)[i] = std::move((*this)[i + 1]);
    (*this)[index] = std::move(value);
  }

  // Requires: !empty().
  T pop_front() {
    TAILRACE_ASSERT(size_ > 0);
    T value = std::exchange(slots_[head_], T{});
    head_ = slot(1);
    --size_;
    return value;
  }

  // Takes out the element at `index`; those behind it move up. Requires: index < size().
  T take(std::size_t index) {
    TAILRACE_ASSERT(index < size_);
    T value = std::move((*this)[index]);
    for (std::size_t i = index; i + 1 < size_; ++i) (*this)[i] = std::move((*this)[i + 1]);
    back() = T{};
    --size_;
    return value;
  }

  void clear() {
    while (!empty()) pop_front();
  }

 private:
  [[nodiscard]] std::uint32_t slot(std::size_t index) const {
    return (head_ + static_cast<std::uint32_t>(index)) & (capacity_ - 1);
  }

  void grow() {
    TAILRACE_ASSERT(capacity_ <= std::numeric_limits<std::uint32_t>::max() / 2);
    const std::uint32_t capacity = capacity_ == 0 ? 8 : 2 * capacity_;
    auto larger = std::make_unique<T[]>(capacity);
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[slot(i)]);
    slots_ = std::move(larger);
    capacity_ = capacity;
    head_ = 0;
  }

  void swap(RingQueue& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(capacity_, other.capacity_);
    std::swap(head_, other.head_);
    std::swap(size_, other.size_);
  }

  std::unique_ptr<T[]> slots_;
  std::uint32_t capacity_ = 0;  // a power of two, or 0
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace tailrace::engine
