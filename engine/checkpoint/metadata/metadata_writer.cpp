#include "engine/checkpoint/metadata/metadata_writer.hpp"

#include <string>
#include <typeinfo>
#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_output.hpp"
#include "engine/checkpoint/metadata/properties_section.hpp"
#include "engine/state/f120/name_uuid.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "engine/state/prefetch.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine::metadata {
namespace {

const OperatorSubtaskState kNothing;

class MetadataWriter {
 public:
  MetadataWriter(std::int32_t version, const MetadataWriting& writing)
      : version_(version), expected_(writing.expected_bytes > 0), inventory_(writing.inventory) {
    // A little more, lest a longer number costs a copy of everything.
    if (expected_) {
      out_.make_room(writing.expected_bytes + writing.expected_bytes / 64 + 64);
    }
  }

  MetadataOutput& out() { return out_; }

  void master_state(const MasterState& state) {
    MetadataOutput body;
    body.i32(state.version);
    body.utf(state.name);
    body.bytes32(state.bytes);
    out_.u32(kMasterStateMagic);
    out_.bytes32(body.take());
  }

  void operator_entry(const OperatorState& state) {
    out_.raw(std::as_bytes(std::span(state.id.bytes)));
    out_.i32(state.parallelism);
    out_.i32(state.max_parallelism);
    if (version_ == kVersion2) {
      TAILRACE_ASSERT(!state.coordinator_state && !state.fully_finished &&
                      state.finished_subtasks.empty());
      out_.i32(1);  // chain length: version 2 files one operator at a time
    } else {
      coordinator_state(state);
      if (state.fully_finished) {
        TAILRACE_ASSERT(state.subtasks.empty() && state.finished_subtasks.empty());
        return out_.i32(kFullyFinished);
      }
    }
    subtasks(state);
  }

 private:
  void coordinator_state(const OperatorState& state) {
    if (!state.coordinator_state.has_value()) return out_.u8(kNull);
    TAILRACE_ASSERT(!state.fully_finished);
    out_.u8(kByteStream);
    out_.utf(state.id.hex());  // Flink 1.20 OperatorCoordinatorCheckpoints
    out_.bytes32(*state.coordinator_state);
    if (inventory_ != nullptr) inventory_->add_coordinator_state(state.coordinator_state->size());
  }

  void subtasks(const OperatorState& state) {
    out_.count(state.subtasks.size() + state.finished_subtasks.size());
    auto finished = state.finished_subtasks.begin();
    std::size_t left = state.subtasks.size();
    if (inventory_ != nullptr) inventory_->reserve(left);
    const auto write_finished = [&](std::int32_t below) {
      for (; finished != state.finished_subtasks.end() && *finished < below; ++finished) {
        out_.i32(-(*finished + 1));
      }
    };
    for (std::size_t rank = 0; rank < state.subtasks.size(); ++rank) {
      prefetch_ahead(state.subtasks, rank);
      const std::int32_t index = state.subtasks.number(rank);
      const KeyGroupsStateHandle* const sole = state.subtasks.sole_key_groups(rank);
      TAILRACE_ASSERT(!state.finished_subtasks.contains(index));
      write_finished(index);
      const std::size_t begin = out_.size();
      if (sole != nullptr) {
        // Looking at the state would cost as much as writing it.
        subtask_entry(index, kNothing, sole);
        if (inventory_ != nullptr) inventory_->add(*sole);
      } else {
        const OperatorSubtaskState& subtask = *state.subtasks.state(rank);
        subtask_entry(index, subtask, nullptr);
        if (inventory_ != nullptr) inventory_->add(subtask);
      }
      // Subtasks of one operator look much alike.
      if (left-- == state.subtasks.size() && !expected_) {
        out_.make_room(left, out_.size() - begin);
      }
    }
    write_finished(state.parallelism);
  }

  // `sole`: managed keyed state beside `state`, which then is without; or null.
  void subtask_entry(std::int32_t index, const OperatorSubtaskState& state,
                     const KeyGroupsStateHandle* sole) {
    out_.i32(index);
    if (version_ == kVersion2) {
      out_.i64(kNoDuration);
      out_.count(0);  // states of Flink 1.1
    }
    operator_states(state.managed_operator);
    operator_states(state.raw_operator);
    if (sole != nullptr) {
      key_groups(*sole);
    } else {
      keyed_state(state.managed_keyed);
    }
    keyed_state(state.raw_keyed);
    if (version_ == kVersion2) {
      TAILRACE_ASSERT(state.input_channels.empty() && state.result_subpartitions.empty());
      return;
    }
    out_.count(state.input_channels.size());
    for (const auto& handle : state.input_channels) {
      channel_state(handle, handle.info.gate, handle.info.channel);
    }
    out_.count(state.result_subpartitions.size());
    for (const auto& handle : state.result_subpartitions) {
      channel_state(handle, handle.info.partition, handle.info.subpartition);
    }
  }

