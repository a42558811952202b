// The last completed checkpoints, in a store that survives the job manager.
//
// Flink 1.20 DefaultCompletedCheckpointStore, DefaultCompletedCheckpointStoreUtils (spec
// coordinator.md ). What was stored before is read once, before this is made
// (`retrieve_completed_checkpoints`); from then on the copy here is what counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "engine/checkpoint/f120/checkpoint_subsume_helper.hpp"
#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"
#include "engine/checkpoint/f120/completed_checkpoint_store_120.hpp"
#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// None: an entry cannot be read, and the job must not start (1.10 would do without it).
using RetrievedCheckpoints =
    base::InplaceFunction<void(std::optional<std::vector<CompletedCheckpointPtr>>)>;
// Oldest first.
void retrieve_completed_checkpoints(CheckpointHandleStore& handles, RetrievedCheckpoints done);

class DefaultCompletedCheckpointStore120 final : public CompletedCheckpointStore120 {
 public:
  // Fewer than 1 retained acts as 1. `recovered`: oldest first; their shared state is registered by
  // the caller. All outlive this.
  DefaultCompletedCheckpointStore120(std::int32_t retained,
                                     const std::vector<CompletedCheckpointPtr>& recovered,
                                     CheckpointHandleStore& handles,
                                     SharedStateRegistry120& registry, CheckpointsCleaner& cleaner);

  // Done when the entry is written and the entries of what is subsumed have been asked to go; the
  // cleaner deletes the files of those that went.
  void add(CompletedCheckpointPtr checkpoint, MakePostCleanup make_post_cleanup,
           AddDone done) override;
  // Goes on after the call. Nothing is deleted after a suspension.
  void shutdown(JobStatus status) override;
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return checkpoints_;
  }

 private:
  struct Adding {
    MakePostCleanup make_post_cleanup;
    AddDone done;
    Subsumed subsumed;
    std::size_t next = 0;  // of subsumed.removed: whose entry goes next
  };

  // A shutdown: one after the other, then whatever else the job has there.
  struct Removing {
    std::deque<CompletedCheckpointPtr> checkpoints;
    JobStatus status = JobStatus::FINISHED;
    CheckpointId lowest_kept = std::numeric_limits<CheckpointId>::max();
  };

  void remove_subsumed(std::shared_ptr<Adding> adding);
  void remove_all(std::shared_ptr<Removing> removing);

  std::size_t retained_;
  CheckpointHandleStore& handles_;
  SharedStateRegistry120& registry_;
  CheckpointsCleaner& cleaner_;
  std::deque<CompletedCheckpointPtr> checkpoints_;
  bool running_ = true;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
