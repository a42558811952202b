#include "engine/checkpoint/metadata/state_handle_reader.hpp"

#include <memory>
#include <set>
#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine::metadata {

void StateHandleReader::note(std::size_t offset, std::optional<int> type, const char* kind) {
  if (!in_.ok() || std::exchange(noted_, true)) return;
  left_out_.push_back({offset, type, kind, subtask_.operator_id, subtask_.index});
}

std::optional<std::vector<std::byte>> StateHandleReader::coordinator_state() {
  const std::size_t start = in_.position();
  const std::uint8_t type = in_.u8();
  if (!in_.ok() || type == kNull) return std::nullopt;
  if (type != kByteStream) {
    in_.fail(start, "coordinator state that is not in line: type " + std::to_string(type));
    return std::nullopt;
  }
  in_.utf();
  return in_.bytes32("bytes of coordinator state");
}

OperatorSubtaskState StateHandleReader::subtask_state(const Subtask& subtask, bool with_channels) {
  subtask_ = subtask;
  OperatorSubtaskState state;
  operator_state(state.managed_operator);
  operator_state(state.raw_operator);
  begin_handle();
  keyed_state(0, state.managed_keyed);
  begin_handle();
  keyed_state(0, state.raw_keyed);
  if (with_channels) {
    channel_states(state.input_channels);
    channel_states(state.result_subpartitions);
  }
  return state;
}

// ---- Operator state

void StateHandleReader::operator_state(std::vector<OperatorStateHandle>& handles) {
  begin_handle();
  if (!in_.flag32("a flag of operator state") || !in_.ok()) return;
  const std::size_t start = in_.position();
  const std::uint8_t type = in_.u8();
  if (type != kPartitionableOperatorState && type != kFileMergingOperatorState) {
    return in_.fail(start, "unknown type of operator state: " + std::to_string(type));
  }
  if (type == kFileMergingOperatorState) note(start, type, "operator state in a merged file");
  OperatorStateHandle handle;
  std::set<std::string> names;
  const std::size_t states = in_.count(kMinNamedState, "named states");
  for (std::size_t i = 0; i < states && in_.ok(); ++i) {
    const std::size_t entry = in_.position();
    std::string name = in_.utf();
    if (!names.insert(name).second) in_.fail(entry, "a named state occurs twice");
    OperatorStateHandle::StateMetaInfo info;
    const std::size_t mode_at = in_.position();
    const std::uint8_t mode = in_.u8();
    if (mode > 2) in_.fail(mode_at, "unknown distribution mode " + std::to_string(mode));
    info.mode = static_cast<DistributionMode>(mode);
    info.offsets = in_.offsets(in_.count(kOffsetBytes, "offsets"), 0);
    handle.states.emplace_back(std::move(name), std::move(info));
  }
  if (type == kFileMergingOperatorState) {
    in_.utf();  // the directory that the task owns
    in_.utf();  // the one that the job shares
    in_.bool8("a mark of empty state");
    const std::size_t stream_at = in_.position();
    const std::uint8_t stream_type = in_.u8();
    if (stream_type == kSegment) return segment();
    if (stream_type != kEmptySegment) {
      in_.fail(stream_at, "merged state that is no segment: type " + std::to_string(stream_type));
    }
    return;
  }
  handle.delegate = stream();
  if (handle.delegate != nullptr) handles.push_back(std::move(handle));
}

// ---- Keyed state

void StateHandleReader::keyed_state(int depth, std::vector<KeyedStateHandlePtr>& handles) {
  const std::size_t start = in_.position();
  const std::uint8_t type = in_.u8();
  if (!in_.ok()) return;
  switch (type) {
    case kNull:
      return;
    case kKeyGroups:
    case kSavepointKeyGroups:
    case kKeyGroupsWithId:
      return key_groups_state(type, handles);
    case kIncrementalKeyGroups:
    case kIncrementalKeyGroupsWithId:
      return incremental_state(type, handles);
    case kChangelog:
    case kChangelogWithCheckpointId:
      if (depth >= kMaxDepth) return in_.fail(start, "changelogs nested too deeply");
      note(start, type, "keyed state of a changelog");
      return changelog(type, depth);
    case kChangelogBytes:
    case kChangelogFiles:
    case kChangelogFilesWithStorage:
      note(start, type, "changes of keyed state");
      return changes(type);
    default:
      in_.fail(start, "unknown type of keyed state: " + std::to_string(type));
  }
}

