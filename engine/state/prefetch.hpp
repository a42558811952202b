// Hints to the processor about memory that is read soon. They change nothing but time.
#pragma once

#include <cstddef>

#include "engine/state/handles.hpp"

namespace tailrace::engine {

// Null: nothing happens.
inline void prefetch_bytes(const void* object, std::size_t size) {
  if (object == nullptr) return;
  constexpr std::size_t kCacheLine = 64;
  const auto* bytes = static_cast<const char*>(object);
  for (std::size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(bytes + at);
  __builtin_prefetch(bytes + size - 1);  // objects need not begin a line
}
template <typename Object>
void prefetch(const Object* object) {
  prefetch_bytes(object, sizeof(Object));
}

// For a walk over all states that looks at their handles: called for each rank in turn, it asks for
// what the walk will meet some ranks later, one level of pointers after the other.
inline void prefetch_ahead(const SubtaskStates& states, std::size_t rank) {
  constexpr std::size_t kLead = 8;  // ranks from one level to the next
  // Null also where nobody has to look at the state.
  const auto state_at = [&](std::size_t levels) -> const OperatorSubtaskState* {
    const std::size_t ahead = rank + levels * kLead;
    if (ahead >= states.size() || states.sole_key_groups(ahead) != nullptr) return nullptr;
    return states.state(ahead).get();
  };
  const auto keyed_at = [&](std::size_t levels) -> const KeyedStateHandle* {
    const std::size_t ahead = rank + levels * kLead;
    if (ahead >= states.size()) return nullptr;
    if (const KeyGroupsStateHandle* sole = states.sole_key_groups(ahead)) return sole;
    const OperatorSubtaskState* state = states.state(ahead).get();
    return state->managed_keyed.empty() ? nullptr : state->managed_keyed.front().get();
  };
  prefetch(state_at(5));
  if (const OperatorSubtaskState* state = state_at(4)) {
    prefetch(state->managed_keyed.data());
    prefetch(state->managed_operator.data());
  }
  // Of the most common kind; of others it is the beginning.
  prefetch_bytes(keyed_at(3), sizeof(KeyGroupsStateHandle));
  if (const KeyedStateHandle* handle = keyed_at(2)) handle->prefetch_parts();
  if (const KeyedStateHandle* handle = keyed_at(1)) handle->prefetch_names();
}

}  // namespace tailrace::engine
