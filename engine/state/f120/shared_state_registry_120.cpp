#include "engine/state/f120/shared_state_registry_120.hpp"

#include <algorithm>
#include <vector>

#include "engine/state/f120/name_uuid.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

constexpr const char* kClosed = "Attempt to register state to closed SharedStateRegistry.";
constexpr const char* kUnequal = "StateObjects underlying same key should be equal !";

}  // namespace

template <typename ShownKey>
SharedStateRegistry120::Outcome SharedStateRegistry120::register_entry(
    const std::string& key, StreamStateHandlePtr handle, CheckpointId checkpoint,
    bool prevent_discarding_creator, ShownKey shown_key) {
  TAILRACE_ASSERT(handle != nullptr);
  if (!open_) return base::Failure{std::string(kClosed)};
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (is_placeholder(*handle)) {  // G1
      return base::Failure{"Attempt to reference unknown state: " + shown_key()};
    }
    entries_.emplace(key, Entry{handle, checkpoint, checkpoint, false});
    return handle;
  }
  Entry& entry = found->second;
  if (!is_placeholder(*handle)) {
    if (entry.handle == nullptr) {
      entry.handle = std::move(handle);
    } else if (!is_same_stream(*handle, *entry.handle)) {
      return base::Failure{std::string(kUnequal)};
    }
  }
  entry.last_used_by = std::max(entry.last_used_by, checkpoint);
  if (prevent_discarding_creator) entry.prevents_discarding_creator = true;
  return entry.handle;
}

SharedStateRegistry120::Outcome SharedStateRegistry120::register_reference(
    const std::string& key, StreamStateHandlePtr handle, CheckpointId checkpoint,
    bool prevent_discarding_creator) {
  return register_entry(key, std::move(handle), checkpoint, prevent_discarding_creator,
                        [&key] { return key; });
}

SharedStateRegistry120::Outcome SharedStateRegistry120::register_stream(StreamStateHandlePtr handle,
                                                                        CheckpointId checkpoint) {
  TAILRACE_ASSERT(handle != nullptr);
  const std::string& name = stream_name(*handle);
  return register_entry(name, handle, checkpoint, false, [&name] { return name_uuid(name); });
}

std::optional<std::string> SharedStateRegistry120::register_marker(const std::string& handle_id,
                                                                   CheckpointId checkpoint) {
  if (!open_) return kClosed;
  if (handle_id.empty()) return std::nullopt;  // loaded from a format that has no ids
  const auto [found, is_new] =
      entries_.try_emplace(handle_id, Entry{nullptr, checkpoint, checkpoint, false});
  if (!is_new && found->second.handle != nullptr) return kUnequal;
  found->second.last_used_by = std::max(found->second.last_used_by, checkpoint);
  return std::nullopt;
}

std::optional<std::string> SharedStateRegistry120::register_handle(KeyedStateHandlePtr& handle,
                                                                   CheckpointId checkpoint,
                                                                   bool again) {
  // Flink marks handles of other kinds as well. Such a handle belongs to one checkpoint alone, so
  // that its marker never outlives the moment at which its maker may go: it would change nothing.
  const IncrementalRemoteKeyedStateHandle* incremental =
      handle == nullptr ? nullptr : handle->as_incremental();
  if (incremental == nullptr) return std::nullopt;
  if (auto error = register_marker(incremental->content().state_handle_id, checkpoint)) {
    return error;
  }
  if (incremental->is_registered() && !again) {
    return "The state handle has already registered its shared states to the given registry.";
  }
  std::optional<std::string> error;
  std::vector<StreamStateHandlePtr> shared;
  shared.reserve(incremental->content().shared_state.size());
  for (const auto& file : incremental->content().shared_state) {
    shared.push_back(file.handle);
    if (error.has_value()) continue;
    Outcome outcome = register_stream(file.handle, checkpoint);
    if (outcome.ok()) {
      shared.back() = std::move(outcome).value();
    } else {
      error = outcome.error();
    }
  }
  handle = incremental->registered(std::move(shared));
  return error;
}

std::optional<std::string> SharedStateRegistry120::register_subtask(OperatorSubtaskState& state,
                                                                    CheckpointId checkpoint,
                                                                    bool again) {
  for (auto* handles : {&state.managed_keyed, &state.raw_keyed}) {
    for (KeyedStateHandlePtr& handle : *handles) {
      if (auto error = register_handle(handle, checkpoint, again)) return error;
    }
  }
  return std::nullopt;
}

SharedStateRegistry120::RegisteredSnapshot SharedStateRegistry120::register_all(
    Snapshot snapshot, CheckpointId checkpoint) {
  if (snapshot == nullptr || !snapshot->shares_state()) return {std::move(snapshot), std::nullopt};
  auto registered = std::make_shared<TaskStateSnapshot>(*snapshot);
  std::optional<std::string> error;
  for (auto& [id, state] : registered->operators) {
    error = register_subtask(state, checkpoint, false);
    if (error.has_value()) break;
  }
  return {std::move(registered), std::move(error)};
}

std::optional<std::string> SharedStateRegistry120::register_all_after_restored(
    OperatorStates& states, CheckpointId checkpoint, bool claimed,
    std::optional<SharingFilesStrategy> strategy) {
  for (auto& [id, state] : states) {
    for (std::size_t rank = 0; rank < state.subtasks.size(); ++rank) {
      if (!state.subtasks.state(rank)->shares_state()) continue;
      OperatorSubtaskState& subtask = state.subtasks.edit(rank);
      if (auto error = register_subtask(subtask, checkpoint, true)) return error;
    }
  }
  note_restored(checkpoint, claimed, strategy);
  return std::nullopt;
}

void SharedStateRegistry120::note_restored(CheckpointId checkpoint, bool claimed,
                                           std::optional<SharingFilesStrategy> strategy) {
  restored_[checkpoint] = strategy == SharingFilesStrategy::NO_SHARING;
  if (!claimed) highest_not_claimed_ = std::max(highest_not_claimed_, checkpoint);
}

std::set<CheckpointId> SharedStateRegistry120::unregister_unused_state(CheckpointId lowest) {
  std::set<CheckpointId> in_use;
  std::vector<StreamStateHandlePtr> unused;
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.last_used_by >= lowest) {
      if (keeps_creator(entry)) in_use.insert(entry.created_by);
      ++it;
      continue;
    }
    if (entry.created_by > highest_not_claimed_ && entry.handle != nullptr) {
      unused.push_back(std::move(entry.handle));
    }
    it = entries_.erase(it);
  }
  for (const StreamStateHandlePtr& handle : unused) delete_state_(*handle);
  return in_use;
}

bool SharedStateRegistry120::keeps_creator(const Entry& entry) const {
  const auto found = restored_.find(entry.created_by);
  return found != restored_.end() && (found->second || entry.prevents_discarding_creator);
}

}  // namespace tailrace::engine
