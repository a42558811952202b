#include "engine/state/subtask_states.hpp"

#include <algorithm>

#include "engine/state/handles.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::size_t SubtaskStates::lower_bound(std::int32_t subtask) const {
  const auto rank = static_cast<std::size_t>(subtask);
  if (rank < entries_.size() && entries_[rank].subtask == subtask) return rank;
  if (entries_.empty() || entries_.back().subtask < subtask) return entries_.size();
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), subtask,
                       [](const Entry& entry, std::int32_t to) { return entry.subtask < to; });
  return static_cast<std::size_t>(found - entries_.begin());
}

const OperatorSubtaskState* SubtaskStates::find(std::int32_t subtask) const {
  const std::size_t rank = lower_bound(subtask);
  if (rank == entries_.size() || entries_[rank].subtask != subtask) return nullptr;
  return entries_[rank].state.get();
}

const OperatorSubtaskState& SubtaskStates::at(std::int32_t subtask) const {
  const OperatorSubtaskState* found = find(subtask);
  TAILRACE_ASSERT(found != nullptr);
  return *found;
}

void SubtaskStates::share(std::int32_t subtask, OperatorSubtaskStatePtr state,
                          const KeyGroupsStateHandle* sole_key_groups) {
  TAILRACE_ASSERT(subtask >= 0 && state != nullptr);  // A1
  const std::size_t rank = lower_bound(subtask);
  if (rank < entries_.size() && entries_[rank].subtask == subtask) {
    entries_[rank].state = std::move(state);
    entries_[rank].sole_key_groups = sole_key_groups;
  } else {
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(rank),
                    Entry{subtask, std::move(state), sole_key_groups});
  }
}

void SubtaskStates::emplace(std::int32_t subtask, OperatorSubtaskState state) {
  if (contains(subtask)) return;
  share(subtask, std::make_shared<OperatorSubtaskState>(std::move(state)));
}

OperatorSubtaskState& SubtaskStates::operator[](std::int32_t subtask) {
  if (!contains(subtask)) share(subtask, std::make_shared<OperatorSubtaskState>());
  return edit(lower_bound(subtask));
}

OperatorSubtaskState& SubtaskStates::edit(std::size_t rank) {
  TAILRACE_ASSERT(rank < entries_.size());
  auto own = std::make_shared<OperatorSubtaskState>(*entries_[rank].state);
  OperatorSubtaskState& state = *own;
  entries_[rank].state = std::move(own);
  entries_[rank].sole_key_groups = nullptr;
  return state;
}

}  // namespace tailrace::engine
