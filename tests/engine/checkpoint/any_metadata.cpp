#include "tests/engine/checkpoint/any_metadata.hpp"

#include <memory>
#include <string>
#include <utility>

#include <rapidcheck.h>

#include "engine/state/incremental_remote_keyed_state_handle.hpp"

namespace tailrace::engine::test {
namespace {

class AnyHandles {
 public:
  explicit AnyHandles(int version) : is_120_(version == 4) {}

  OperatorSubtaskState subtask_state() {
    OperatorSubtaskState state;
    if (coin()) state.managed_operator.push_back(operator_state());
    if (coin()) state.raw_operator.push_back(operator_state());
    if (coin()) state.managed_keyed.push_back(keyed_state());
    if (coin()) state.raw_keyed.push_back(keyed_state());
    if (is_120_) {
      channel_states(state.input_channels);
      channel_states(state.result_subpartitions);
    }
    return state;
  }

  OperatorState operator_entry(OperatorId id) {
    OperatorState state{id, *rc::gen::inRange(1, 5), 128, {}};
    if (is_120_ && *rc::gen::inRange(0, 4) == 0) {
      state.fully_finished = true;
      return state;
    }
    if (is_120_ && coin()) {
      state.coordinator_state = bytes_of(*rc::gen::arbitrary<std::string>());
    }
    for (int subtask = 0; subtask < state.parallelism; ++subtask) {
      const int kind = *rc::gen::inRange(0, is_120_ ? 3 : 2);
      if (kind == 1) state.subtasks.emplace(subtask, subtask_state());
      if (kind == 2) state.finished_subtasks.insert(subtask);
    }
    return state;
  }

 private:
  static bool coin() { return *rc::gen::arbitrary<bool>(); }

  StreamStateHandlePtr stream() {
    if (!coin()) {
      return std::make_shared<StreamStateHandle>(
          ByteStreamStateHandle{"in line", bytes_of(*rc::gen::arbitrary<std::string>())});
    }
    FileStateHandle file;
    const auto name = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
    if (is_120_ && coin()) file.relative_path = "f" + name;
    file.path = "/checkpoints/chk-1/f" + name;
    file.size_bytes = *rc::gen::inRange<std::int64_t>(-1, 1'000'000'000'000);
    return std::make_shared<StreamStateHandle>(std::move(file));
  }

  template <typename Info>
  void channel_states(std::vector<ChannelStateHandle<Info>>& handles) {
    const int number = *rc::gen::inRange(0, 3);
    for (int i = 0; i < number; ++i) {
      ChannelStateHandle<Info> handle;
      handle.subtask = *rc::gen::inRange(0, 5);
      handle.info = Info{*rc::gen::inRange(0, 3), i};
      handle.offsets = *rc::gen::container<std::vector<std::int64_t>>(
          rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40));
      handle.size_bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
      handle.delegate = stream();
      handles.push_back(std::move(handle));
    }
  }

  OperatorStateHandle operator_state() {
    OperatorStateHandle handle;
    const int names = *rc::gen::inRange(0, 4);
    for (int i = 0; i < names; ++i) {
      OperatorStateHandle::StateMetaInfo info;
      info.offsets = *rc::gen::container<std::vector<std::int64_t>>(
          rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40));
      info.mode = static_cast<DistributionMode>(*rc::gen::inRange(0, 3));
      handle.states.emplace_back("state " + std::to_string(i), std::move(info));
    }
    handle.delegate = stream();
    return handle;
  }

  std::string handle_id() {
    return is_120_ ? "id-" + std::to_string(*rc::gen::inRange(0, 1000)) : std::string();
  }

  KeyedStateHandlePtr keyed_state() {
    const int first = *rc::gen::inRange(0, 100);
    const int size = *rc::gen::inRange(0, 28);
    const KeyGroupRange range =
        size == 0 ? KeyGroupRange{} : KeyGroupRange{first, first + size - 1};
    if (coin()) return incremental_state(range);
    KeyGroupRangeOffsets offsets{range, {}};
    for (int i = 0; i < size; ++i) {
      offsets.offsets.push_back(*rc::gen::inRange<std::int64_t>(-1, 1'000'000));
    }
    if (is_120_ && coin()) {
      return std::make_shared<KeyGroupsStateHandle>(std::move(offsets), stream(), std::string(),
                                                    KeyGroupsFormat::SAVEPOINT);
    }
    return std::make_shared<KeyGroupsStateHandle>(std::move(offsets), stream(), handle_id());
  }

  KeyedStateHandlePtr incremental_state(KeyGroupRange range) {
    IncrementalRemoteKeyedStateHandle::Content content;
    content.backend_id = "7f0fd6a2-2a44-4b6d-9b2e-b0a5f2d6e0c1";
    content.key_group_range = range;
    content.checkpoint_id = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50);
    content.meta_state = stream();
    for (auto* files : {&content.shared_state, &content.private_state}) {
      const int number = *rc::gen::inRange(0, 4);
      for (int i = 0; i < number; ++i) files->push_back({std::to_string(i) + ".sst", stream()});
    }
    content.state_handle_id = handle_id();
    if (is_120_) content.persisted_bytes = *rc::gen::inRange<std::int64_t>(-1, 1'000'000);
    return std::make_shared<const IncrementalRemoteKeyedStateHandle>(std::move(content));
  }

  bool is_120_;
};

}  // namespace

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

OperatorId operator_id(std::uint8_t number) {
  OperatorId id;
  id.bytes[0] = number;
  return id;
}

CheckpointProperties any_properties() {
  CheckpointProperties properties;
  properties.type = *rc::gen::element(CheckpointType::CHECKPOINT, CheckpointType::FULL_CHECKPOINT,
                                      CheckpointType::SAVEPOINT, CheckpointType::SAVEPOINT_SUSPEND,
                                      CheckpointType::SAVEPOINT_TERMINATE);
  if (properties.is_savepoint()) {
    properties.format =
        *rc::gen::element(SavepointFormatType::CANONICAL, SavepointFormatType::NATIVE);
  }
  for (bool* flag : {&properties.forced, &properties.unclaimed, &properties.discard_on_subsumed,
                     &properties.discard_on_finished, &properties.discard_on_cancelled,
                     &properties.discard_on_failed, &properties.discard_on_suspended}) {
    *flag = *rc::gen::arbitrary<bool>();
  }
  return properties;
}

CheckpointMetadata any_metadata(int version) {
  CheckpointMetadata metadata;
  metadata.checkpoint_id = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50);
  const int hooks = *rc::gen::inRange(0, 3);
  for (int i = 0; i < hooks; ++i) {
    metadata.master_states.push_back({*rc::gen::arbitrary<std::int32_t>(),
                                      "hook " + std::to_string(i),
                                      bytes_of(*rc::gen::arbitrary<std::string>())});
  }
  AnyHandles any(version);
  const int operators = *rc::gen::inRange(0, 4);
  for (int i = 0; i < operators; ++i) {
    const OperatorId id = operator_id(static_cast<std::uint8_t>(i));
    metadata.operator_states.emplace(id, any.operator_entry(id));
  }
  if (version == 4 && *rc::gen::arbitrary<bool>()) metadata.properties = any_properties();
  return metadata;
}

}  // namespace tailrace::engine::test
