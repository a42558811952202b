#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <typeinfo>

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
    put(extend(sizeof(Integer)), value);
  }
  void big_endian(std::span<const std::int64_t> values) {
    std::byte* out = extend(values.size() * sizeof(std::int64_t));
    for (const std::int64_t value : values) out = put(out, value);
  }
  void count(std::size_t count) {
    TAILRACE_ASSERT(count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    big_endian(static_cast<std::int32_t>(count));
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void utf(const std::string& text) {
    // Both encodings are the same for what most names consist of.
    const bool plain = std::none_of(text.begin(), text.end(), [](char unit) {
      return unit == 0 || static_cast<unsigned char>(unit) >= 0xF0;
    });
    if (plain) return encoded_utf(text);
    encoded_utf(to_modified_utf8(text));
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
        big_endian(std::span(info.offsets));
      }
      stream(*handle.delegate);
    }
  }

  void keyed_state(const std::vector<KeyedStateHandlePtr>& handles) {
    TAILRACE_ASSERT(handles.size() <= 1);
    if (handles.empty()) return u8(kNull);
    TAILRACE_ASSERT(handles.front() != nullptr);
    const KeyedStateHandle& keyed = *handles.front();
    if (const auto* incremental = keyed.as_incremental()) {
      return incremental_state(incremental->content());
    }
    TAILRACE_ASSERT(typeid(keyed) == typeid(KeyGroupsStateHandle));
    const auto* handle = static_cast<const KeyGroupsStateHandle*>(&keyed);
    u8(kKeyGroups);
    big_endian(handle->key_group_range().first);
    big_endian(handle->key_group_range().size());
    big_endian(std::span(handle->offsets().offsets));
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
    const std::size_t begin = bytes_.size();
    std::size_t left = state.subtasks.size();
    for (const auto& [index, subtask] : state.subtasks) {
      big_endian(index);
      big_endian(kNoDuration);
      count(0);  // states of Flink 1.1
      operator_states(subtask.managed_operator);
      operator_states(subtask.raw_operator);
      keyed_state(subtask.managed_keyed);
      keyed_state(subtask.raw_keyed);
      if (left-- == state.subtasks.size()) make_room(left, bytes_.size() - begin);
    }
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void encoded_utf(const std::string& encoded) {
    TAILRACE_ASSERT_MSG(encoded.size() <= std::numeric_limits<std::uint16_t>::max(), encoded);
    big_endian(static_cast<std::uint16_t>(encoded.size()));
    raw(std::as_bytes(std::span(encoded)));
  }
  // For `count` more of about this size: subtasks of one operator look much alike.
  void make_room(std::size_t count, std::size_t bytes_each) {
    constexpr std::size_t kMostAtOnce = std::size_t{16} << 20;  // the first may be the odd one
    const std::size_t wanted = std::min(count * (bytes_each + bytes_each / 8), kMostAtOnce);
    const std::size_t room = bytes_.capacity() - bytes_.size();
    // At least twice of what there is, as without this: else many small operators cost a copy each.
    if (wanted > room) bytes_.reserve(std::max(bytes_.size() + wanted, 2 * bytes_.capacity()));
  }
  [[nodiscard]] std::byte* extend(std::size_t by) {
    bytes_.resize(bytes_.size() + by);
    return bytes_.data() + (bytes_.size() - by);
  }
  // Returns: behind the value.
  template <typename Integer>
  static std::byte* put(std::byte* out, Integer value) {
    const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    for (int shift = 8 * (static_cast<int>(sizeof(Integer)) - 1); shift >= 0; shift -= 8) {
      *out++ = static_cast<std::byte>((bits >> shift) & 0xFF);
    }
    return out;
  }

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
