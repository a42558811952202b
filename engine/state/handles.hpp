// Handles: what a checkpoint remembers of state that lies elsewhere.
//
// Flink 1.10 StreamStateHandle (FileStateHandle, ByteStreamStateHandle), KeyedStateHandle,
// OperatorStateHandle, OperatorSubtaskState, TaskStateSnapshot (spec state.md 6, rescale.md 1.4).
// Handles are immutable and shared: one file may be referenced by several subtasks after a rescale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/ids.hpp"
#include "engine/network/channel_info.hpp"
#include "engine/state/inflight_data_rescaling.hpp"
#include "engine/state/key_group_range.hpp"
#include "engine/state/snapshot_seal.hpp"
#include "engine/state/subtask_states.hpp"

namespace tailrace::engine {

// A stream of bytes: in a file of the checkpoint store, or in line if it is small (1.10: below
// `state.backend.fs.memory-threshold`).
struct FileStateHandle {
  std::string path;
  std::int64_t size_bytes = 0;
  // 1.20 RelativeFileStateHandle: what metadata calls it, seen from its own directory, so that the
  // snapshot can be moved. Empty: its path.
  std::string relative_path = {};
  friend bool operator==(const FileStateHandle&, const FileStateHandle&) = default;
};
struct ByteStreamStateHandle {
  std::string name;
  std::vector<std::byte> bytes;
  friend bool operator==(const ByteStreamStateHandle&, const ByteStreamStateHandle&) = default;
};
// Stands for a shared file that an earlier checkpoint has uploaded, until the registry of shared
// state puts the file there. Only among the shared files of an incremental handle on its way to the
// job manager. 1.10 says neither which file it is (its name in the backend does) nor its size.
struct PlaceholderStreamStateHandle {
  std::string physical_id;  // stream_name() of the file that it stands for
  std::int64_t size_bytes = 0;
  friend bool operator==(const PlaceholderStreamStateHandle&,
                         const PlaceholderStreamStateHandle&) = default;
};
using StreamStateHandle =
    std::variant<FileStateHandle, ByteStreamStateHandle, PlaceholderStreamStateHandle>;
using StreamStateHandlePtr = std::shared_ptr<const StreamStateHandle>;

[[nodiscard]] std::int64_t state_size_bytes(const StreamStateHandle& handle);
// Path of the file, or name of the bytes: what identifies the stream (spec S-3.14).
[[nodiscard]] const std::string& stream_name(const StreamStateHandle& handle);
[[nodiscard]] inline bool is_placeholder(const StreamStateHandle& handle) {
  return std::holds_alternative<PlaceholderStreamStateHandle>(handle);
}
// What Flink's `equals` says: one kind, one name. Contents and sizes do not count.
[[nodiscard]] bool is_same_stream(const StreamStateHandle& a, const StreamStateHandle& b);
// Names of files, where they stand: they live as long as the handles that name them. A checkpoint has
// many, and who deletes it needs no copies.
using FileNames = std::vector<const std::string*>;

// Appends the path, if it is a file. Null: nothing.
void append_file(const StreamStateHandlePtr& stream, FileNames& paths);

// The bytes [begin, end) of a stream.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

class IncrementalRemoteKeyedStateHandle;

// Keyed state of one or more key groups. Sub-kinds differ in what an intersection does (S-3.17).
class KeyedStateHandle {
 public:
  virtual ~KeyedStateHandle() = default;
  [[nodiscard]] virtual KeyGroupRange key_group_range() const = 0;
  // 1.10: never null for key-groups handles, a disjoint range gives one with the empty range.
  // Incremental handles: the handle itself, or null.
  [[nodiscard]] virtual std::shared_ptr<const KeyedStateHandle> intersect(
      KeyGroupRange range) const = 0;
  [[nodiscard]] virtual std::int64_t state_size_bytes() const = 0;
  // Appends the names of all files that discarding this handle deletes. What a registry of shared
  // state watches over is not among them.
  virtual void append_private_files(FileNames& paths) const = 0;
  // Asks the processor for what a look at this handle will read; then, for what lies behind that. A
  // checkpoint has so many handles that waiting for memory is most of what walking over them costs.
  virtual void prefetch_parts() const {}
  virtual void prefetch_names() const {}
  // Null: it shares nothing with other checkpoints.
  [[nodiscard]] virtual const IncrementalRemoteKeyedStateHandle* as_incremental() const {
    return nullptr;
  }
};
using KeyedStateHandlePtr = std::shared_ptr<const KeyedStateHandle>;

// Who can restore a stream of key groups: the state backend that wrote it, or all of them (1.20
// KeyGroupsSavepointStateHandle, of canonical savepoints).
enum class KeyGroupsFormat : std::uint8_t { BACKEND, SAVEPOINT };

// Flink KeyGroupsStateHandle: one stream with an offset for each key group (heap snapshots).
class KeyGroupsStateHandle final : public KeyedStateHandle {
 public:
  // `state_handle_id`: 1.20; empty: none yet, and none at all in format SAVEPOINT.
  // Requires: a stream of these key groups alone, behind one header.
  KeyGroupsStateHandle(KeyGroupRangeOffsets offsets, StreamStateHandlePtr stream,
                       std::string state_handle_id = {},
                       KeyGroupsFormat format = KeyGroupsFormat::BACKEND);

  [[nodiscard]] KeyGroupRange key_group_range() const override { return offsets_.range; }
  [[nodiscard]] std::shared_ptr<const KeyedStateHandle> intersect(
      KeyGroupRange range) const override;
  // Of the whole stream, also after an intersection.
  [[nodiscard]] std::int64_t state_size_bytes() const override { return stream_bytes_; }
  void append_private_files(FileNames& paths) const override;
  void prefetch_parts() const override;
  void prefetch_names() const override;

