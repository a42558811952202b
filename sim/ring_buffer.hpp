// A queue in one growing ring: no allocation once it has been as long before.
//
// std::deque allocates and frees blocks while a queue merely passes through it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/assert.hpp"

namespace tailrace::sim {

// Requires: T is default-constructible and movable.
template <typename T>
class RingBuffer {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // The element `index` places behind the front. Requires: index < size().
  [[nodiscard]] T& operator[](std::size_t index) {
    TAILRACE_ASSERT(index < size_);
    return places_[(first_ + index) & (places_.size() - 1)];
  }

  void push_back(T value) {
    if (size_ == places_.size()) grow();
    places_[(first_ + size_) & (places_.size() - 1)] = std::move(value);
    ++size_;
  }

  // Requires: not empty.
  T pop_front() {
    TAILRACE_ASSERT(size_ > 0);
    T value = std::exchange(places_[first_], T{});
    first_ = (first_ + 1) & (places_.size() - 1);
    --size_;
    return value;
  }

  // The same for the element `index` places behind the front. Cost: O(index).
  T take(std::size_t index) {
    TAILRACE_ASSERT(index < size_);
    for (std::size_t i = index; i > 0; --i) std::swap((*this)[i], (*this)[i - 1]);
    return pop_front();
  }

  // Keeps the order of the others. `dropped` receives what is removed.
  template <typename Predicate, typename Dropped>
  void remove_if(Predicate predicate, Dropped dropped) {
    std::size_t kept = 0;
    const std::size_t old_size = size_;
    for (std::size_t i = 0; i < old_size; ++i) {
      T& value = (*this)[i];
      if (predicate(std::as_const(value))) {
        dropped(std::exchange(value, T{}));
      } else {
        if (kept != i) (*this)[kept] = std::exchange(value, T{});
        ++kept;
      }
    }
    size_ = kept;
  }

 private:
  void grow() {
    std::vector<T> larger(places_.empty() ? 8 : places_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    places_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> places_;  // a power of two, or none
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tailrace::sim
