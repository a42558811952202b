#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_v2_serializer.hpp"
#include "engine/checkpoint/metadata/modified_utf8.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine {
namespace {

using namespace metadata;

// Levels of key-group handles in the place of streams (spec 12).
constexpr int kMaxDepth = 8;

// Reads items one after another. The first error sticks: what is read after it is zero or empty, and
// no loop goes on.
class MetadataReader {
 public:
  explicit MetadataReader(std::span<const std::byte> bytes) : bytes_(bytes), end_(bytes.size()) {}

  [[nodiscard]] bool ok() const { return error_.message.empty(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] const MetadataError& error() const { return error_; }
  [[nodiscard]] bool at_end() const { return position_ == end_; }

  void fail(std::size_t offset, std::string message) {
    if (ok()) error_ = {offset, std::move(message)};
  }

  template <typename Integer>
  Integer big_endian() {
    if (!need(sizeof(Integer))) return 0;
    std::make_unsigned_t<Integer> bits = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      bits = static_cast<std::make_unsigned_t<Integer>>(
          (static_cast<std::uint64_t>(bits) << 8) |
          std::to_integer<std::uint64_t>(bytes_[position_ + i]));
    }
    position_ += sizeof(Integer);
    return static_cast<Integer>(bits);
  }
  std::uint8_t u8() { return big_endian<std::uint8_t>(); }
  std::int32_t i32() { return big_endian<std::int32_t>(); }
  std::int64_t i64() { return big_endian<std::int64_t>(); }

  // A number of items of at least `smallest` bytes each.
  std::size_t count(std::size_t smallest, const char* what) {
    const std::size_t start = position_;
    const std::int32_t value = i32();
    if (value < 0 || static_cast<std::uint64_t>(value) * smallest > end_ - position_) {
      fail(start, std::string("impossible number of ") + what + ": " + std::to_string(value));
      return 0;
    }
    return static_cast<std::size_t>(value);
  }
  std::span<const std::byte> raw(std::size_t length) {
    if (!need(length)) return {};
    const auto result = bytes_.subspan(position_, length);
    position_ += length;
    return result;
  }
  std::vector<std::byte> bytes32(const char* what) {
    const auto data = raw(count(1, what));
    return {data.begin(), data.end()};
  }
  std::string utf() {
    const std::size_t start = position_;
    const auto data = raw(big_endian<std::uint16_t>());
    auto text = from_modified_utf8({reinterpret_cast<const char*>(data.data()), data.size()});
    if (!text.has_value()) fail(start, "malformed string");
    return ok() ? std::move(*text) : std::string();
  }

  MasterState master_state() {
    MasterState state;
    const std::size_t start = position_;
    if (big_endian<std::uint32_t>() != kMasterStateMagic) fail(start, "no master state here");
    const std::size_t length = count(1, "bytes of a master state");
    if (length < kMinMasterStateBody) fail(start, "a master state is too short");
    if (!ok()) return state;
    const std::size_t outer_end = std::exchange(end_, position_ + length);
    state.version = i32();
    state.name = utf();
    state.bytes = bytes32("bytes of a master state");
    if (!at_end()) fail(position_, "bytes left over in a master state");
    end_ = outer_end;
    return state;
  }

  OperatorState operator_state() {
    OperatorState state;
    const auto id = raw(state.id.bytes.size());
    if (ok()) std::memcpy(state.id.bytes.data(), id.data(), id.size());
    const std::size_t start = position_;
    state.parallelism = i32();
    state.max_parallelism = i32();
    if (state.parallelism < 1 || state.parallelism > state.max_parallelism ||
        state.max_parallelism > kMaxParallelism) {
      fail(start, "impossible parallelism " + std::to_string(state.parallelism) + " of " +
                      std::to_string(state.max_parallelism));
    }
    const std::size_t chain = position_;
    if (i32() != 1) fail(chain, "a chain of more than one operator");
    const std::size_t subtasks = position_;
    const std::size_t entries = count(kMinSubtask, "subtasks");
    if (entries > static_cast<std::size_t>(std::max(state.parallelism, 0))) {
      fail(subtasks, "more subtasks than the parallelism");
    }
    for (std::size_t i = 0; i < entries && ok(); ++i) {
      const std::size_t entry = position_;
      const std::int32_t index = i32();
      if (index < 0 || index >= state.parallelism) fail(entry, "subtask index out of range");
      OperatorSubtaskState subtask = subtask_state(state.max_parallelism);
      if (!state.subtasks.emplace(index, std::move(subtask)).second) {
        fail(entry, "subtask " + std::to_string(index) + " occurs twice");
      }
    }
    return state;
  }

