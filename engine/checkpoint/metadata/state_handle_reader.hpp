// Reads the state handles of a subtask entry.
//
// Flink 1.20 MetadataV2V3SerializerBase, ChannelStateHandleSerializerV1 (spec metadata-format.md 5 to
// 9). Which kinds of handles occur does not depend on the format version. A kind that the engine has
// no type for is read to its end all the same, checked like any other, and noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"
#include "engine/checkpoint/metadata/metadata_input.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine::metadata {

class StateHandleReader {
 public:
  struct Subtask {
    OperatorId operator_id;
    std::int32_t index = 0;
    std::int32_t max_parallelism = 0;
  };

  // `in` outlives this. `directory`: of the file.
  StateHandleReader(MetadataInput& in, std::string directory)
      : in_(in), directory_(std::move(directory)) {}

  // Its name, which is the operator's id, is not kept.
  std::optional<std::vector<std::byte>> coordinator_state();
  OperatorSubtaskState subtask_state(const Subtask& subtask, bool with_channels);

  [[nodiscard]] std::vector<UnsupportedState> take_left_out() { return std::move(left_out_); }

 private:
  void begin_handle() { noted_ = false; }
  void note(std::size_t offset, std::optional<int> type, const char* kind);

  void operator_state(std::vector<OperatorStateHandle>& handles);
  void keyed_state(int depth, std::vector<KeyedStateHandlePtr>& handles);
  void key_groups_state(std::uint8_t type, std::vector<KeyedStateHandlePtr>& handles);
  void incremental_state(std::uint8_t type, std::vector<KeyedStateHandlePtr>& handles);
  void changelog(std::uint8_t type, int depth);
  void changes(std::uint8_t type);
  void changelog_bytes();
  void changelog_files(std::uint8_t type);
  template <typename Info>
  void channel_states(std::vector<ChannelStateHandle<Info>>& handles);

  KeyGroupRange key_group_range(std::int32_t max_parallelism, std::int64_t smallest_size);
  KeyGroupRangeOffsets key_groups(std::int32_t max_parallelism);

  // Null: an error, or a kind without a type, which is noted.
  StreamStateHandlePtr stream(int depth = 0);
  void segment();

  MetadataInput& in_;
  std::string directory_;
  Subtask subtask_;
  bool noted_ = false;  // the handle that is being read is in left_out_
  std::vector<UnsupportedState> left_out_;
};

}  // namespace tailrace::engine::metadata
