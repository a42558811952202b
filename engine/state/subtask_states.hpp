// The states of the subtasks of one operator in a checkpoint, by the numbers of the subtasks.
//
// Flink OperatorState.operatorSubtaskStates. A state is immutable once a task has reported it and
// belongs to the report, so that a checkpoint of 10,000 subtasks is put together and dropped without
// copying one of them. Whoever wants to change a state gets a copy of his own.
//
// Invariants
//   A1  Numbers ascend, and no state is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tailrace::engine {

class KeyGroupsStateHandle;
struct OperatorSubtaskState;
using OperatorSubtaskStatePtr = std::shared_ptr<const OperatorSubtaskState>;

class SubtaskStates {
 public:
  // As in a std::map.
  struct Item {
    std::int32_t first;  // number of the subtask
    const OperatorSubtaskState& second;
  };
  class const_iterator;

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;
  // Null if there is none.
  // Cost: O(1) if all subtasks below have a state, else O(log size).
  [[nodiscard]] const OperatorSubtaskState* find(std::int32_t subtask) const;
  [[nodiscard]] bool contains(std::int32_t subtask) const { return find(subtask) != nullptr; }
  // Requires: there is one.
  [[nodiscard]] const OperatorSubtaskState& at(std::int32_t subtask) const;
  // By rank. Requires: below size().
  [[nodiscard]] std::int32_t number(std::size_t rank) const { return entries_[rank].subtask; }
  [[nodiscard]] const OperatorSubtaskStatePtr& state(std::size_t rank) const {
    return entries_[rank].state;
  }
  // What the state consists of, if it is known to be one handle of key groups and nothing else; who
  // has it need not look at the state. Null: look.
  [[nodiscard]] const KeyGroupsStateHandle* sole_key_groups(std::size_t rank) const {
    return entries_[rank].sole_key_groups;
  }

  void reserve(std::size_t count) { entries_.reserve(count); }
  // Puts `state` in the place of what is there. Requires: not null; `sole_key_groups` is what the state
  // consists of, or null.
  // Cost: O(1) behind the last subtask, else O(size).
  void share(std::int32_t subtask, OperatorSubtaskStatePtr state,
             const KeyGroupsStateHandle* sole_key_groups = nullptr);
  // Nothing if there is one already.
  void emplace(std::int32_t subtask, OperatorSubtaskState state);
  // For changing it; an empty one if there is none. Nobody else sees the change.
  OperatorSubtaskState& operator[](std::int32_t subtask);
  // The same by rank.
  OperatorSubtaskState& edit(std::size_t rank);

 private:
  struct Entry {
    std::int32_t subtask;
    OperatorSubtaskStatePtr state;
    const KeyGroupsStateHandle* sole_key_groups;  // of the state, if that is known; else null
  };

  [[nodiscard]] std::size_t lower_bound(std::int32_t subtask) const;

  std::vector<Entry> entries_;
};

class SubtaskStates::const_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Item;

  explicit const_iterator(const Entry* entry) : entry_(entry) {}
  Item operator*() const { return {entry_->subtask, *entry_->state}; }
  const_iterator& operator++() {
    ++entry_;
    return *this;
  }
  const_iterator operator++(int) { return const_iterator(entry_++); }
  friend bool operator==(const_iterator, const_iterator) = default;

 private:
  const Entry* entry_;
};

inline SubtaskStates::const_iterator SubtaskStates::begin() const {
  return const_iterator(entries_.data());
}
inline SubtaskStates::const_iterator SubtaskStates::end() const {
  return const_iterator(entries_.data() + entries_.size());
}

}  // namespace tailrace::engine
