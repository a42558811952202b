#include "engine/rescale/state_assignment_operation.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "engine/rescale/channel_state_assignment.hpp"
#include "engine/rescale/round_robin_operator_state_repartitioner.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

using Problem = std::optional<std::string>;

const OperatorSubtaskState* find_subtask(const OperatorState& state, std::int32_t subtask) {
  return state.subtasks.find(subtask);
}

Problem check_completeness(const std::map<OperatorId, OperatorState>& states,
                           const std::vector<VertexToRestore>& vertices, bool by_user_ids) {
  std::set<OperatorId> known;
  for (const VertexToRestore& vertex : vertices) {
    known.insert(vertex.operator_ids.begin(), vertex.operator_ids.end());
    if (!by_user_ids) continue;
    for (const std::optional<OperatorId>& id : vertex.user_defined_ids) {
      if (id.has_value()) known.insert(*id);
    }
  }
  for (const auto& [id, state] : states) {
    if (!known.contains(id)) return "There is no operator for the state " + id.hex();
  }
  return std::nullopt;
}

// S-3.8. Fabricated states take part as well and may flip the max parallelism back (S-3.9).
Problem check_parallelism_preconditions(const OperatorState& state, VertexToRestore& vertex) {
  if (state.max_parallelism < vertex.parallelism) {
    return "The state for task " + vertex.id.hex() +
           " can not be restored. The maximum parallelism (" +
           std::to_string(state.max_parallelism) +
           ") of the restored state is lower than the configured parallelism (" +
           std::to_string(vertex.parallelism) + ")";
  }
  if (state.max_parallelism == vertex.max_parallelism) return std::nullopt;
  if (!vertex.max_parallelism_auto) {
    return "The maximum parallelism (" + std::to_string(state.max_parallelism) +
           ") with which the latest checkpoint of vertex " + vertex.id.hex() +
           " has been taken and its configured maximum parallelism (" +
           std::to_string(vertex.max_parallelism) + ") differ";
  }
  vertex.max_parallelism = state.max_parallelism;
  return std::nullopt;
}

using KeyedHandles = std::vector<KeyedStateHandlePtr>;
using KeyedOf = KeyedHandles OperatorSubtaskState::*;

KeyedHandles keyed_state_of(const OperatorState& state, KeyedOf kind, std::int32_t subtask,
                            std::int32_t parallelism, KeyGroupRange range,
                            bool hand_on_empty_ranges) {
  KeyedHandles result;
  if (parallelism == state.parallelism) {
    // As it is: not even what lies outside the range is cut off.
    const OperatorSubtaskState* own = find_subtask(state, subtask);
    if (own != nullptr) result = own->*kind;
    return result;
  }
  for (std::int32_t old = 0; old < state.parallelism; ++old) {
    const OperatorSubtaskState* from = find_subtask(state, old);
    if (from == nullptr) continue;
    for (const KeyedStateHandlePtr& handle : from->*kind) {
      if (handle == nullptr) continue;
      KeyedStateHandlePtr part = handle->intersect(range);
      if (part == nullptr) continue;
      if (part->key_group_range().empty() && !hand_on_empty_ranges) continue;
      result.push_back(std::move(part));
    }
  }
  return result;
}

using OperatorOf = std::vector<OperatorStateHandle> OperatorSubtaskState::*;

OperatorStatePerSubtask operator_state_of(
    const OperatorState& state, OperatorOf kind, std::int32_t parallelism,
    RoundRobinOperatorStateRepartitioner::Semantics semantics) {
  OperatorStatePerSubtask old(static_cast<std::size_t>(state.parallelism));
  for (std::int32_t subtask = 0; subtask < state.parallelism; ++subtask) {
    const OperatorSubtaskState* from = find_subtask(state, subtask);
    if (from != nullptr) old[static_cast<std::size_t>(subtask)] = from->*kind;
  }
  return RoundRobinOperatorStateRepartitioner(semantics).repartition_state(old, parallelism);
}

