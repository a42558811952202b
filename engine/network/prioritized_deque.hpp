// A FIFO whose priority elements stand in front of all others.
//
// Flink 1.20 PrioritizedDeque. The priority elements are a FIFO among themselves: a new one stands
// behind the earlier ones (spec barriers.md L16). One ring, in which a new priority element moves the
// earlier ones, of which there are hardly ever any; a second ring would be in every idle channel.
// Nothing is allocated once the ring has reached its largest size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

template <typename T>
class PrioritizedDeque {
 public:
  [[nodiscard]] bool empty() const { return ring_.empty(); }
  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  [[nodiscard]] std::size_t num_priority_elements() const { return priority_; }

  // `index` counts from the front, over both parts.
  [[nodiscard]] T& operator[](std::size_t index) { return ring_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return ring_[index]; }
  [[nodiscard]] T& front() { return ring_.front(); }
  [[nodiscard]] const T& front() const { return ring_.front(); }
  [[nodiscard]] T& back() { return ring_.back(); }
  [[nodiscard]] const T& back() const { return ring_.back(); }

  void add(T element) { ring_.push_back(std::move(element)); }
  void add_priority_element(T element) { ring_.insert(priority_++, std::move(element)); }
  // `already_contained`: a priority element that is (perhaps) queued already is moved, not doubled.
  void add(T element, bool priority, bool already_contained) {
    if (!priority) {
      add(std::move(element));
    } else if (already_contained) {
      prioritize(element);
    } else {
      add_priority_element(std::move(element));
    }
  }

  // Moves the first equal element to the end of the priority part; one that is there already stays
  // where it is, and one that is nowhere is added.
  void prioritize(const T& element) {
    const std::size_t at = find(element);
    if (at < priority_) return;
    if (at == size()) {
      add_priority_element(element);
    } else {
      add_priority_element(ring_.take(at));
    }
  }

  // Takes out the first element for which `condition` holds. None: there is no such element.
  template <typename Condition>
  std::optional<T> get_and_remove(const Condition& condition) {
    for (std::size_t i = 0; i < size(); ++i) {
      if (condition(std::as_const(*this)[i])) return take(i);
    }
    return std::nullopt;
  }
  // Takes out the element at `index`, which counts from the front.
  T take(std::size_t index) {
    T element = ring_.take(index);
    if (index < priority_) --priority_;
    return element;
  }

  [[nodiscard]] bool contains_priority_element(const T& element) const {
    return find(element) < priority_;
  }
  [[nodiscard]] bool contains(const T& element) const { return find(element) < size(); }

  // Requires: !empty().
  T poll() {
    T element = ring_.pop_front();
    if (priority_ > 0) --priority_;
    return element;
  }

  // As with `poll` one by one: what the elements' destructors look at is always true.
  void clear() {
    while (!empty()) poll();
  }

 private:
  // Of the first equal one; size() if there is none.
  [[nodiscard]] std::size_t find(const T& element) const {
    std::size_t index = 0;
    while (index < size() && !(ring_[index] == element)) ++index;
    return index;
  }

  [[no_unique_address]] RingQueue<T> ring_;
  std::uint32_t priority_ = 0;  // in the ring's padding
};

}  // namespace tailrace::engine