  [[nodiscard]] const KeyGroupRangeOffsets& offsets() const { return offsets_; }
  [[nodiscard]] const StreamStateHandlePtr& stream() const { return stream_; }
  [[nodiscard]] const std::string& state_handle_id() const { return state_handle_id_; }
  [[nodiscard]] KeyGroupsFormat format() const { return format_; }
  // What a restore must fetch of the stream: the header, and the sections of the key groups, which
  // follow each other. Ascending and disjoint. Empty: everything, because the offsets do not tell.
  [[nodiscard]] std::vector<ByteRange> byte_ranges() const;

 private:
  KeyGroupRangeOffsets offsets_;
  StreamStateHandlePtr stream_;
  std::string state_handle_id_;
  KeyGroupsFormat format_;
  std::int64_t stream_bytes_;      // who asks for the size need not look at the stream
  std::int64_t header_end_ = 0;    // 0: not known
  std::int64_t sections_end_ = 0;  // behind the last key group's section
};

enum class DistributionMode : std::uint8_t { SPLIT_DISTRIBUTE, UNION, BROADCAST };

// Flink OperatorStreamStateHandle: one stream with the offsets of each named list in it.
struct OperatorStateHandle {
  struct StateMetaInfo {
    std::vector<std::int64_t> offsets;
    DistributionMode mode = DistributionMode::SPLIT_DISTRIBUTE;
    friend bool operator==(const StateMetaInfo&, const StateMetaInfo&) = default;
  };
  // In the order in which the names were registered or met; looked up by name.
  std::vector<std::pair<std::string, StateMetaInfo>> states;
  StreamStateHandlePtr delegate;
};

// Flink 1.20 AbstractChannelStateHandle: what was in flight in one channel when an unaligned checkpoint
// was taken. Many handles, also of other subtasks, name the same stream.
template <typename Info>
struct ChannelStateHandle {
  std::int32_t subtask = 0;  // who wrote it
  Info info;
  std::vector<std::int64_t> offsets;  // of its buffers in the stream, ascending
  std::int64_t size_bytes = 0;        // of its buffers, each with a length field
  StreamStateHandlePtr delegate;
};
using InputChannelStateHandle = ChannelStateHandle<InputChannelInfo>;
using ResultSubpartitionStateHandle = ChannelStateHandle<ResultSubpartitionInfo>;

struct OperatorSubtaskState {
  std::vector<OperatorStateHandle> managed_operator;
  std::vector<OperatorStateHandle> raw_operator;
  std::vector<KeyedStateHandlePtr> managed_keyed;
  std::vector<KeyedStateHandlePtr> raw_keyed;
  // 1.20. Of the head of a chain, and of its tail.
  std::vector<InputChannelStateHandle> input_channels = {};
  std::vector<ResultSubpartitionStateHandle> result_subpartitions = {};

  [[nodiscard]] bool has_state() const {
    return !managed_operator.empty() || !raw_operator.empty() || !managed_keyed.empty() ||
           !raw_keyed.empty() || !input_channels.empty() || !result_subpartitions.empty();
  }
  // Of the buffers in flight alone.
  [[nodiscard]] std::int64_t channel_state_size_bytes() const;
  [[nodiscard]] std::int64_t state_size_bytes() const;
  void append_private_files(FileNames& paths) const;
  // Whether anything of it may be shared with other checkpoints.
  [[nodiscard]] bool shares_state() const;
  // The handle, if it is all that there is; else null.
  [[nodiscard]] const KeyGroupsStateHandle* sole_key_groups() const;
};

// State of one subtask of one vertex: one entry for each operator of the chain.
struct TaskStateSnapshot {
  // What every acknowledgement looks at comes first, in as few cache lines as may be.
  [[no_unique_address]] SnapshotSeal seal = {};
  // Flink 1.20: the task was restored as finished and holds nothing, which counts as state;
  // or all its operators have finished, which does not.
  bool is_task_deployed_as_finished = false;
  bool is_task_finished = false;
  std::map<OperatorId, OperatorSubtaskState> operators;

  // Takes the notes that the seal keeps. From now on it must not change any more.
  void take_notes();

  [[nodiscard]] bool has_state() const;
  [[nodiscard]] std::int64_t state_size_bytes() const;
  void append_private_files(FileNames& paths) const;
  [[nodiscard]] bool shares_state() const;
};

// State of one operator in a checkpoint. Flink OperatorState (S-1.10).
struct OperatorState {
  OperatorId id;
  std::int32_t parallelism = 0;
  std::int32_t max_parallelism = 0;
  SubtaskStates subtasks;
  // Flink 1.20. Of the operator's coordinator on the job manager; none: it has none.
  std::optional<std::vector<std::byte>> coordinator_state = std::nullopt;
  // FullyFinishedOperatorState: all subtasks had finished; then nothing else is stored.
  bool fully_finished = false;
  // FinishedOperatorSubtaskState: these had finished, others not.
  std::set<std::int32_t> finished_subtasks = {};
};

// What a restored subtask starts from. Flink JobManagerTaskRestore (S-1.14).
struct JobManagerTaskRestore {
  CheckpointId restore_checkpoint_id = kNoCheckpoint;
  TaskStateSnapshot snapshot;
  // 1.20. How buffers in flight are taken over if parallelisms have changed.
  InflightDataRescalingDescriptor input_rescaling = {};
  InflightDataRescalingDescriptor output_rescaling = {};
};

}  // namespace tailrace::engine