void StateHandleReader::key_groups_state(std::uint8_t type,
                                         std::vector<KeyedStateHandlePtr>& handles) {
  KeyGroupRangeOffsets range = key_groups(subtask_.max_parallelism);
  StreamStateHandlePtr handle = stream();
  std::string id = type == kKeyGroupsWithId ? in_.utf() : std::string();
  if (!in_.ok() || handle == nullptr) return;
  handles.push_back(std::make_shared<const KeyGroupsStateHandle>(
      std::move(range), std::move(handle), std::move(id),
      type == kSavepointKeyGroups ? KeyGroupsFormat::SAVEPOINT : KeyGroupsFormat::BACKEND));
}

void StateHandleReader::incremental_state(std::uint8_t type,
                                          std::vector<KeyedStateHandlePtr>& handles) {
  IncrementalRemoteKeyedStateHandle::Content content;
  content.checkpoint_id = in_.i64_from(0, "checkpoint id");
  content.backend_id = in_.utf();
  content.key_group_range = key_group_range(subtask_.max_parallelism, 0);
  if (type == kIncrementalKeyGroupsWithId) {
    content.persisted_bytes = in_.i64_from(-1, "size");
  }
  content.meta_state = stream();
  bool complete = content.meta_state != nullptr;
  for (auto* files : {&content.shared_state, &content.private_state}) {
    const std::size_t number = in_.count(kMinIncrementalFile, "files");
    for (std::size_t i = 0; i < number && in_.ok(); ++i) {
      std::string local_path = in_.utf();
      files->push_back({std::move(local_path), stream()});
      complete = complete && files->back().handle != nullptr;
    }
  }
  if (type == kIncrementalKeyGroupsWithId) content.state_handle_id = in_.utf();
  if (!in_.ok() || !complete) return;
  handles.push_back(std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content)));
}

void StateHandleReader::changelog(std::uint8_t type, int depth) {
  key_group_range(subtask_.max_parallelism, 1);
  in_.i64_from(-1, "size");
  std::vector<KeyedStateHandlePtr> unused;
  const std::size_t bases = in_.count(kMinHandle, "base handles");
  for (std::size_t i = 0; i < bases && in_.ok(); ++i) {
    keyed_state(depth + 1, unused);
    unused.clear();
  }
  const std::size_t number = in_.count(kMinHandle, "handles of changes");
  for (std::size_t i = 0; i < number && in_.ok(); ++i) {
    const std::size_t start = in_.position();
    const std::uint8_t change = in_.u8();
    if (change != kChangelogBytes && change != kChangelogFiles &&
        change != kChangelogFilesWithStorage) {
      in_.fail(start, "a handle that has no changes: type " + std::to_string(change));
    }
    if (in_.ok()) changes(change);
  }
  in_.i64();  // the materialization's id
  if (type == kChangelogWithCheckpointId) in_.i64();
  in_.utf();
}

void StateHandleReader::changes(std::uint8_t type) {
  key_group_range(subtask_.max_parallelism, 0);
  if (type == kChangelogBytes) {
    changelog_bytes();
  } else {
    changelog_files(type);
  }
}

void StateHandleReader::changelog_bytes() {
  in_.i64();  // sequence numbers: the first, and the one behind the last
  in_.i64();
  const std::size_t number = in_.count(kMinChange, "changes");
  for (std::size_t i = 0; i < number && in_.ok(); ++i) {
    in_.i32_from(-1, "key group");
    in_.raw(in_.count(1, "bytes of a change"));
  }
  in_.utf();
}

void StateHandleReader::changelog_files(std::uint8_t type) {
  const std::size_t number = in_.count(kMinChangeFile, "files of changes");
  for (std::size_t i = 0; i < number && in_.ok(); ++i) {
    in_.i64_from(0, "offset");
    stream();
  }
  in_.i64_from(-1, "size");
  in_.i64_from(-1, "size");
  in_.utf();
  if (type == kChangelogFilesWithStorage) in_.utf();
}

