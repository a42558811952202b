#include "engine/state/handles.hpp"

#include <algorithm>
#include <utility>

#include "engine/state/prefetch.hpp"

namespace tailrace::engine {

void append_file(const StreamStateHandlePtr& stream, FileNames& paths) {
  if (stream == nullptr) return;
  if (const auto* file = std::get_if<FileStateHandle>(stream.get())) paths.push_back(&file->path);
}

bool is_same_stream(const StreamStateHandle& a, const StreamStateHandle& b) {
  return a.index() == b.index() && stream_name(a) == stream_name(b);
}

std::int64_t state_size_bytes(const StreamStateHandle& handle) {
  if (const auto* file = std::get_if<FileStateHandle>(&handle)) return file->size_bytes;
  if (const auto* mark = std::get_if<PlaceholderStreamStateHandle>(&handle)) {
    return mark->size_bytes;
  }
  return static_cast<std::int64_t>(std::get<ByteStreamStateHandle>(handle).bytes.size());
}

const std::string& stream_name(const StreamStateHandle& handle) {
  if (const auto* file = std::get_if<FileStateHandle>(&handle)) return file->path;
  if (const auto* mark = std::get_if<PlaceholderStreamStateHandle>(&handle)) {
    return mark->physical_id;
  }
  return std::get<ByteStreamStateHandle>(handle).name;
}

KeyGroupsStateHandle::KeyGroupsStateHandle(KeyGroupRangeOffsets offsets,
                                           StreamStateHandlePtr stream, std::string state_handle_id,
                                           KeyGroupsFormat format)
    : offsets_(std::move(offsets)),
      stream_(std::move(stream)),
      state_handle_id_(std::move(state_handle_id)),
      format_(format),
      stream_bytes_(stream_ == nullptr ? 0 : engine::state_size_bytes(*stream_)) {
  if (stream_ == nullptr || offsets_.offsets.empty()) return;
  if (!std::is_sorted(offsets_.offsets.begin(), offsets_.offsets.end())) return;
  header_end_ = std::max<std::int64_t>(offsets_.offsets.front(), 0);
  sections_end_ = stream_bytes_;
}

std::shared_ptr<const KeyedStateHandle> KeyGroupsStateHandle::intersect(KeyGroupRange range) const {
  auto part = std::make_shared<KeyGroupsStateHandle>(offsets_.intersect(range), stream_,
                                                     state_handle_id_, format_);
  part->header_end_ = header_end_;
  const std::int32_t behind = part->offsets_.range.last + 1;
  part->sections_end_ = offsets_.range.contains(behind) ? offsets_.offset(behind) : sections_end_;
  return part;
}

std::vector<ByteRange> KeyGroupsStateHandle::byte_ranges() const {
  if (header_end_ == 0) return {};
  if (offsets_.range.empty()) return {{0, header_end_}};
  const std::int64_t first = offsets_.offsets.front();
  if (first == header_end_) return {{0, sections_end_}};
  return {{0, header_end_}, {first, sections_end_}};
}

void KeyGroupsStateHandle::append_private_files(FileNames& paths) const {
  append_file(stream_, paths);
}

void KeyGroupsStateHandle::prefetch_parts() const {
  prefetch(offsets_.offsets.data());
  prefetch(stream_.get());
  if (!state_handle_id_.empty()) prefetch(state_handle_id_.data());
}

void KeyGroupsStateHandle::prefetch_names() const {
  if (stream_ != nullptr) prefetch(stream_name(*stream_).data());
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
  return bytes + channel_state_size_bytes();
}

std::int64_t OperatorSubtaskState::channel_state_size_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& handle : input_channels) bytes += handle.size_bytes;
  for (const auto& handle : result_subpartitions) bytes += handle.size_bytes;
  return bytes;
}

namespace {

// The file of many channels is one file (Flink OperatorSubtaskState.collectUniqueDelegates).
void append_file_once(const StreamStateHandlePtr& stream, FileNames& paths) {
  if (stream == nullptr) return;
  const auto* file = std::get_if<FileStateHandle>(stream.get());
  if (file == nullptr || (!paths.empty() && *paths.back() == file->path)) return;
  const bool known = std::any_of(paths.begin(), paths.end(),
                                 [file](const std::string* path) { return *path == file->path; });
  if (!known) paths.push_back(&file->path);
}

}  // namespace

void OperatorSubtaskState::append_private_files(FileNames& paths) const {
  for (const auto* handles : {&managed_operator, &raw_operator}) {
    for (const OperatorStateHandle& handle : *handles) append_file(handle.delegate, paths);
  }
  for (const auto* handles : {&managed_keyed, &raw_keyed}) {
    for (const KeyedStateHandlePtr& handle : *handles) {
      if (handle != nullptr) handle->append_private_files(paths);
    }
  }
  for (const auto& handle : input_channels) append_file_once(handle.delegate, paths);
  for (const auto& handle : result_subpartitions) append_file_once(handle.delegate, paths);
}

bool OperatorSubtaskState::shares_state() const {
  const auto shares = [](const KeyedStateHandlePtr& handle) {
    return handle != nullptr && handle->as_incremental() != nullptr;
  };
  return std::any_of(managed_keyed.begin(), managed_keyed.end(), shares) ||
         std::any_of(raw_keyed.begin(), raw_keyed.end(), shares);
}

const KeyGroupsStateHandle* OperatorSubtaskState::sole_key_groups() const {
  if (managed_keyed.size() != 1 || !raw_keyed.empty() || !managed_operator.empty() ||
      !raw_operator.empty() || !input_channels.empty() || !result_subpartitions.empty()) {
    return nullptr;
  }
  return dynamic_cast<const KeyGroupsStateHandle*>(managed_keyed.front().get());
}

void TaskStateSnapshot::take_notes() {
  SnapshotNotes notes{.state_size_bytes = state_size_bytes(), .shares_state = shares_state()};
  if (operators.size() == 1) {
    notes.sole_operator = operators.begin()->first;
    notes.sole_state = &operators.begin()->second;
    notes.sole_key_groups = notes.sole_state->sole_key_groups();
  }
  seal.set(notes);
}

bool TaskStateSnapshot::shares_state() const {
  if (const SnapshotNotes* notes = seal.get()) return notes->shares_state;
  return std::any_of(operators.begin(), operators.end(),
                     [](const auto& entry) { return entry.second.shares_state(); });
}

bool TaskStateSnapshot::has_state() const {
  for (const auto& [id, state] : operators) {
    if (state.has_state()) return true;
  }
  return is_task_deployed_as_finished;
}

std::int64_t TaskStateSnapshot::state_size_bytes() const {
  if (const SnapshotNotes* notes = seal.get()) return notes->state_size_bytes;
  std::int64_t bytes = 0;
  for (const auto& [id, state] : operators) bytes += state.state_size_bytes();
  return bytes;
}

void TaskStateSnapshot::append_private_files(FileNames& paths) const {
  for (const auto& [id, state] : operators) state.append_private_files(paths);
}

}  // namespace tailrace::engine
