// Gives buffers in flight of old subtasks to new ones.
//
// Flink 1.20 TaskStateAssignment, and the channel state half of StateAssignmentOperation (spec rescale.md
// S-3.22 to S-3.33). Handles are handed on; nothing is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/rescale/state_assignment_operation.hpp"
#include "engine/rescale/subtask_state_mapper.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

class ChannelStateAssignment {
 public:
  using Problem = std::optional<std::string>;
  // The snapshots of a vertex's new subtasks; operators have their entries.
  using Snapshots = std::vector<TaskStateSnapshot>;

  // `states[v][o]` is the old state of operator o (tail first) of vertex v. Borrows both.
  ChannelStateAssignment(const std::vector<VertexToRestore>& vertices,
                         const std::vector<std::vector<OperatorState>>& states);

  // S-3.6 b, c: whether a neighbour's buffers in flight make the vertex take part.
  [[nodiscard]] bool neighbour_has_channel_state(std::size_t vertex) const {
    return upstream_has_output_state(vertex) || downstream_has_input_state(vertex);
  }

  // Of one vertex, after all that have none left to do before it (S-3.7).
  // Errors: a mapper that is unsupported; state of an operator in the middle of the chain (S-3.23).
  [[nodiscard]] Problem redistribute(std::size_t vertex, Snapshots& snapshots);
  // After that of all vertices; in topological order (S-3.36).
  [[nodiscard]] Problem describe(std::size_t vertex, std::vector<JobManagerTaskRestore>& restores);

 private:
  // One side of a vertex: its inputs or its outputs.
  struct Side {
    std::vector<std::optional<RescaleMappings>>
        mappings;  // by gate or partition; none: not computed
    bool has_state = false;
    [[nodiscard]] bool any_computed() const;
  };
  enum class Direction : std::uint8_t { kInput, kOutput };

  [[nodiscard]] const OperatorState& head(std::size_t vertex) const {
    return states_[vertex].back();
  }
  [[nodiscard]] const OperatorState& tail(std::size_t vertex) const {
    return states_[vertex].front();
  }
  [[nodiscard]] const std::vector<EdgeToRestore>& edges(std::size_t vertex,
                                                        Direction direction) const;
  [[nodiscard]] Side& side(std::size_t vertex, Direction direction) {
    return direction == Direction::kInput ? inputs_[vertex] : outputs_[vertex];
  }
  [[nodiscard]] bool upstream_has_output_state(std::size_t vertex) const;
  [[nodiscard]] bool downstream_has_input_state(std::size_t vertex) const;
  // Of that gate or partition, at either end (S-3.22).
  [[nodiscard]] bool has_inflight_data(std::size_t vertex, Direction direction,
                                       std::size_t index) const;
  // Computes it if nobody has. Null, and `problem`, if that cannot be.
  const RescaleMappings* mapping(std::size_t vertex, Direction direction, std::size_t index,
                                 Problem& problem);
  // The same edge, or the first between the two vertices, at the other end (S-3.27).
  [[nodiscard]] std::size_t first_edge_back(std::size_t vertex, Direction direction,
                                            const EdgeToRestore& edge) const;
  [[nodiscard]] bool passes_through_inputs(std::size_t vertex) const;
  Problem redistribute_inputs(std::size_t vertex, Snapshots& snapshots);
  Problem redistribute_outputs(std::size_t vertex, Snapshots& snapshots);
  Problem describe_side(std::size_t vertex, Direction direction,
                        std::vector<InflightDataRescalingDescriptor>& descriptors);

  const std::vector<VertexToRestore>& vertices_;
  const std::vector<std::vector<OperatorState>>& states_;
  std::vector<Side> inputs_;   // by vertex
  std::vector<Side> outputs_;  // by vertex
};

}  // namespace tailrace::engine
