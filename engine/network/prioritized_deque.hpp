// A FIFO whose priority elements stand in front of all others.
//
// Flink 1.20 PrioritizedDeque. The priority elements are a FIFO among themselves: a new one stands
// behind the earlier ones (spec barriers.md L16). Two rings, so that neither part ever moves the
// other and nothing is allocated once both have reached their largest size.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "engine/network/ring_queue.hpp"

namespace tailrace::engine {

template <typename T>
class PrioritizedDeque {
 public:
  [[nodiscard]] bool empty() const { return priority_.empty() && rest_.empty(); }
  [[nodiscard]] std::size_t size() const { return priority_.size() + rest_.size(); }
  [[nodiscard]] std::size_t num_priority_elements() const { return priority_.size(); }

  // `index` counts from the front, over both parts.
  [[nodiscard]] T& operator[](std::size_t index) {
    return index < priority_.size() ? priority_[index] : rest_[index - priority_.size()];
  }
  [[nodiscard]] const T& operator[](std::size_t index) const {
    return index < priority_.size() ? priority_[index] : rest_[index - priority_.size()];
  }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& back() { return (*this)[size() - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size() - 1]; }

  void add(T element) { rest_.push_back(std::move(element)); }
  void add_priority_element(T element) { priority_.push_back(std::move(element)); }
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
    if (contains_priority_element(element)) return;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (!(rest_[i] == element)) continue;
      priority_.push_back(rest_.take(i));
      return;
    }
    priority_.push_back(element);
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
    return index < priority_.size() ? priority_.take(index) : rest_.take(index - priority_.size());
  }

  [[nodiscard]] bool contains_priority_element(const T& element) const {
    return contains(priority_, element);
  }
  [[nodiscard]] bool contains(const T& element) const {
    return contains(priority_, element) || contains(rest_, element);
  }

  // Requires: !empty().
  T poll() { return priority_.empty() ? rest_.pop_front() : priority_.pop_front(); }

  void clear() {
    priority_.clear();
    rest_.clear();
  }

 private:
  static bool contains(const RingQueue<T>& part, const T& element) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == element) return true;
    }
    return false;
  }

  RingQueue<T> priority_;
  RingQueue<T> rest_;
};

}  // namespace tailrace::engine