 private:
  bool need(std::size_t length) {
    if (ok() && length <= end_ - position_) return true;
    fail(position_, "the bytes end too early");
    return false;
  }

  OperatorSubtaskState subtask_state(std::int32_t max_parallelism) {
    OperatorSubtaskState state;
    i64();  // a duration that nobody uses
    const std::size_t legacy = position_;
    if (count(kMinLegacyHandle, "handles of Flink 1.1") != 0) {
      fail(legacy, "state of Flink 1.1, which releases from 1.4 on cannot read either");
    }
    operator_state_handle(state.managed_operator);
    operator_state_handle(state.raw_operator);
    keyed_state_handle(max_parallelism, state.managed_keyed);
    keyed_state_handle(max_parallelism, state.raw_keyed);
    return state;
  }

  void operator_state_handle(std::vector<OperatorStateHandle>& handles) {
    const std::size_t start = position_;
    const std::int32_t present = i32();
    if (present != 0 && present != 1) fail(start, "a flag that is neither 0 nor 1");
    if (!ok() || present == 0) return;
    const std::size_t type = position_;
    if (u8() != kPartitionableOperatorState) fail(type, "unknown type of operator state");
    OperatorStateHandle handle;
    std::set<std::string> names;
    const std::size_t states = count(kMinNamedState, "named states");
    for (std::size_t i = 0; i < states && ok(); ++i) {
      const std::size_t entry = position_;
      std::string name = utf();
      if (!names.insert(name).second) fail(entry, "a named state occurs twice");
      OperatorStateHandle::StateMetaInfo info;
      const std::size_t mode_at = position_;
      const std::uint8_t mode = u8();
      if (mode > 2) fail(mode_at, "unknown distribution mode " + std::to_string(mode));
      info.mode = static_cast<DistributionMode>(mode);
      info.offsets = offsets(count(kOffsetBytes, "offsets"), 0);
      handle.states.emplace_back(std::move(name), std::move(info));
    }
    handle.delegate = stream(0);
    if (ok()) handles.push_back(std::move(handle));
  }

  void keyed_state_handle(std::int32_t max_parallelism, std::vector<KeyedStateHandlePtr>& handles) {
    const std::size_t start = position_;
    const std::uint8_t type = u8();
    if (!ok() || type == kNull) return;
    if (type == kIncrementalKeyGroups) return incremental_state(max_parallelism, handles);
    if (type != kKeyGroups) {
      return fail(start, "unknown type of keyed state " + std::to_string(type));
    }
    KeyGroupRangeOffsets range = key_groups(max_parallelism);
    StreamStateHandlePtr handle = stream(0);
    if (ok()) {
      handles.push_back(
          std::make_shared<KeyGroupsStateHandle>(std::move(range), std::move(handle)));
    }
  }

  KeyGroupRangeOffsets key_groups(std::int32_t max_parallelism) {
    KeyGroupRangeOffsets result;
    const std::size_t start = position_;
    result.range = key_group_range(max_parallelism);
    const auto size = static_cast<std::size_t>(result.range.size());
    if (ok() && size * kOffsetBytes > end_ - position_) {
      fail(start, "impossible number of key groups");
    }
    if (!ok() || size == 0) return {};
    result.offsets = offsets(size, -1);
    return result;
  }