KeyGroupRangeOffsets StateHandleReader::key_groups(std::int32_t max_parallelism) {
  KeyGroupRangeOffsets result;
  const std::size_t start = in_.position();
  result.range = key_group_range(max_parallelism, 0);
  const auto size = static_cast<std::size_t>(result.range.size());
  if (in_.ok() && size > in_.remaining() / kOffsetBytes) {
    in_.fail(start, "impossible number of key groups: " + std::to_string(size));
  }
  if (!in_.ok()) return {};
  result.offsets = in_.offsets(size, -1);
  return result;
}

KeyGroupRange StateHandleReader::key_group_range(std::int32_t max_parallelism,
                                                 std::int64_t smallest_size) {
  const std::size_t start = in_.position();
  const std::int64_t first = in_.i32();
  const std::int64_t size = in_.i32();
  if (first < 0 || size < smallest_size || first + size > max_parallelism) {
    in_.fail(start, "key groups out of range");
  }
  if (!in_.ok() || size == 0) return {};
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + size - 1)};
}

// ---- Channel state

template <typename Info>
void StateHandleReader::channel_states(std::vector<ChannelStateHandle<Info>>& handles) {
  const std::size_t number = in_.count(kMinChannelHandle, "handles of channels");
  for (std::size_t i = 0; i < number && in_.ok(); ++i) {
    begin_handle();
    ChannelStateHandle<Info> handle;
    handle.subtask = in_.i32_from(0, "subtask index");
    const std::int32_t outer = in_.i32_from(0, "gate or partition index");
    handle.info = Info{outer, in_.i32_from(0, "channel index")};
    handle.offsets = in_.offsets(in_.count(kOffsetBytes, "offsets"), 0);
    handle.size_bytes = in_.i64_from(0, "size");
    handle.delegate = stream();
    if (handle.delegate != nullptr) handles.push_back(std::move(handle));
  }
}

// ---- Streams

StreamStateHandlePtr StateHandleReader::stream(int depth) {
  const std::size_t start = in_.position();
  const std::uint8_t type = in_.u8();
  if (!in_.ok()) return nullptr;
  switch (type) {
    case kByteStream: {
      ByteStreamStateHandle handle;
      handle.name = in_.utf();
      handle.bytes = in_.bytes32("bytes of state");
      return std::make_shared<const StreamStateHandle>(std::move(handle));
    }
    case kFile: {
      FileStateHandle handle;
      handle.size_bytes = in_.i64_from(-1, "size");
      handle.path = in_.utf();
      return std::make_shared<const StreamStateHandle>(std::move(handle));
    }
    case kRelativeFile: {
      FileStateHandle handle;
      handle.relative_path = in_.utf();
      handle.path =
          directory_.empty() ? handle.relative_path : directory_ + '/' + handle.relative_path;
      handle.size_bytes = in_.i64_from(-1, "size");
      return std::make_shared<const StreamStateHandle>(std::move(handle));
    }
    case kKeyGroups:
      if (depth >= kMaxDepth) break;
      // A keyed handle in the place of a stream handle: what counts is the stream in it.
      key_groups(subtask_.max_parallelism);
      return stream(depth + 1);
    case kSegment:
      note(start, type, "state in a segment of a file");
      segment();
      return nullptr;
    case kEmptySegment:
      note(start, type, "state in an empty segment of a file");
      return nullptr;
    default:
      break;
  }
  in_.fail(start, type == kNull        ? std::string("no handle where one must be")
                  : type == kKeyGroups ? std::string("handles nested too deeply")
                                       : "unknown type of stream: " + std::to_string(type));
  return nullptr;
}

void StateHandleReader::segment() {
  in_.i64_from(0, "start of a segment");
  in_.i64_from(0, "size of a segment");
  const std::size_t start = in_.position();
  const std::int32_t scope = in_.i32();
  if (scope != 0 && scope != 1) {
    in_.fail(start, "unknown scope of a segment: " + std::to_string(scope));
  }
  in_.utf();
  in_.utf();
}

}  // namespace tailrace::engine::metadata
