#include "engine/checkpoint/completed_checkpoint.hpp"

#include <algorithm>

namespace tailrace::engine {

std::int64_t state_size_bytes(const OperatorStates& states) {
  std::int64_t bytes = 0;
  for (const auto& [id, state] : states) {
    for (const auto& [subtask, subtask_state] : state.subtasks) {
      bytes += subtask_state.state_size_bytes();
    }
  }
  return bytes;
}

void append_private_files(const OperatorStates& states, std::vector<std::string>& paths) {
  for (const auto& [id, state] : states) {
    for (const auto& [subtask, subtask_state] : state.subtasks) {
      subtask_state.append_private_files(paths);
    }
  }
}

bool shares_state(const OperatorStates& states) {
  const auto shares = [](const KeyedStateHandlePtr& handle) {
    return handle != nullptr && handle->as_incremental() != nullptr;
  };
  return std::any_of(states.begin(), states.end(), [&shares](const auto& state) {
    return std::any_of(
        state.second.subtasks.begin(), state.second.subtasks.end(), [&shares](const auto& subtask) {
          const OperatorSubtaskState& own = subtask.second;
          return std::any_of(own.managed_keyed.begin(), own.managed_keyed.end(), shares) ||
                 std::any_of(own.raw_keyed.begin(), own.raw_keyed.end(), shares);
        });
  });
}

std::int64_t CompletedCheckpoint::state_size_bytes() const {
  return engine::state_size_bytes(operator_states);
}

void CompletedCheckpoint::append_private_files(std::vector<std::string>& paths) const {
  engine::append_private_files(operator_states, paths);
}

void discard_completed_checkpoint(const CompletedCheckpoint& checkpoint,
                                  CheckpointStorage& storage) {
  storage.discard_file(checkpoint.location.metadata_path());
  std::vector<std::string> paths;
  checkpoint.append_private_files(paths);
  for (const std::string& path : paths) storage.discard_file(path);
  storage.dispose_completed(checkpoint.location);
  if (checkpoint.statistics != nullptr) checkpoint.statistics->set_discarded();
}

}  // namespace tailrace::engine
