#include "engine/checkpoint/completed_checkpoint.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

std::int64_t state_size_bytes(const OperatorStates& states) {
  std::int64_t bytes = 0;
  for (const auto& [id, state] : states) {
    if (state.coordinator_state)
      bytes += static_cast<std::int64_t>(state.coordinator_state->size());
    for (const auto& [subtask, subtask_state] : state.subtasks) {
      bytes += subtask_state.state_size_bytes();
    }
  }
  return bytes;
}

void append_private_files(const OperatorStates& states, FileNames& paths) {
  for (const auto& [id, state] : states) {
    for (const auto& [subtask, subtask_state] : state.subtasks) {
      subtask_state.append_private_files(paths);
    }
  }
}

bool shares_state(const OperatorStates& states) {
  return std::any_of(states.begin(), states.end(), [](const auto& entry) {
    const SubtaskStates& subtasks = entry.second.subtasks;
    return std::any_of(subtasks.begin(), subtasks.end(),
                       [](const auto& subtask) { return subtask.second.shares_state(); });
  });
}

bool names_placeholders(const OperatorStates& states) {
  const auto names_one = [](const KeyedStateHandlePtr& handle) {
    const auto* incremental = handle == nullptr ? nullptr : handle->as_incremental();
    if (incremental == nullptr) return false;
    const auto& files = incremental->content().shared_state;
    return std::any_of(files.begin(), files.end(),
                       [](const auto& file) { return is_placeholder(*file.handle); });
  };
  for (const auto& [id, state] : states) {
    for (const auto& [number, subtask] : state.subtasks) {
      for (const auto* handles : {&subtask.managed_keyed, &subtask.raw_keyed}) {
        if (std::any_of(handles->begin(), handles->end(), names_one)) return true;
      }
    }
  }
  return false;
}

std::int64_t CompletedCheckpoint::state_size_bytes() const {
  const StateInventory* known = inventory.get();
  return known != nullptr ? known->state_size_bytes() : engine::state_size_bytes(operator_states);
}

void CompletedCheckpoint::append_private_files(FileNames& paths) const {
  const StateInventory* known = inventory.get();
  if (known == nullptr) return engine::append_private_files(operator_states, paths);
  paths.insert(paths.end(), known->private_files().begin(), known->private_files().end());
}

bool CompletedCheckpoint::shares_state() const {
  const StateInventory* known = inventory.get();
  return known != nullptr ? known->shares_state() : engine::shares_state(operator_states);
}

namespace {

FileNames files_of(const CompletedCheckpoint& checkpoint) {
  FileNames paths;
  checkpoint.append_private_files(paths);
  return paths;
}

// The names that occur in both, in order.
std::set<std::string> common_files(const FileNames& a, const FileNames& b) {
  std::set<std::string_view> names;
  for (const std::string* name : a) names.insert(*name);
  std::set<std::string> common;
  for (const std::string* name : b) {
    if (names.contains(*name)) common.insert(*name);
  }
  return common;
}

// As a rule checkpoints have directories of their own, and no name needs to be looked at.
bool are_apart(const CompletedCheckpoint& a, const CompletedCheckpoint& b) {
  const StateInventory* of_a = a.inventory.get();
  const StateInventory* of_b = b.inventory.get();
  return of_a != nullptr && of_b != nullptr && of_a->all_in_directory() &&
         of_b->all_in_directory() && of_a->directory() != of_b->directory();
}

void discard_files(const CompletedCheckpoint& checkpoint, const FileNames& paths,
                   CheckpointStorage& storage) {
  storage.discard_file(checkpoint.location.metadata_path());
  for (const std::string* path : paths) storage.discard_file(*path);
  storage.dispose_completed(checkpoint.location);
  if (checkpoint.statistics != nullptr) checkpoint.statistics->set_discarded();
}

}  // namespace

void discard_completed_checkpoint(const CompletedCheckpoint& checkpoint,
                                  CheckpointStorage& storage) {
  discard_files(checkpoint, files_of(checkpoint), storage);
}

FileNames unneeded_files(const CompletedCheckpoint& checkpoint,
                         const std::deque<CompletedCheckpointPtr>& kept) {
  FileNames gone = files_of(checkpoint);
  for (const CompletedCheckpointPtr& other : kept) {
    if (are_apart(checkpoint, *other)) continue;
    const std::set<std::string> common = common_files(gone, files_of(*other));
    TAILRACE_ASSERT_MSG(common.empty(), "checkpoint " + std::to_string(other->id) + " needs " +
                                            *common.begin() + " of checkpoint " +
                                            std::to_string(checkpoint.id));
  }
  return gone;
}

void discard_unneeded_checkpoint(const CompletedCheckpoint& checkpoint,
                                 const std::deque<CompletedCheckpointPtr>& kept,
                                 CheckpointStorage& storage) {
  discard_files(checkpoint, unneeded_files(checkpoint, kept), storage);
}

}  // namespace tailrace::engine
