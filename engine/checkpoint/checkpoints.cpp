#include "engine/checkpoint/checkpoints.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/checkpoint/metadata/metadata_reader.hpp"

namespace tailrace::engine {
namespace {

bool has_state(const OperatorState& state) {
  if (state.coordinator_state.has_value()) return true;
  return std::any_of(state.subtasks.begin(), state.subtasks.end(),
                     [](const auto& subtask) { return subtask.second.has_state(); });
}

}  // namespace

base::Result<CompletedCheckpointPtr, std::string> Checkpoints::load_and_validate_checkpoint(
    JobId job, const OperatorToVertex& operators, std::span<const std::byte> metadata,
    const std::string& pointer, bool allow_non_restored) {
  auto read = load_checkpoint_metadata(metadata, {.directory = pointer});
  if (!read.ok()) {
    return base::Failure{pointer + "/_metadata: byte " + std::to_string(read.error().offset) +
                         ": " + read.error().message};
  }
  return validate_checkpoint(job, operators, std::move(read).value(), pointer, allow_non_restored);
}

base::Result<CompletedCheckpointPtr, std::string> Checkpoints::validate_checkpoint(
    JobId job, const OperatorToVertex& operators, CheckpointMetadata loaded,
    const std::string& pointer, bool allow_non_restored) {
  auto savepoint = std::make_shared<CompletedCheckpoint>();
  for (auto& [id, state] : loaded.operator_states) {
    const auto found = operators.find(id);
    if (found != operators.end()) {
      const Vertex& vertex = found->second;
      if (state.max_parallelism != vertex.max_parallelism && !vertex.max_parallelism_auto) {
        return base::Failure{pointer + ": operator " + id.hex() + " has a maximum parallelism of " +
                             std::to_string(state.max_parallelism) + " there, but of " +
                             std::to_string(vertex.max_parallelism) +
                             " in the job: leave it unset in the job, or set it to the former"};
      }
      savepoint->operator_states.emplace(id, std::move(state));
    } else if (!allow_non_restored && has_state(state)) {
      return base::Failure{pointer + ": the job has no operator " + id.hex() +
                           " for the state there: allow state that is not restored, or give the "
                           "operator its uid back"};
    }
  }
  savepoint->job = job;
  savepoint->id = loaded.checkpoint_id;
  savepoint->master_states = std::move(loaded.master_states);
  savepoint->properties = CheckpointProperties::for_savepoint();
  savepoint->restored_properties = loaded.properties;
  savepoint->location.directory = pointer;
  return CompletedCheckpointPtr(std::move(savepoint));
}

}  // namespace tailrace::engine
