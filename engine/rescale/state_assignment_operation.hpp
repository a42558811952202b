// Gives every subtask of a job its part of a checkpoint.
//
// Flink 1.10 StateAssignmentOperation (spec rescale.md 3.2 to 3.6): keyed state by intersection of
// key-group ranges, operator state by the round-robin repartitioner. Pure function of its input;
// hands handles on and reads no state.
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
#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"
#include "engine/rescale/subtask_state_mapper.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// The other end of an edge between two vertices that are restored together.
struct EdgeToRestore {
  std::size_t vertex = 0;  // in the list of vertices
  std::size_t index = 0;   // of its gate or partition
  // Of who writes to the edge, and of who reads from it.
  SubtaskStateMapper upstream = SubtaskStateMapper::UNSUPPORTED;
  SubtaskStateMapper downstream = SubtaskStateMapper::UNSUPPORTED;
};

// One job vertex as the assignment sees it, and what it gets.
struct VertexToRestore {
  JobVertexId id;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;  // may be overridden by the state's (S-3.8)
  bool max_parallelism_auto = true;
  // Tail first (S-1.7). This order also decides which state overrides the max parallelism last.
  std::vector<OperatorId> operator_ids;
  // Empty, or one entry for each operator.
  std::vector<std::optional<OperatorId>> user_defined_ids;

  // 1.20. By gate, and by partition.
  std::vector<EdgeToRestore> inputs = {};
  std::vector<EdgeToRestore> outputs = {};

  // Result, one for each subtask; null where nothing was assigned, also when the subtask's part is
  // empty (S-3.19): such a subtask starts as if there were no checkpoint.
  std::vector<std::shared_ptr<const JobManagerTaskRestore>> restores;
};

// Where the generations differ; the defaults are those of 1.10.
struct StateAssignmentSemantics {
  // 1.10 cannot deal out an operator state without any subtask at a changed parallelism (S-3.16).
  bool reject_state_without_subtasks = true;
  // 1.10 hands on what is left of a keyed handle after cutting even if nothing is (S-3.17).
  bool hand_on_empty_ranges = true;
  // 1.20: state may lie under the generated id although the operator has one of the user's (S-3.4);
  // either id makes it known (S-3.5).
  bool falls_back_to_generated_id = false;
  // 1.20: a vertex takes part if some operator state of it has a subtask, or if it had finished; then
  // all its subtasks are restored, also those that get nothing (S-3.6, S-3.20).
  bool restores_every_subtask = false;
  // 1.20: there are buffers in flight, which go to new subtasks (3.7).
  bool has_channel_state = false;
  RoundRobinOperatorStateRepartitioner::Semantics repartitioner = {};
};
inline constexpr StateAssignmentSemantics kStateAssignment120{
    .reject_state_without_subtasks = false,
    .hand_on_empty_ranges = false,
    .falls_back_to_generated_id = true,
    .restores_every_subtask = true,
    .has_channel_state = true,
    .repartitioner = {.redistribute_partly_reported_broadcast = true}};

struct StateAssignmentOperation {
  using Semantics = StateAssignmentSemantics;

  CheckpointId restore_checkpoint_id = kNoCheckpoint;
  const std::map<OperatorId, OperatorState>& operator_states;
  bool allow_non_restored_state = false;
  Semantics semantics = {};
  // S-3.34: buffers in flight are left behind.
  bool without_channel_state = false;

  // Fills `restores` and `max_parallelism` of every vertex.
  // Errors: state that no vertex takes, a max parallelism that does not fit (S-3.8), an operator
  // state without any subtask at a changed parallelism (S-3.16), a vertex of which some operators had
  // finished and others not (S-3.6). Vertices before the failing one
  // are then already assigned; nothing of the result may be used.
  [[nodiscard]] base::Result<std::monostate, std::string> assign_states(
      std::vector<VertexToRestore>& vertices) const;

 private:
  // S-3.4, of one vertex; `nothing_found`: all of it is fabricated.
  [[nodiscard]] std::vector<OperatorState> take_states(const VertexToRestore& vertex,
                                                       std::set<OperatorId>& taken,
                                                       bool& nothing_found) const;
};

// The range of a subtask (spec S-2.3). Requires: 0 <= subtask < parallelism <= max_parallelism.
[[nodiscard]] KeyGroupRange key_group_range_of_subtask(std::int32_t max_parallelism,
                                                       std::int32_t parallelism,
                                                       std::int32_t subtask);

}  // namespace tailrace::engine
