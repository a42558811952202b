// Checkpointing of Flink 1.10, put together.
//
// Flink 1.10 ExecutionGraph.enableCheckpointing: the coordinator over store and counter, in memory or
// highly available (CheckpointRecoveryFactory), and a file system storage.
#pragma once

#include "engine/scheduling/checkpointing.hpp"

namespace tailrace::engine {

class CheckpointingFactory110 final : public CheckpointingFactory {
 public:
  [[nodiscard]] HandleStoreSemantics handle_store_semantics() const override {
    return {.keeps_uncertain = false, .checks_existence = false, .keeps_finished_states = false};
  }
  [[nodiscard]] std::unique_ptr<JobCheckpointing> create(CoordinatorContext context) override;
  [[nodiscard]] base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
      JobId job, const std::string& path, const std::vector<std::byte>& metadata,
      const JobGraph& graph, bool allow_non_restored_state) override;
};

}  // namespace tailrace::engine
