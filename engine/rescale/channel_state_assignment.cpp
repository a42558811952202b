#include "engine/rescale/channel_state_assignment.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

template <typename Handles>
bool any_subtask_has(const OperatorState& state, Handles OperatorSubtaskState::*handles) {
  return std::any_of(state.subtasks.begin(), state.subtasks.end(),
                     [&](const auto& entry) { return !(entry.second.*handles).empty(); });
}

std::int32_t outer_index(const InputChannelInfo& info) {
  return info.gate;
}
std::int32_t outer_index(const ResultSubpartitionInfo& info) {
  return info.partition;
}

template <typename Handles>
bool any_handle_of(const OperatorState& state, Handles OperatorSubtaskState::*handles,
                   std::size_t index) {
  return std::any_of(state.subtasks.begin(), state.subtasks.end(), [&](const auto& entry) {
    const Handles& list = entry.second.*handles;
    return std::any_of(list.begin(), list.end(), [&](const auto& handle) {
      return outer_index(handle.info) == static_cast<std::int32_t>(index);
    });
  });
}

template <typename Handles>
bool has_offsets(const OperatorState& state, Handles OperatorSubtaskState::*handles) {
  return std::any_of(state.subtasks.begin(), state.subtasks.end(), [&](const auto& entry) {
    const Handles& list = entry.second.*handles;
    return std::any_of(list.begin(), list.end(),
                       [](const auto& handle) { return !handle.offsets.empty(); });
  });
}

// Appends what old subtasks hold of one gate or partition. `only`: none of the others.
template <typename Handles>
void append_handles(const OperatorState& state, Handles OperatorSubtaskState::*handles,
                    const std::vector<std::int32_t>& old_subtasks, std::optional<std::size_t> only,
                    Handles& target) {
  for (const std::int32_t old : old_subtasks) {
    const OperatorSubtaskState* found = state.subtasks.find(old);
    if (found == nullptr) continue;
    for (const auto& handle : found->*handles) {
      if (only && outer_index(handle.info) != static_cast<std::int32_t>(*only)) continue;
      target.push_back(handle);
    }
  }
}

std::string chained_away(const OperatorState& state, const char* what) {
  return "Cannot restore unaligned checkpoint: the " + std::string(what) + " of operator " +
         state.id.hex() + " belongs to an exchange that is chained now";
}

constexpr const char* kUnsupported =
    "Cannot rescale the given pointwise partitioner. Did you change the partitioner to forward or "
    "rescale? It may also help to add an explicit shuffle().";

}  // namespace

ChannelStateAssignment::ChannelStateAssignment(
    const std::vector<VertexToRestore>& vertices,
    const std::vector<std::vector<OperatorState>>& states)
    : vertices_(vertices), states_(states) {
  TAILRACE_ASSERT(vertices.size() == states.size());
  inputs_.resize(vertices.size());
  outputs_.resize(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (states[v].empty()) continue;
    inputs_[v].mappings.resize(vertices[v].inputs.size());
    inputs_[v].has_state = any_subtask_has(head(v), &OperatorSubtaskState::input_channels);
    outputs_[v].mappings.resize(vertices[v].outputs.size());
    outputs_[v].has_state = any_subtask_has(tail(v), &OperatorSubtaskState::result_subpartitions);
  }
}

bool ChannelStateAssignment::Side::any_computed() const {
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const auto& mapping) { return mapping.has_value(); });
}

const std::vector<EdgeToRestore>& ChannelStateAssignment::edges(std::size_t vertex,
                                                                Direction direction) const {
  return direction == Direction::kInput ? vertices_[vertex].inputs : vertices_[vertex].outputs;
}

bool ChannelStateAssignment::upstream_has_output_state(std::size_t vertex) const {
  const auto& in = vertices_[vertex].inputs;
  return std::any_of(in.begin(), in.end(),
                     [this](const EdgeToRestore& edge) { return outputs_[edge.vertex].has_state; });
}

bool ChannelStateAssignment::downstream_has_input_state(std::size_t vertex) const {
  const auto& out = vertices_[vertex].outputs;
  return std::any_of(out.begin(), out.end(),
                     [this](const EdgeToRestore& edge) { return inputs_[edge.vertex].has_state; });
}

bool ChannelStateAssignment::has_inflight_data(std::size_t vertex, Direction direction,
                                               std::size_t index) const {
  const EdgeToRestore& edge = edges(vertex, direction)[index];
  const bool input = direction == Direction::kInput;
  const std::size_t reader = input ? vertex : edge.vertex;
  const std::size_t writer = input ? edge.vertex : vertex;
  const std::size_t gate = input ? index : edge.index;
  const std::size_t partition = input ? edge.index : index;
  return any_handle_of(head(reader), &OperatorSubtaskState::input_channels, gate) ||
         any_handle_of(tail(writer), &OperatorSubtaskState::result_subpartitions, partition);
}

