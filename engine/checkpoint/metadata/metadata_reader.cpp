#include "engine/checkpoint/metadata/metadata_reader.hpp"

#include <algorithm>
#include <utility>

#include "engine/checkpoint/metadata/metadata_format.hpp"
#include "engine/checkpoint/metadata/metadata_input.hpp"
#include "engine/checkpoint/metadata/properties_section.hpp"
#include "engine/checkpoint/metadata/state_handle_reader.hpp"

namespace tailrace::engine {
namespace {

using namespace metadata;

class MetadataReader {
 public:
  MetadataReader(std::span<const std::byte> bytes, const MetadataReadOptions& options)
      : in_(bytes), handles_(in_, options.directory) {}

  base::Result<MetadataReading, MetadataError> read() {
    if (in_.u32() != kHeaderMagic) in_.fail(0, "this is no _metadata file");
    version();
    result_.metadata.checkpoint_id = in_.i64_from(0, "checkpoint id");
    const std::size_t masters = in_.count(kMinMasterState, "master states");
    for (std::size_t i = 0; i < masters && in_.ok(); ++i) master_state();
    const std::size_t operators =
        in_.count(has_coordinators() ? kMinOperatorV3 : kMinOperatorV2, "operators");
    for (std::size_t i = 0; i < operators && in_.ok(); ++i) operator_entry();
    if (result_.version == kVersion4) result_.metadata.properties = read_properties(in_);
    if (!in_.at_end()) in_.fail(in_.position(), "bytes left over at the end");
    if (!in_.ok()) return base::Failure{in_.error()};
    result_.left_out = handles_.take_left_out();
    return std::move(result_);
  }

 private:
  // What version 3 brought.
  [[nodiscard]] bool has_coordinators() const { return result_.version >= kVersion3; }

  void version() {
    const std::size_t start = in_.position();
    result_.version = in_.i32();
    if (result_.version == kVersion1) {
      in_.fail(start,
               "format version 1, of Flink 1.2, which files tasks instead of operators: take the "
               "savepoint again with Flink 1.3 or later");
    } else if (result_.version < kVersion2 || result_.version > kVersion4) {
      in_.fail(start, "format version " + std::to_string(result_.version) +
                          ", which is not known: 2 to 4 are");
    }
  }

  void master_state() {
    const std::size_t start = in_.position();
    if (in_.u32() != kMasterStateMagic) in_.fail(start, "no master state here");
    const std::size_t length = in_.count(1, "bytes of a master state");
    if (length < kMinMasterStateBody) in_.fail(start, "a master state is too short");
    if (!in_.ok()) return;
    const std::size_t outer_end = in_.enter(length);
    MasterState state;
    state.version = in_.i32();
    state.name = in_.utf();
    state.bytes = in_.bytes32("bytes of a master state");
    if (!in_.at_end()) in_.fail(in_.position(), "bytes left over in a master state");
    in_.leave(outer_end);
    result_.metadata.master_states.push_back(std::move(state));
  }

  void operator_entry() {
    const std::size_t start = in_.position();
    OperatorState state;
    const auto id = in_.raw(state.id.bytes.size());
    std::transform(id.begin(), id.end(), state.id.bytes.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    const std::size_t parallelism_at = in_.position();
    state.parallelism = in_.i32();
    state.max_parallelism = in_.i32();
    if (state.parallelism < 1 || state.parallelism > state.max_parallelism ||
        state.max_parallelism > kMaxParallelism) {
      in_.fail(parallelism_at, "impossible parallelism " + std::to_string(state.parallelism) +
                                   " of " + std::to_string(state.max_parallelism));
    }
    if (has_coordinators()) {
      state.coordinator_state = handles_.coordinator_state();
    } else {
      const std::size_t chain = in_.position();
      if (in_.i32() != 1) in_.fail(chain, "a chain of more than one operator");
    }
    subtasks(state);
    if (!in_.ok()) return;
    const OperatorId key = state.id;
    if (!result_.metadata.operator_states.emplace(key, std::move(state)).second) {
      in_.fail(start, "operator " + key.hex() + " occurs twice");
    }
  }

  void subtasks(OperatorState& state) {
    const std::size_t start = in_.position();
    if (has_coordinators() && next_is_fully_finished()) {
      in_.i32();
      if (state.coordinator_state.has_value()) {
        in_.fail(start, "a fully finished operator with coordinator state");
      }
      state.fully_finished = true;
      return;
    }
    const std::size_t entries =
        in_.count(has_coordinators() ? kMinSubtaskV3 : kMinSubtaskV2, "subtasks");
    if (in_.ok() && entries > static_cast<std::size_t>(state.parallelism)) {
      in_.fail(start, "more subtasks than the parallelism");
    }
    for (std::size_t i = 0; i < entries && in_.ok(); ++i) subtask_entry(state);
  }

  // Looks at the number of subtasks without taking it.
  [[nodiscard]] bool next_is_fully_finished() const {
    MetadataInput ahead = in_;
    return ahead.i32() == kFullyFinished;
  }

  void subtask_entry(OperatorState& state) {
    const std::size_t start = in_.position();
    std::int32_t index = in_.i32();
    const bool finished = has_coordinators() && index < 0;
    if (finished) index = -(index + 1);
    if (index < 0 || index >= state.parallelism) in_.fail(start, "subtask index out of range");
    if (state.subtasks.contains(index) || state.finished_subtasks.contains(index)) {
      in_.fail(start, "subtask " + std::to_string(index) + " occurs twice");
    }
    if (!in_.ok()) return;
    if (finished) {
      state.finished_subtasks.insert(index);
      return;
    }
    if (!has_coordinators()) {
      in_.i64();  // a duration that nobody uses
      const std::size_t legacy = in_.position();
      if (in_.count(kMinHandle, "handles of Flink 1.1") != 0) {
        in_.fail(legacy, "state of Flink 1.1, which releases from 1.4 on cannot read either");
      }
    }
    state.subtasks.emplace(index, handles_.subtask_state({state.id, index, state.max_parallelism},
                                                         has_coordinators()));
  }

  MetadataInput in_;
  StateHandleReader handles_;
  MetadataReading result_;
};

std::string describe(const UnsupportedState& state) {
  const std::string type =
      state.type.has_value() ? " (type " + std::to_string(*state.type) + ")" : std::string();
  return state.kind + type + " of operator " + state.operator_id.hex() + ", subtask " +
         std::to_string(state.subtask) + ", which this engine has no handle for";
}

}  // namespace

base::Result<MetadataReading, MetadataError> read_checkpoint_metadata(
    std::span<const std::byte> bytes, const MetadataReadOptions& options) {
  if (bytes.size() > options.max_bytes) {
    return base::Failure{MetadataError{0, "the file has " + std::to_string(bytes.size()) +
                                              " bytes, more than the limit of " +
                                              std::to_string(options.max_bytes)}};
  }
  return MetadataReader(bytes, options).read();
}

base::Result<CheckpointMetadata, MetadataError> load_checkpoint_metadata(
    std::span<const std::byte> bytes, const MetadataReadOptions& options) {
  auto reading = read_checkpoint_metadata(bytes, options);
  if (!reading.ok()) return base::Failure{reading.error()};
  if (!reading.value().left_out.empty()) {
    const UnsupportedState& first = reading.value().left_out.front();
    return base::Failure{MetadataError{first.offset, describe(first)}};
  }
  return std::move(reading).value().metadata;
}

}  // namespace tailrace::engine
