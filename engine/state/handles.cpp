#include "engine/state/handles.hpp"

namespace tailrace::engine {
namespace {

void append_file(const StreamStateHandlePtr& stream, std::vector<std::string>& paths) {
  if (stream == nullptr) return;
  if (const auto* file = std::get_if<FileStateHandle>(stream.get())) paths.push_back(file->path);
}

}  // namespace

std::int64_t state_size_bytes(const StreamStateHandle& handle) {
  if (const auto* file = std::get_if<FileStateHandle>(&handle)) return file->size_bytes;
  return static_cast<std::int64_t>(std::get<ByteStreamStateHandle>(handle).bytes.size());
}

const std::string& stream_name(const StreamStateHandle& handle) {
  if (const auto* file = std::get_if<FileStateHandle>(&handle)) return file->path;
  return std::get<ByteStreamStateHandle>(handle).name;
}

std::shared_ptr<const KeyedStateHandle> KeyGroupsStateHandle::intersect(KeyGroupRange range) const {
  return std::make_shared<KeyGroupsStateHandle>(offsets_.intersect(range), stream_);
}

std::int64_t KeyGroupsStateHandle::state_size_bytes() const {
  return engine::state_size_bytes(*stream_);  // of the whole stream, also after an intersection
}

void KeyGroupsStateHandle::append_private_files(std::vector<std::string>& paths) const {
  append_file(stream_, paths);
}

std::int64_t OperatorSubtaskState::state_size_bytes() const {
  std::int64_t bytes = 0;
  for (const auto* handles : {&managed_operator, &raw_operator}) {
    for (const OperatorStateHandle& handle : *handles) {
      if (handle.delegate != nullptr) bytes += engine::state_size_bytes(*handle.delegate);
    }
  }
  for (const auto* handles : {&managed_keyed, &raw_keyed}) {
    for (const KeyedStateHandlePtr& handle : *handles) {
      if (handle != nullptr) bytes += handle->state_size_bytes();
    }
  }
  return bytes;
}

void OperatorSubtaskState::append_private_files(std::vector<std::string>& paths) const {
  for (const auto* handles : {&managed_operator, &raw_operator}) {
    for (const OperatorStateHandle& handle : *handles) append_file(handle.delegate, paths);
  }
  for (const auto* handles : {&managed_keyed, &raw_keyed}) {
    for (const KeyedStateHandlePtr& handle : *handles) {
      if (handle != nullptr) handle->append_private_files(paths);
    }
  }
}

bool TaskStateSnapshot::has_state() const {
  for (const auto& [id, state] : operators) {
    if (state.has_state()) return true;
  }
  return false;
}

std::int64_t TaskStateSnapshot::state_size_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [id, state] : operators) bytes += state.state_size_bytes();
  return bytes;
}

void TaskStateSnapshot::append_private_files(std::vector<std::string>& paths) const {
  for (const auto& [id, state] : operators) state.append_private_files(paths);
}

}  // namespace tailrace::engine