const RescaleMappings* ChannelStateAssignment::mapping(std::size_t vertex, Direction direction,
                                                       std::size_t index, Problem& problem) {
  std::optional<RescaleMappings>& known = side(vertex, direction).mappings[index];
  if (!known) {
    const bool input = direction == Direction::kInput;
    const EdgeToRestore& edge = edges(vertex, direction)[index];
    known = new_to_old_subtasks(input ? edge.downstream : edge.upstream,
                                (input ? head(vertex) : tail(vertex)).parallelism,
                                vertices_[vertex].parallelism);
    if (!known) {
      problem = kUnsupported;
      return nullptr;
    }
  }
  return &*known;
}

std::size_t ChannelStateAssignment::first_edge_back(std::size_t vertex, Direction direction,
                                                    const EdgeToRestore& edge) const {
  const Direction opposite =
      direction == Direction::kInput ? Direction::kOutput : Direction::kInput;
  const auto& back = edges(edge.vertex, opposite);
  const auto found = std::find_if(back.begin(), back.end(), [vertex](const EdgeToRestore& other) {
    return other.vertex == vertex;
  });
  TAILRACE_ASSERT(found != back.end());
  return static_cast<std::size_t>(found - back.begin());
}

// --- handles -----------------------------------------------------------------------------------

ChannelStateAssignment::Problem ChannelStateAssignment::redistribute(std::size_t vertex,
                                                                     Snapshots& snapshots) {
  if (Problem problem = redistribute_inputs(vertex, snapshots)) return problem;
  return redistribute_outputs(vertex, snapshots);
}

// S-3.24, which compares what it compares.
bool ChannelStateAssignment::passes_through_inputs(std::size_t vertex) const {
  const VertexToRestore& target = vertices_[vertex];
  const std::int32_t old_parallelism = head(vertex).parallelism;
  if (old_parallelism != target.parallelism) return false;
  const auto& in = target.inputs;
  const bool full = std::any_of(in.begin(), in.end(), [](const EdgeToRestore& edge) {
    return edge.downstream == SubtaskStateMapper::FULL;
  });
  const bool rescaled = std::any_of(in.begin(), in.end(), [&](const EdgeToRestore& edge) {
    return vertices_[edge.vertex].parallelism != old_parallelism;
  });
  return !(full && rescaled);
}

ChannelStateAssignment::Problem ChannelStateAssignment::redistribute_inputs(std::size_t vertex,
                                                                            Snapshots& snapshots) {
  if (!inputs_[vertex].has_state && !upstream_has_output_state(vertex)) return std::nullopt;
  for (std::size_t op = 0; op + 1 < states_[vertex].size(); ++op) {
    if (has_offsets(states_[vertex][op], &OperatorSubtaskState::input_channels)) {
      return chained_away(states_[vertex][op], "input channel state");
    }
  }
  const OperatorId id = vertices_[vertex].operator_ids.back();
  const bool pass_through = passes_through_inputs(vertex);
  const std::size_t gates = vertices_[vertex].inputs.size();
  if (pass_through) {
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      append_handles(head(vertex), &OperatorSubtaskState::input_channels,
                     {static_cast<std::int32_t>(i)}, std::nullopt,
                     snapshots[i].operators[id].input_channels);
    }
    return std::nullopt;
  }
  for (std::size_t gate = 0; gate < gates; ++gate) {
    if (!has_inflight_data(vertex, Direction::kInput, gate)) continue;
    Problem problem;
    const RescaleMappings* to_old = mapping(vertex, Direction::kInput, gate, problem);
    if (to_old == nullptr) return problem;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      append_handles(head(vertex), &OperatorSubtaskState::input_channels,
                     to_old->mapped_indexes(static_cast<std::int32_t>(i)),
                     gates > 1 ? std::optional(gate) : std::nullopt,
                     snapshots[i].operators[id].input_channels);
    }
  }
  return std::nullopt;
}

