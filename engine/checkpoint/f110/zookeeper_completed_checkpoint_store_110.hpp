// The last completed checkpoints, in a store that survives the job manager.
//
// Flink 1.10 ZooKeeperCompletedCheckpointStore (spec coordinator.md ).
// Keeps a copy of what is stored; every restore reads it anew.
//
// Invariants
//   Z1  A checkpoint's files are deleted only when its entry is gone for sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/checkpoint/completed_checkpoint_store.hpp"
#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class ZooKeeperCompletedCheckpointStore110 final : public CompletedCheckpointStore {
 public:
  // Fewer than 1 retained acts as 1. Handles and storage outlive this, and whatever is
  // still asked of the handles.
  ZooKeeperCompletedCheckpointStore110(std::int32_t retained, CheckpointHandleStore& handles,
                                       CheckpointStorage& storage,
                                       SharedStateRegistry110& registry);

  [[nodiscard]] bool is_remote() const override { return true; }
  void recover() override;  // never: it answers later
  // Entries that cannot be read are left out. They are read again until two rounds in a row find the
  // same ones. Fails if there are entries and none can be read.
  void recover_async(Done done) override;
  bool add_checkpoint(CompletedCheckpointPtr checkpoint) override;  // never: it answers later
  // Done when the entry is written and the oldest ones have made room, one after the other: their
  // entries go first, then their files (Z1). An entry that cannot be removed is forgotten here and
  // stays there.
  void add_checkpoint_async(CompletedCheckpointPtr checkpoint, Done done) override;
  // Goes on after the call. Nothing is deleted after a suspension.
  void shutdown(JobStatus status) override;
  void register_shared_states_after_restored(SharedStateRegistry110& registry) override;
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return checkpoints_;
  }

 private:
  using SharedDone = std::shared_ptr<Done>;

  void read(std::vector<CheckpointId> last_read, bool first, SharedDone done);
  void drop_oldest(SharedDone done);
  void discard(const CompletedCheckpoint& checkpoint);  // Z1
  // One after the other, then whatever else the job has there.
  void remove_all(std::shared_ptr<std::deque<CompletedCheckpointPtr>> all, JobStatus status);

  std::size_t retained_;
  CheckpointHandleStore& handles_;
  CheckpointStorage& storage_;
  SharedStateRegistry110& registry_;
  std::deque<CompletedCheckpointPtr> checkpoints_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