  template <typename Info>
  void channel_state(const ChannelStateHandle<Info>& handle, std::int32_t outer,
                     std::int32_t inner) {
    out_.i32(handle.subtask);
    out_.i32(outer);
    out_.i32(inner);
    out_.count(handle.offsets.size());
    out_.i64s(handle.offsets);
    out_.i64(handle.size_bytes);
    stream(*handle.delegate);
  }

  void operator_states(const std::vector<OperatorStateHandle>& handles) {
    TAILRACE_ASSERT(handles.size() <= 1);
    out_.count(handles.size());  // a flag in Flink's eyes
    for (const OperatorStateHandle& handle : handles) {
      out_.u8(kPartitionableOperatorState);
      out_.count(handle.states.size());
      for (const auto& [name, info] : handle.states) {
        out_.utf(name);
        out_.u8(static_cast<std::uint8_t>(info.mode));
        out_.count(info.offsets.size());
        out_.i64s(info.offsets);
      }
      stream(*handle.delegate);
    }
  }

  void keyed_state(const std::vector<KeyedStateHandlePtr>& handles) {
    TAILRACE_ASSERT(handles.size() <= 1);
    if (handles.empty()) return out_.u8(kNull);
    TAILRACE_ASSERT(handles.front() != nullptr);
    const KeyedStateHandle& keyed = *handles.front();
    if (const auto* incremental = keyed.as_incremental()) {
      return incremental_state(incremental->content());
    }
    TAILRACE_ASSERT(typeid(keyed) == typeid(KeyGroupsStateHandle));
    key_groups(static_cast<const KeyGroupsStateHandle&>(keyed));
  }

  void key_groups(const KeyGroupsStateHandle& handle) {
    const bool savepoint = handle.format() == KeyGroupsFormat::SAVEPOINT;
    const bool with_id = version_ != kVersion2 && !savepoint;
    out_.u8(version_ == kVersion2 ? kKeyGroups
            : savepoint           ? kSavepointKeyGroups
                                  : kKeyGroupsWithId);
    out_.i32(handle.key_group_range().first);
    out_.i32(handle.key_group_range().size());
    out_.i64s(handle.offsets().offsets);
    stream(*handle.stream());
    if (with_id) handle_id(handle.state_handle_id(), *handle.stream());
  }

  void incremental_state(const IncrementalRemoteKeyedStateHandle::Content& content) {
    out_.u8(version_ == kVersion2 ? kIncrementalKeyGroups : kIncrementalKeyGroupsWithId);
    out_.i64(content.checkpoint_id);
    out_.utf(content.backend_id);
    out_.i32(content.key_group_range.first);
    out_.i32(content.key_group_range.size());
    if (version_ != kVersion2) out_.i64(content.persisted_bytes);
    stream(*content.meta_state);
    for (const auto* files : {&content.shared_state, &content.private_state}) {
      out_.count(files->size());
      for (const auto& file : *files) {
        out_.utf(file.local_path);
        stream(*file.handle);
      }
    }
    if (version_ != kVersion2) handle_id(content.state_handle_id, *content.meta_state);
  }

  // Flink gives each handle a random id when it is made, and tasks of 1.20 do so here. A handle that
  // was loaded from a format without ids gets the one that it would have got then.
  void handle_id(const std::string& id, const StreamStateHandle& stream) {
    out_.utf(id.empty() ? name_uuid(stream_name(stream)) : id);
  }

  void stream(const StreamStateHandle& handle) {
    TAILRACE_ASSERT(!is_placeholder(handle));
    if (const auto* in_line = std::get_if<ByteStreamStateHandle>(&handle)) {
      out_.u8(kByteStream);
      out_.utf(in_line->name);
      return out_.bytes32(in_line->bytes);
    }
    const auto& file = std::get<FileStateHandle>(handle);
    if (version_ == kVersion2 || file.relative_path.empty()) {
      out_.u8(kFile);
      out_.i64(file.size_bytes);
      return out_.utf(file.path);
    }
    out_.u8(kRelativeFile);
    out_.utf(file.relative_path);
    out_.i64(file.size_bytes);
  }

  std::int32_t version_;
  bool expected_;
  StateInventory* inventory_;
  MetadataOutput out_;
};

}  // namespace

std::vector<std::byte> write_metadata(std::int32_t version, CheckpointId id,
                                      const std::vector<MasterState>& master_states,
                                      const OperatorStates& operator_states,
                                      const std::optional<CheckpointProperties>& properties,
                                      const MetadataWriting& writing) {
  TAILRACE_ASSERT(version == kVersion2 || version == kVersion4);
  MetadataWriter writer(version, writing);
  MetadataOutput& out = writer.out();
  out.u32(kHeaderMagic);
  out.i32(version);
  out.i64(id);
  out.count(master_states.size());
  for (const MasterState& state : master_states) writer.master_state(state);
  out.count(operator_states.size());
  for (const auto& [operator_id, state] : operator_states) writer.operator_entry(state);
  if (version == kVersion4) write_properties(out, properties);
  return out.take();
}

}  // namespace tailrace::engine::metadata
