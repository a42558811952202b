#include "engine/checkpoint/completed_checkpoint.hpp"

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
