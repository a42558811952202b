// Puts what the tasks have reported together by operators.
//
// PendingCheckpoint.acknowledgeTask of Flink 1.10 and 1.20 does so with each acknowledgement. Here it
// happens at once, in the order of the tasks, so that each state goes behind the last one, and the
// subtasks of a vertex, which have the same operators, look these up only once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/tasks_to_acknowledge.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

class OperatorStateCollector {
 public:
  // `states` outlives this, and nobody takes anything out of it meanwhile.
  explicit OperatorStateCollector(OperatorStates& states) : states_(&states) {}

  // Entries of all operators of the task's vertex, in their order in the chain; made if they are not
  // there. Valid until the next call.
  [[nodiscard]] std::span<OperatorState* const> entries_of(const TaskToAcknowledge& task);

 private:
  OperatorStates* states_;
  std::int32_t vertex_index_ = -1;
  std::vector<OperatorState*> entries_;
};

struct ReportedState {
  OperatorSubtaskStatePtr state;                          // null: none
  const KeyGroupsStateHandle* sole_key_groups = nullptr;  // SubtaskStates
};

// What `snapshot` says of an operator; it keeps the snapshot alive.
[[nodiscard]] inline ReportedState state_of(
    const std::shared_ptr<const TaskStateSnapshot>& snapshot, const OperatorId& id) {
  const SnapshotNotes* notes = snapshot->seal.get();
  if (notes != nullptr && notes->sole_state != nullptr && notes->sole_operator == id) {
    return {OperatorSubtaskStatePtr(snapshot, notes->sole_state), notes->sole_key_groups};
  }
  const auto found = snapshot->operators.find(id);
  if (found == snapshot->operators.end()) return {};
  return {OperatorSubtaskStatePtr(snapshot, &found->second)};
}

// For a walk over all tasks that looks into their snapshots, called at each place in turn.
void prefetch_ahead(std::span<const TaskToAcknowledge> tasks, std::size_t place);

}  // namespace tailrace::engine
