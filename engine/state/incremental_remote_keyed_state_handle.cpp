#include "engine/state/incremental_remote_keyed_state_handle.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

IncrementalRemoteKeyedStateHandle::IncrementalRemoteKeyedStateHandle(Content content,
                                                                     bool registered)
    : content_(std::move(content)), registered_(registered) {
  TAILRACE_ASSERT(content_.meta_state != nullptr);
  state_bytes_ = engine::state_size_bytes(*content_.meta_state);
  for (const auto* files : {&content_.shared_state, &content_.private_state}) {
    for (const HandleAndLocalPath& file : *files) {
      TAILRACE_ASSERT(file.handle != nullptr);
      state_bytes_ += engine::state_size_bytes(*file.handle);
    }
  }
  if (content_.persisted_bytes == kUnknownPersistedBytes) content_.persisted_bytes = state_bytes_;
}

std::shared_ptr<const KeyedStateHandle> IncrementalRemoteKeyedStateHandle::intersect(
    KeyGroupRange range) const {
  if (content_.key_group_range.intersect(range).empty()) return nullptr;
  return shared_from_this();
}

void IncrementalRemoteKeyedStateHandle::append_private_files(FileNames& paths) const {
  append_file(content_.meta_state, paths);
  for (const HandleAndLocalPath& file : content_.private_state) append_file(file.handle, paths);
  // Nobody else knows of them yet. What an earlier checkpoint has uploaded is a placeholder here.
  if (registered_) return;
  for (const HandleAndLocalPath& file : content_.shared_state) append_file(file.handle, paths);
}

KeyedStateHandlePtr IncrementalRemoteKeyedStateHandle::registered(
    std::vector<StreamStateHandlePtr> shared) const {
  TAILRACE_ASSERT(shared.size() == content_.shared_state.size());
  Content content = content_;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    content.shared_state[i].handle = std::move(shared[i]);
  }
  return KeyedStateHandlePtr(new IncrementalRemoteKeyedStateHandle(std::move(content), true));
}

}  // namespace tailrace::engine
