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

void append_private_files(const OperatorStates& states, std::vector<std::string>& paths) {
  for (const auto& [id, state] : states) {
    for (const auto& [subtask, subtask_state] : state.subtasks) {
      subtask_state.append_private_files(paths);
    }
  }
}

namespace {

template <typename Predicate>
bool any_keyed_handle(const OperatorStates& states, Predicate predicate) {
  for (const auto& [id, state] : states) {
    for (const auto& [number, subtask] : state.subtasks) {
      for (const auto* handles : {&subtask.managed_keyed, &subtask.raw_keyed}) {
        if (std::any_of(handles->begin(), handles->end(), [&](const KeyedStateHandlePtr& handle) {
              return handle != nullptr && predicate(*handle);
            })) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

bool shares_state(const OperatorStates& states) {
  return any_keyed_handle(
      states, [](const KeyedStateHandle& handle) { return handle.as_incremental() != nullptr; });
}

bool names_placeholders(const OperatorStates& states) {
  return any_keyed_handle(states, [](const KeyedStateHandle& handle) {
    const auto* incremental = handle.as_incremental();
    if (incremental == nullptr) return false;
    const auto& files = incremental->content().shared_state;
    return std::any_of(files.begin(), files.end(),
                       [](const auto& file) { return is_placeholder(*file.handle); });
  });
}

std::int64_t CompletedCheckpoint::state_size_bytes() const {
  return engine::state_size_bytes(operator_states);
}

void CompletedCheckpoint::append_private_files(std::vector<std::string>& paths) const {
  engine::append_private_files(operator_states, paths);
}

namespace {

std::vector<std::string> files_of(const CompletedCheckpoint& checkpoint) {
  std::vector<std::string> paths;
  checkpoint.append_private_files(paths);
  return paths;
}

// The names that occur in both, in order.
std::set<std::string> common_files(const std::vector<std::string>& a,
                                   const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return {};
  // Checkpoints have directories of their own, so that no sorting is needed as a rule.
  const auto [a_first, a_last] = std::minmax_element(a.begin(), a.end());
  const auto [b_first, b_last] = std::minmax_element(b.begin(), b.end());
  if (*a_last < *b_first || *b_last < *a_first) return {};
  const std::set<std::string_view> names(a.begin(), a.end());
  std::set<std::string> common;
  for (const std::string& name : b) {
    if (names.contains(name)) common.insert(name);
  }
  return common;
}

void discard_files(const CompletedCheckpoint& checkpoint, const std::vector<std::string>& paths,
                   CheckpointStorage& storage) {
  storage.discard_file(checkpoint.location.metadata_path());
  for (const std::string& path : paths) storage.discard_file(path);
  storage.dispose_completed(checkpoint.location);
  if (checkpoint.statistics != nullptr) checkpoint.statistics->set_discarded();
}

}  // namespace

void discard_completed_checkpoint(const CompletedCheckpoint& checkpoint,
                                  CheckpointStorage& storage) {
  discard_files(checkpoint, files_of(checkpoint), storage);
}

void discard_unneeded_checkpoint(const CompletedCheckpoint& checkpoint,
                                 const std::deque<CompletedCheckpointPtr>& kept,
                                 CheckpointStorage& storage) {
  const std::vector<std::string> gone = files_of(checkpoint);
  for (const CompletedCheckpointPtr& other : kept) {
    const std::set<std::string> common = common_files(gone, files_of(*other));
    TAILRACE_ASSERT_MSG(common.empty(), "checkpoint " + std::to_string(other->id) + " needs " +
                                            *common.begin() + " of checkpoint " +
                                            std::to_string(checkpoint.id));
  }
  discard_files(checkpoint, gone, storage);
}

}  // namespace tailrace::engine
