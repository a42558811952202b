#include "engine/state/f110/shared_state_registry_110.hpp"

#include <vector>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::string SharedStateRegistry110::key_of(const IncrementalRemoteKeyedStateHandle& handle,
                                           const std::string& local_path) {
  const KeyGroupRange range = handle.key_group_range();
  return handle.content().backend_id +
         "-KeyGroupRange{startKeyGroup=" + std::to_string(range.first) +
         ", endKeyGroup=" + std::to_string(range.last) + "}-" + local_path;
}

SharedStateRegistry110::Outcome SharedStateRegistry110::register_reference(
    const std::string& key, StreamStateHandlePtr handle) {
  TAILRACE_ASSERT(handle != nullptr);
  if (!open_) {
    return base::Failure{std::string("Attempt to register state to closed SharedStateRegistry.")};
  }
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (is_placeholder(*handle)) {
      return base::Failure{"Attempt to reference unknown state: " + key};
    }
    entries_.emplace(key, Entry{handle});
    return Registered{std::move(handle), 1};
  }
  Entry& entry = found->second;
  ++entry.count;
  const Registered registered{entry.handle, entry.count};
  if (!is_placeholder(*handle) && !is_same_stream(*handle, *entry.handle)) delete_state_(*handle);
  return registered;
}

SharedStateRegistry110::Outcome SharedStateRegistry110::unregister_reference(
    const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    return base::Failure{std::string("Cannot unregister a state that is not registered.")};
  }
  Entry& entry = found->second;
  if (--entry.count > 0) return Registered{entry.handle, entry.count};
  const StreamStateHandlePtr unused = std::move(entry.handle);
  entries_.erase(found);
  delete_state_(*unused);
  return Registered{};
}

std::optional<std::string> SharedStateRegistry110::register_handle(KeyedStateHandlePtr& handle,
                                                                   bool again) {
  const IncrementalRemoteKeyedStateHandle* incremental =
      handle == nullptr ? nullptr : handle->as_incremental();
  if (incremental == nullptr) return std::nullopt;
  if (incremental->is_registered() && !again) {
    return "The state handle has already registered its shared states to the given registry.";
  }
  std::optional<std::string> error;
  std::vector<StreamStateHandlePtr> shared;
  for (const auto& file : incremental->content().shared_state) {
    shared.push_back(file.handle);
    if (error.has_value()) continue;
    const Outcome outcome = register_reference(key_of(*incremental, file.local_path), file.handle);
    if (outcome.ok()) {
      shared.back() = outcome.value().handle;
    } else {
      error = outcome.error();
    }
  }
  handle = incremental->registered(std::move(shared));
  return error;
}

std::optional<std::string> SharedStateRegistry110::register_states(OperatorStates& states,
                                                                   bool again) {
  for (auto& [id, state] : states) {
    for (std::size_t rank = 0; rank < state.subtasks.size(); ++rank) {
      if (!state.subtasks.state(rank)->shares_state()) continue;
      OperatorSubtaskState& subtask = state.subtasks.edit(rank);
      for (auto* handles : {&subtask.managed_keyed, &subtask.raw_keyed}) {
        for (KeyedStateHandlePtr& handle : *handles) {
          if (auto error = register_handle(handle, again)) return error;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> SharedStateRegistry110::register_all(OperatorStates& states) {
  return register_states(states, false);
}

std::optional<std::string> SharedStateRegistry110::register_all_after_restored(
    OperatorStates& states) {
  return register_states(states, true);
}

void SharedStateRegistry110::unregister_all(const OperatorStates& states) {
  for (const auto& [id, state] : states) {
    for (const auto& [number, subtask] : state.subtasks) {
      for (const auto* handles : {&subtask.managed_keyed, &subtask.raw_keyed}) {
        for (const KeyedStateHandlePtr& handle : *handles) {
          const IncrementalRemoteKeyedStateHandle* incremental =
              handle == nullptr ? nullptr : handle->as_incremental();
          if (incremental == nullptr || !incremental->is_registered()) continue;
          for (const auto& file : incremental->content().shared_state) {
            if (!unregister_reference(key_of(*incremental, file.local_path)).ok()) break;
          }
        }
      }
    }
  }
}

void SharedStateRegistry110::renew() {
  entries_.clear();
  open_ = true;
}

}  // namespace tailrace::engine
