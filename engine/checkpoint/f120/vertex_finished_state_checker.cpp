#include "engine/checkpoint/f120/vertex_finished_state_checker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailrace::engine {
namespace {

enum class Progress : std::uint8_t { ALL_RUNNING, PARTIALLY_FINISHED, FULLY_FINISHED };

Progress progress_of(const OperatorStates& states, const JobVertex& vertex, std::size_t position) {
  auto found = states.end();
  if (position < vertex.user_defined_ids_tail_first.size()) {
    const std::optional<OperatorId>& chosen = vertex.user_defined_ids_tail_first[position];
    if (chosen.has_value()) found = states.find(*chosen);
  }
  if (found == states.end()) found = states.find(vertex.operator_ids_tail_first[position]);
  if (found == states.end()) return Progress::ALL_RUNNING;
  if (found->second.fully_finished) return Progress::FULLY_FINISHED;
  return found->second.finished_subtasks.empty() ? Progress::ALL_RUNNING
                                                 : Progress::PARTIALLY_FINISHED;
}

// None: the operators differ.
std::optional<Progress> progress_of(const OperatorStates& states, const JobVertex& vertex) {
  std::optional<Progress> common;
  for (std::size_t i = 0; i < vertex.operator_ids_tail_first.size(); ++i) {
    const Progress own = progress_of(states, vertex, i);
    if (common.has_value() && *common != own) return std::nullopt;
    common = own;
  }
  return common.value_or(Progress::ALL_RUNNING);
}

std::string named(const JobVertex& vertex) {
  return vertex.name + " (" + vertex.id.hex() + ")";
}

}  // namespace

std::optional<std::string> validate_operators_finished_state(const JobGraph& graph,
                                                             const OperatorStates& states) {
  std::vector<Progress> all;
  for (const JobVertex& vertex : graph.vertices) {
    const std::optional<Progress> progress = progress_of(states, vertex);
    if (!progress.has_value()) {
      return "some operators of " + named(vertex) + " had finished at the checkpoint, others not";
    }
    all.push_back(*progress);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == Progress::ALL_RUNNING) continue;
    const JobVertex& vertex = graph.vertices[i];
    for (const JobEdge& edge : vertex.inputs) {
      const auto source = static_cast<std::size_t>(edge.source_vertex);
      const bool any_all_to_all =
          std::any_of(vertex.inputs.begin(), vertex.inputs.end(), [&edge](const JobEdge& other) {
            return other.source_vertex == edge.source_vertex &&
                   other.pattern == DistributionPattern::ALL_TO_ALL;
          });
      const Progress needed = all[i] == Progress::FULLY_FINISHED || any_all_to_all
                                  ? Progress::FULLY_FINISHED
                                  : Progress::PARTIALLY_FINISHED;
      if (all[source] < needed) {
        return named(vertex) + " had finished further than its predecessor " +
               named(graph.vertices[source]) + " allows";
      }
    }
  }
  return std::nullopt;
}

}  // namespace tailrace::engine