  KeyGroupRange key_group_range(std::int32_t max_parallelism) {
    const std::size_t start = position_;
    const std::int64_t first = i32();
    const std::int64_t size = i32();
    if (first < 0 || size < 0 || first + size > max_parallelism) {
      fail(start, "key groups out of range");
    }
    if (!ok() || size == 0) return {};
    return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + size - 1)};
  }

  void incremental_state(std::int32_t max_parallelism, std::vector<KeyedStateHandlePtr>& handles) {
    IncrementalRemoteKeyedStateHandle::Content content;
    const std::size_t id_at = position_;
    content.checkpoint_id = i64();
    if (content.checkpoint_id < 0) fail(id_at, "negative checkpoint id");
    content.backend_id = utf();
    content.key_group_range = key_group_range(max_parallelism);
    content.meta_state = stream(0);
    for (auto* files : {&content.shared_state, &content.private_state}) {
      const std::size_t number = ok() ? count(kMinIncrementalFile, "files") : 0;
      for (std::size_t i = 0; i < number && ok(); ++i) {
        std::string local_path = utf();
        files->push_back({std::move(local_path), stream(0)});
      }
    }
    if (!ok()) return;
    handles.push_back(
        std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
  }

  std::vector<std::int64_t> offsets(std::size_t number, std::int64_t lowest) {
    std::vector<std::int64_t> result;
    result.reserve(number);
    for (std::size_t i = 0; i < number && ok(); ++i) {
      const std::size_t start = position_;
      result.push_back(i64());
      if (result.back() < lowest) fail(start, "negative offset");
    }
    return result;
  }

  StreamStateHandlePtr stream(int depth) {
    const std::size_t start = position_;
    const std::uint8_t type = u8();
    if (!ok()) return nullptr;
    if (type == kByteStream) {
      ByteStreamStateHandle handle;
      handle.name = utf();
      handle.bytes = bytes32("bytes of state");
      return std::make_shared<StreamStateHandle>(std::move(handle));
    }
    if (type == kFile) {
      FileStateHandle handle;
      const std::size_t size_at = position_;
      handle.size_bytes = i64();
      if (handle.size_bytes < -1) fail(size_at, "negative size");
      handle.path = utf();
      return std::make_shared<StreamStateHandle>(std::move(handle));
    }
    if (type == kKeyGroups && depth < kMaxDepth) {
      // A keyed handle in the place of a stream handle: what counts is the stream in it.
      key_groups(kMaxParallelism);
      return stream(depth + 1);
    }
    fail(start, "no stream handle of version 2: type " + std::to_string(type));
    return nullptr;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::size_t end_;
  MetadataError error_;
};

}  // namespace

base::Result<CheckpointMetadata, MetadataError> MetadataV2Serializer::deserialize(
    std::span<const std::byte> bytes) {
  MetadataReader in(bytes);
  if (in.big_endian<std::uint32_t>() != kHeaderMagic) in.fail(0, "this is no _metadata file");
  const std::size_t version_at = in.position();
  const std::int32_t version = in.i32();
  if (version != kVersion2) {
    in.fail(version_at, "format version " + std::to_string(version) + " instead of 2");
  }
  CheckpointMetadata metadata;
  const std::size_t id_at = in.position();
  metadata.checkpoint_id = in.i64();
  if (metadata.checkpoint_id < 0) in.fail(id_at, "negative checkpoint id");

  const std::size_t master_states = in.ok() ? in.count(kMinMasterState, "master states") : 0;
  for (std::size_t i = 0; i < master_states && in.ok(); ++i) {
    metadata.master_states.push_back(in.master_state());
  }
  const std::size_t operators = in.ok() ? in.count(kMinOperator, "operators") : 0;
  for (std::size_t i = 0; i < operators && in.ok(); ++i) {
    const std::size_t start = in.position();
    OperatorState state = in.operator_state();
    const OperatorId id = state.id;
    if (in.ok() && !metadata.operator_states.emplace(id, std::move(state)).second) {
      in.fail(start, "operator " + id.hex() + " occurs twice");
    }
  }
  if (!in.at_end()) in.fail(in.position(), "bytes left over at the end");
  if (!in.ok()) return base::Failure{in.error()};
  return metadata;
}

}  // namespace tailrace::engine
