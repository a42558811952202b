// Loading a savepoint, or a checkpoint of another job, to start a job from.
//
// Checkpoints.loadAndValidateCheckpoint of Flink 1.10 and 1.20 (spec rescale.md S-3.1 to S-3.3).
// Coordinator state, which only 1.20 files, counts as state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class Checkpoints {
 public:
  // What a state's operator must fit.
  struct Vertex {
    std::int32_t max_parallelism = 128;
    bool max_parallelism_auto = true;  // nobody configured it: the restore may override it (S-3.8)
  };
  using OperatorToVertex = std::map<OperatorId, Vertex>;

  // `pointer` is the directory that `_metadata` was read from.
  // Returns: a savepoint with the states that the job has operators for, whatever the format version
  // of the metadata was. Who restores from it decides on its properties.
  // Errors: malformed metadata, or state in it that there is no handle for; a state whose maximum parallelism does not fit; a state without
  // operator, unless it is empty or `allow_non_restored`.
  [[nodiscard]] static base::Result<CompletedCheckpointPtr, std::string>
  load_and_validate_checkpoint(JobId job, const OperatorToVertex& operators,
                               std::span<const std::byte> metadata, const std::string& pointer,
                               bool allow_non_restored);

  // The second half of it: takes what the job has operators for out of what was read.
  [[nodiscard]] static base::Result<CompletedCheckpointPtr, std::string> validate_checkpoint(
      JobId job, const OperatorToVertex& operators, CheckpointMetadata loaded,
      const std::string& pointer, bool allow_non_restored);
};

}  // namespace tailrace::engine
