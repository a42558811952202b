// Checkpointing of Flink 1.20, put together.
//
// Flink 1.20 SchedulerBase with SchedulerUtils and DefaultExecutionGraph.enableCheckpointing: the
// coordinator over a store in memory, a counter in memory and a file system storage.
#pragma once

#include "engine/scheduling/checkpointing.hpp"

namespace tailrace::engine {

class CheckpointingFactory120 final : public CheckpointingFactory {
 public:
  void retrieve(CheckpointHandleStore& handles, Retrieved done) override;
  [[nodiscard]] std::unique_ptr<JobCheckpointing> create(CoordinatorContext context) override;
  [[nodiscard]] base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
      JobId job, const std::string& path, const std::vector<std::byte>& metadata,
      const JobGraph& graph, bool allow_non_restored_state) override;
};

}  // namespace tailrace::engine
