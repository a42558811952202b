#include "engine/state/f120/shared_state_registry_120.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

StreamStateHandlePtr SharedStateRegistry120::register_reference(const std::string& key,
                                                                StreamStateHandlePtr handle,
                                                                CheckpointId checkpoint,
                                                                bool prevent_discarding_creator) {
  TAILRACE_ASSERT_MSG(open_, "registering " + key + " after the registry was closed");
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    TAILRACE_ASSERT_MSG(handle != nullptr, "a placeholder for the unknown state " + key);
    entries_.emplace(key, Entry{handle, checkpoint, checkpoint, false});
    return handle;
  }
  Entry& entry = found->second;
  // In-line bytes are the same state if they have the same name (state.md 6).
  TAILRACE_ASSERT_MSG(handle == nullptr || (handle->index() == entry.handle->index() &&
                                            stream_name(*handle) == stream_name(*entry.handle)),
                      "another handle for the known state " + key);
  entry.last_used_by = std::max(entry.last_used_by, checkpoint);
  if (prevent_discarding_creator) entry.prevents_discarding_creator = true;
  return entry.handle;
}

std::set<CheckpointId> SharedStateRegistry120::unregister_unused_state(CheckpointId lowest) {
  std::set<CheckpointId> in_use;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const Entry& entry = it->second;
    if (entry.last_used_by >= lowest) {
      if (keeps_creator(entry)) in_use.insert(entry.created_by);
      ++it;
      continue;
    }
    if (entry.created_by > highest_not_claimed_) delete_state_(*entry.handle);
    it = entries_.erase(it);
  }
  return in_use;
}

void SharedStateRegistry120::note_restored(CheckpointId checkpoint, bool claimed, bool has_strategy,
                                           SharingFilesStrategy strategy) {
  restored_[checkpoint] = has_strategy && strategy == SharingFilesStrategy::NO_SHARING;
  if (!claimed) highest_not_claimed_ = std::max(highest_not_claimed_, checkpoint);
}

bool SharedStateRegistry120::keeps_creator(const Entry& entry) const {
  const auto found = restored_.find(entry.created_by);
  return found != restored_.end() && (found->second || entry.prevents_discarding_creator);
}

}  // namespace tailrace::engine