// One vertex: `states[i]` belongs to operator i of the vertex.
Problem assign_attempt_state(VertexToRestore& vertex, const std::vector<OperatorState>& states,
                             const StateAssignmentOperation::Semantics& semantics,
                             std::vector<TaskStateSnapshot>& snapshots) {
  for (const OperatorState& state : states) {
    if (Problem problem = check_parallelism_preconditions(state, vertex)) return problem;
  }
  // Recorded: Flink 1.10 runs into a null list here, and the whole restore fails (S-3.16).
  for (const OperatorState& state : states) {
    if (!semantics.reject_state_without_subtasks) break;
    if (state.subtasks.empty() && state.parallelism != vertex.parallelism) {
      return "The state of operator " + state.id.hex() +
             " has no subtasks and cannot be restored with another parallelism";
    }
  }
  const auto subtasks = static_cast<std::size_t>(vertex.parallelism);
  snapshots.resize(subtasks);
  for (std::size_t op = 0; op < states.size(); ++op) {
    const OperatorState& state = states[op];
    OperatorStatePerSubtask managed =
        operator_state_of(state, &OperatorSubtaskState::managed_operator, vertex.parallelism,
                          semantics.repartitioner);
    OperatorStatePerSubtask raw = operator_state_of(state, &OperatorSubtaskState::raw_operator,
                                                    vertex.parallelism, semantics.repartitioner);
    for (std::size_t i = 0; i < subtasks; ++i) {
      const auto subtask = static_cast<std::int32_t>(i);
      const KeyGroupRange range =
          key_group_range_of_subtask(vertex.max_parallelism, vertex.parallelism, subtask);
      OperatorSubtaskState& target = snapshots[i].operators[vertex.operator_ids[op]];
      target.managed_operator = std::move(managed[i]);
      target.raw_operator = std::move(raw[i]);
      target.managed_keyed =
          keyed_state_of(state, &OperatorSubtaskState::managed_keyed, subtask, vertex.parallelism,
                         range, semantics.hand_on_empty_ranges);
      target.raw_keyed = keyed_state_of(state, &OperatorSubtaskState::raw_keyed, subtask,
                                        vertex.parallelism, range, semantics.hand_on_empty_ranges);
    }
  }
  return std::nullopt;
}

// A subtask that gets nothing has no restore in 1.10 (S-3.19).
void set_restores(VertexToRestore& vertex, std::vector<JobManagerTaskRestore> restores,
                  bool restores_every_subtask) {
  for (std::size_t i = 0; i < restores.size(); ++i) {
    bool has_state = false;
    for (const auto& [id, state] : restores[i].snapshot.operators) has_state |= state.has_state();
    if (!has_state && !restores_every_subtask) continue;
    vertex.restores[i] = std::make_shared<const JobManagerTaskRestore>(std::move(restores[i]));
  }
}

// S-3.20: every subtask of a vertex that had finished is restored as finished.
void assign_finished_state(VertexToRestore& vertex, CheckpointId checkpoint) {
  auto restore = std::make_shared<JobManagerTaskRestore>();
  restore->restore_checkpoint_id = checkpoint;
  restore->snapshot.is_task_deployed_as_finished = true;
  for (auto& subtask : vertex.restores) subtask = restore;
}

void leave_channel_state(OperatorState& state) {
  for (std::size_t rank = 0; rank < state.subtasks.size(); ++rank) {
    OperatorSubtaskState& own = state.subtasks.edit(rank);
    own.input_channels.clear();
    own.result_subpartitions.clear();
  }
}

bool takes_part(const std::vector<OperatorState>& states) {
  return std::any_of(states.begin(), states.end(), [](const OperatorState& state) {
    return !state.subtasks.empty() || !state.finished_subtasks.empty() || state.fully_finished;
  });
}

}  // namespace

