// A FIFO that stops allocating once it has reached its largest size.
//
// std::deque gives blocks back and takes new ones while elements stream through it; the queues of
// the network stack are on the path of every buffer.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

template <typename T>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // `index` counts from the front.
  [[nodiscard]] T& operator[](std::size_t index) { return slots_[slot(index)]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return slots_[slot(index)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[slot(size_)] = std::move(value);
    ++size_;
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
  [[nodiscard]] std::size_t slot(std::size_t index) const {
    return (head_ + index) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[slot(i)]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;  // a power of two, or empty
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tailrace::engine
