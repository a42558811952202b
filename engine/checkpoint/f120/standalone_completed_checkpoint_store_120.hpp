// The last completed checkpoints, in the job manager's memory.
//
// Flink 1.20 StandaloneCompletedCheckpointStore (spec coordinator.md ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/f120/checkpoint_subsume_helper.hpp"
#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"
#include "engine/checkpoint/f120/completed_checkpoint_store_120.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"

namespace tailrace::engine {

class StandaloneCompletedCheckpointStore120 final : public CompletedCheckpointStore120 {
 public:
  // Fewer than 1 retained acts as 1. Registry and cleaner outlive this.
  StandaloneCompletedCheckpointStore120(std::int32_t retained, SharedStateRegistry120& registry,
                                        CheckpointsCleaner& cleaner);

  // `make_post_cleanup` is asked for each subsumed checkpoint that is cleaned now.
  // Returns: the subsumed one with the largest id; null: none.
  template <typename MakePostCleanup>
  CompletedCheckpointPtr add_checkpoint_and_subsume_oldest(CompletedCheckpointPtr checkpoint,
                                                           MakePostCleanup make_post_cleanup) {
    CompletedCheckpointPtr last = add_and_subsume(std::move(checkpoint));
    for (const CompletedCheckpointPtr& stored : checkpoints_) {
      if (stored->properties.is_savepoint()) continue;
      clean_below(stored->id, make_post_cleanup);
      break;
    }
    return last;
  }
  void add(CompletedCheckpointPtr checkpoint, MakePostCleanup make_post_cleanup,
           AddDone done) override;
  void shutdown(JobStatus status) override;
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return checkpoints_;
  }

 private:
  CompletedCheckpointPtr add_and_subsume(CompletedCheckpointPtr checkpoint);
  template <typename MakePostCleanup>
  void clean_below(CheckpointId lowest, MakePostCleanup make_post_cleanup) {
    cleaner_.clean_subsumed_checkpoints(lowest, registry_.unregister_unused_state(lowest),
                                        std::move(make_post_cleanup));
  }

  std::size_t retained_;
  SharedStateRegistry120& registry_;
  CheckpointsCleaner& cleaner_;
  std::deque<CompletedCheckpointPtr> checkpoints_;
};

}  // namespace tailrace::engine