ChannelStateAssignment::Problem ChannelStateAssignment::redistribute_outputs(std::size_t vertex,
                                                                             Snapshots& snapshots) {
  if (!outputs_[vertex].has_state && !downstream_has_input_state(vertex)) return std::nullopt;
  for (std::size_t op = 1; op < states_[vertex].size(); ++op) {
    if (has_offsets(states_[vertex][op], &OperatorSubtaskState::result_subpartitions)) {
      return chained_away(states_[vertex][op], "result subpartition state");
    }
  }
  const OperatorId id = vertices_[vertex].operator_ids.front();
  if (tail(vertex).parallelism == vertices_[vertex].parallelism) {
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      append_handles(tail(vertex), &OperatorSubtaskState::result_subpartitions,
                     {static_cast<std::int32_t>(i)}, std::nullopt,
                     snapshots[i].operators[id].result_subpartitions);
    }
    return std::nullopt;
  }
  const std::size_t partitions = vertices_[vertex].outputs.size();
  for (std::size_t partition = 0; partition < partitions; ++partition) {
    if (!has_inflight_data(vertex, Direction::kOutput, partition)) continue;
    Problem problem;
    const RescaleMappings* to_old = mapping(vertex, Direction::kOutput, partition, problem);
    if (to_old == nullptr) return problem;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      append_handles(tail(vertex), &OperatorSubtaskState::result_subpartitions,
                     to_old->mapped_indexes(static_cast<std::int32_t>(i)),
                     partitions > 1 ? std::optional(partition) : std::nullopt,
                     snapshots[i].operators[id].result_subpartitions);
    }
  }
  return std::nullopt;
}

// --- descriptors -------------------------------------------------------------------------------

ChannelStateAssignment::Problem ChannelStateAssignment::describe(
    std::size_t vertex, std::vector<JobManagerTaskRestore>& restores) {
  std::vector<InflightDataRescalingDescriptor> inputs(restores.size());
  std::vector<InflightDataRescalingDescriptor> outputs(restores.size());
  if (Problem problem = describe_side(vertex, Direction::kInput, inputs)) return problem;
  if (Problem problem = describe_side(vertex, Direction::kOutput, outputs)) return problem;
  for (std::size_t i = 0; i < restores.size(); ++i) {
    restores[i].input_rescaling = std::move(inputs[i]);
    restores[i].output_rescaling = std::move(outputs[i]);
  }
  return std::nullopt;
}

ChannelStateAssignment::Problem ChannelStateAssignment::describe_side(
    std::size_t vertex, Direction direction,
    std::vector<InflightDataRescalingDescriptor>& descriptors) {
  const bool input = direction == Direction::kInput;
  const Direction opposite = input ? Direction::kOutput : Direction::kInput;
  const auto& own_edges = edges(vertex, direction);
  bool needed = side(vertex, direction).any_computed();
  for (const EdgeToRestore& edge : own_edges) {
    const std::size_t back = first_edge_back(vertex, direction, edge);
    const auto& others = side(edge.vertex, opposite).mappings;
    needed = needed || (back < others.size() && others[back].has_value());
  }
  if (!needed) return std::nullopt;

  for (auto& descriptor : descriptors) descriptor.resize(own_edges.size());
  for (std::size_t index = 0; index < own_edges.size(); ++index) {
    if (!has_inflight_data(vertex, direction, index)) continue;  // NO_STATE
    const EdgeToRestore& edge = own_edges[index];
    Problem problem;
    const RescaleMappings* channels =
        mapping(edge.vertex, opposite, first_edge_back(vertex, direction, edge), problem);
    const RescaleMappings* subtasks =
        channels == nullptr ? nullptr : mapping(vertex, direction, index, problem);
    if (subtasks == nullptr) return problem;
    const bool ambiguous = is_ambiguous(input ? edge.downstream : edge.upstream);
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      InflightDataRescaling& entry = descriptors[i][index];
      entry.old_subtasks = subtasks->mapped_indexes(static_cast<std::int32_t>(i));
      for (std::int32_t channel = 0; channel < channels->size(); ++channel) {
        entry.channel_mapping.push_back(channels->mapped_indexes(channel));
      }
      entry.mapping_is_identity = channels->is_identity();
      // Recorded: Flink leaves out what is empty at the end, unless it knows the identity.
      while (!entry.mapping_is_identity && !entry.channel_mapping.empty() &&
             entry.channel_mapping.back().empty()) {
        entry.channel_mapping.pop_back();
      }
      if (ambiguous) entry.ambiguous_subtasks = subtasks->ambiguous_targets();
      const bool identity =
          (subtasks->is_identity() && channels->is_identity()) || entry.old_subtasks.empty();
      entry.type =
          identity ? InflightDataRescaling::Type::IDENTITY : InflightDataRescaling::Type::RESCALING;
    }
  }
  for (auto& descriptor : descriptors) {
    const bool any = std::any_of(descriptor.begin(), descriptor.end(), [](const auto& entry) {
      return entry.type == InflightDataRescaling::Type::RESCALING;
    });
    if (!any) descriptor.clear();  // NO_RESCALE
  }
  return std::nullopt;
}

}  // namespace tailrace::engine
