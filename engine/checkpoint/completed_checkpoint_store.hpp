// The last completed checkpoints.
//
// Flink 1.10 CompletedCheckpointStore, StandaloneCompletedCheckpointStore (spec coordinator.md 4.6).
// Savepoints are stored too in 1.10.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/state/f110/shared_state_registry_110.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class CompletedCheckpointStore {
 public:
  // False: it failed. A store in memory never does at `recover`.
  using Done = base::InplaceFunction<void(bool)>;

  virtual ~CompletedCheckpointStore() = default;

  // Whether the entries live in another process: then only the functions with a `done` may be
  // called, and they answer later. Otherwise they answer inside the call.
  [[nodiscard]] virtual bool is_remote() const { return false; }
  virtual void recover_async(Done done) {
    recover();
    done(true);
  }
  virtual void add_checkpoint_async(CompletedCheckpointPtr checkpoint, Done done) {
    done(add_checkpoint(std::move(checkpoint)));
  }
  // Re-reads a store that other processes share; nothing to do for one in memory.
  virtual void recover() = 0;
  // False: the store failed, and nothing has changed.
  virtual bool add_checkpoint(CompletedCheckpointPtr checkpoint) = 0;
  // Deletes what the final status does not keep, and forgets everything.
  virtual void shutdown(JobStatus status) = 0;
  // Registers what its checkpoints share, oldest first, with a registry that is new. Flink
  // writes into their handles; here the checkpoints are replaced.
  virtual void register_shared_states_after_restored(SharedStateRegistry110& registry) = 0;
  // Oldest first, in the order of addition.
  [[nodiscard]] virtual const std::deque<CompletedCheckpointPtr>& checkpoints() const = 0;

  // The one to recover from; null if there is none. With `prefer_checkpoint`, and at least two
  // stored, the newest one that is no savepoint, if there is one.
  [[nodiscard]] CompletedCheckpointPtr latest_checkpoint(bool prefer_checkpoint) const;
};

// CompletedCheckpointStore::register_shared_states_after_restored of any list.
void register_shared_states_after_restored(std::deque<CompletedCheckpointPtr>& checkpoints,
                                           SharedStateRegistry110& registry);

// In the job manager's memory.
//
// Invariants
//   S1  A file that a stored checkpoint names is never deleted (`add_checkpoint`, `shutdown`).
class StandaloneCompletedCheckpointStore final : public CompletedCheckpointStore {
 public:
  // Fewer than 1 retained acts as 1. The registry: of what is added.
  StandaloneCompletedCheckpointStore(std::int32_t retained, CheckpointStorage& storage,
                                     SharedStateRegistry110& registry);

  void recover() override {}
  // Drops at most one: the oldest. Deleted only if its properties say so.
  bool add_checkpoint(CompletedCheckpointPtr checkpoint) override;
  void shutdown(JobStatus status) override;
  void register_shared_states_after_restored(SharedStateRegistry110& registry) override;
  [[nodiscard]] const std::deque<CompletedCheckpointPtr>& checkpoints() const override {
    return checkpoints_;
  }

 private:
  void discard(const CompletedCheckpoint& checkpoint);

  std::size_t retained_;
  CheckpointStorage& storage_;
  SharedStateRegistry110& registry_;
  std::deque<CompletedCheckpointPtr> checkpoints_;
};

}  // namespace tailrace::engine