KeyGroupRange key_group_range_of_subtask(std::int32_t max_parallelism, std::int32_t parallelism,
                                         std::int32_t subtask) {
  TAILRACE_ASSERT(0 <= subtask && subtask < parallelism && parallelism <= max_parallelism);
  return KeyGroupRange{(subtask * max_parallelism + parallelism - 1) / parallelism,
                       ((subtask + 1) * max_parallelism - 1) / parallelism};
}

base::Result<std::monostate, std::string> StateAssignmentOperation::assign_states(
    std::vector<VertexToRestore>& vertices) const {
  if (!allow_non_restored_state) {
    if (Problem problem =
            check_completeness(operator_states, vertices, semantics.falls_back_to_generated_id)) {
      return base::Failure{*std::move(problem)};
    }
  }
  std::set<OperatorId> taken;
  std::vector<std::vector<OperatorState>> states;
  std::vector<bool> stateless;
  for (VertexToRestore& vertex : vertices) {
    vertex.restores.assign(static_cast<std::size_t>(vertex.parallelism), nullptr);
    bool nothing_found = true;
    states.push_back(take_states(vertex, taken, nothing_found));
    stateless.push_back(nothing_found);
  }
  ChannelStateAssignment channels(vertices, states);
  std::vector<std::vector<JobManagerTaskRestore>> restores(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    VertexToRestore& vertex = vertices[v];
    const bool drawn_in = semantics.has_channel_state && channels.neighbour_has_channel_state(v);
    if (!drawn_in &&
        (stateless[v] || (semantics.restores_every_subtask && !takes_part(states[v])))) {
      continue;
    }
    const auto finished = std::count_if(states[v].begin(), states[v].end(),
                                        [](const auto& state) { return state.fully_finished; });
    if (finished > 0) {
      if (static_cast<std::size_t>(finished) != states[v].size()) {
        return base::Failure{"JobVertex " + vertex.id.hex() +
                             " has mixed finished and unfinished operators"};
      }
      assign_finished_state(vertex, restore_checkpoint_id);
      continue;
    }
    std::vector<TaskStateSnapshot> snapshots;
    if (Problem problem = assign_attempt_state(vertex, states[v], semantics, snapshots)) {
      return base::Failure{*std::move(problem)};
    }
    if (semantics.has_channel_state) {
      if (Problem problem = channels.redistribute(v, snapshots)) {
        return base::Failure{*std::move(problem)};
      }
    }
    for (TaskStateSnapshot& snapshot : snapshots) {
      restores[v].push_back({restore_checkpoint_id, std::move(snapshot)});
    }
  }
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (restores[v].empty()) continue;
    if (semantics.has_channel_state) {
      if (Problem problem = channels.describe(v, restores[v])) {
        return base::Failure{*std::move(problem)};
      }
    }
    set_restores(vertices[v], std::move(restores[v]), semantics.restores_every_subtask);
  }
  return std::monostate{};
}

std::vector<OperatorState> StateAssignmentOperation::take_states(const VertexToRestore& vertex,
                                                                 std::set<OperatorId>& taken,
                                                                 bool& nothing_found) const {
  std::vector<OperatorState> states;
  for (std::size_t op = 0; op < vertex.operator_ids.size(); ++op) {
    OperatorId id = vertex.operator_ids[op];
    if (!vertex.user_defined_ids.empty() && vertex.user_defined_ids[op].has_value()) {
      // 1.10 looks under the user-defined id alone, if there is one (S-3.4).
      const OperatorId user_defined = *vertex.user_defined_ids[op];
      const bool is_there = operator_states.contains(user_defined) && !taken.contains(user_defined);
      if (is_there || !semantics.falls_back_to_generated_id) id = user_defined;
    }
    const auto found = operator_states.find(id);
    if (found != operator_states.end() && taken.insert(id).second) {
      states.push_back(found->second);
      if (without_channel_state) leave_channel_state(states.back());
      nothing_found = false;
    } else {
      states.push_back(OperatorState{id, vertex.parallelism, vertex.max_parallelism, {}});
    }
  }
  return states;
}

}  // namespace tailrace::engine
