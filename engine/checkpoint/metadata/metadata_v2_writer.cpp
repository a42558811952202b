#include <limits>
#include <string>
#include <type_traits>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

using namespace metadata;

class MetadataWriter {
 public:
  void u8(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
  template <typename Integer>
  void big_endian(Integer value) {
    const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    for (int shift = 8 * (static_cast<int>(sizeof(Integer)) - 1); shift >= 0; shift -= 8) {
      u8(static_cast<std::uint8_t>((bits >> shift) & 0xFF));
    }
  }
  void count(std::size_t count) {
    TAILRACE_ASSERT(count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    big_endian(static_cast<std::int32_t>(count));
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void utf(const std::string& text) {
    const std::string encoded = to_modified_utf8(text);
    TAILRACE_ASSERT_MSG(encoded.size() <= std::numeric_limits<std::uint16_t>::max(), text);
    big_endian(static_cast<std::uint16_t>(encoded.size()));
    raw(std::as_bytes(std::span(encoded)));
  }

  void master_state(const MasterState& state) {
    big_endian(kMasterStateMagic);
    MetadataWriter body;
    body.big_endian(state.version);
    body.utf(state.name);
    body.count(state.bytes.size());
    body.raw(state.bytes);
    count(body.bytes_.size());
    raw(body.bytes_);
  }

  void stream(const StreamStateHandle& handle) {
    if (const auto* file = std::get_if<FileStateHandle>(&handle)) {
      u8(kFile);
      big_endian(file->size_bytes);
      utf(file->path);
    } else {
      TAILRACE_ASSERT(!is_placeholder(handle));
      const auto& in_line = std::get<ByteStreamStateHandle>(handle);
      u8(kByteStream);
      utf(in_line.name);
      count(in_line.bytes.size());
      raw(in_line.bytes);
    }
  }

  void operator_states(const std::vector<OperatorStateHandle>& handles) {
    TAILRACE_ASSERT(handles.size() <= 1);
    count(handles.size());  // a flag in Flink's eyes
    for (const OperatorStateHandle& handle : handles) {
      u8(kPartitionableOperatorState);
      count(handle.states.size());
      for (const auto& [name, info] : handle.states) {
        utf(name);
        u8(static_cast<std::uint8_t>(info.mode));
        count(info.offsets.size());
        for (const std::int64_t offset : info.offsets) big_endian(offset);
      }
      stream(*handle.delegate);
    }
  }

  void keyed_state(const std::vector<KeyedStateHandlePtr>& handles) {
    TAILRACE_ASSERT(handles.size() <= 1);
    if (handles.empty()) return u8(kNull);
    if (const auto* incremental = handles.front()->as_incremental()) {
      return incremental_state(incremental->content());
    }
    const auto* handle = dynamic_cast<const KeyGroupsStateHandle*>(handles.front().get());
    TAILRACE_ASSERT(handle != nullptr);
    u8(kKeyGroups);
    big_endian(handle->key_group_range().first);
    big_endian(handle->key_group_range().size());
    for (const std::int64_t offset : handle->offsets().offsets) big_endian(offset);
    stream(*handle->stream());
  }

  void incremental_state(const IncrementalRemoteKeyedStateHandle::Content& content) {
    u8(kIncrementalKeyGroups);
    big_endian(content.checkpoint_id);
    utf(content.backend_id);
    big_endian(content.key_group_range.first);
    big_endian(content.key_group_range.size());
    stream(*content.meta_state);
    for (const auto* files : {&content.shared_state, &content.private_state}) {
      count(files->size());
      for (const auto& file : *files) {
        utf(file.local_path);
        stream(*file.handle);
      }
    }
  }

  void operator_state(const OperatorState& state) {
    raw(std::as_bytes(std::span(state.id.bytes)));
    big_endian(state.parallelism);
    big_endian(state.max_parallelism);
    big_endian(std::int32_t{1});  // chain length: version 2 files one operator at a time
    count(state.subtasks.size());
    for (const auto& [index, subtask] : state.subtasks) {
      big_endian(index);
      big_endian(kNoDuration);
      count(0);  // states of Flink 1.1
      operator_states(subtask.managed_operator);
      operator_states(subtask.raw_operator);
      keyed_state(subtask.managed_keyed);
      keyed_state(subtask.raw_keyed);
    }
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> MetadataV2Serializer::serialize(
    CheckpointId id, const std::vector<MasterState>& master_states,
    const OperatorStates& operator_states) {
  MetadataWriter out;
  out.big_endian(kHeaderMagic);
  out.big_endian(kVersion2);
  out.big_endian(id);
  out.count(master_states.size());
  for (const MasterState& state : master_states) out.master_state(state);
  out.count(operator_states.size());
  for (const auto& [operator_id, state] : operator_states) out.operator_state(state);
  return out.take();
}

}  // namespace tailrace::engine
