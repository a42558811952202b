// The last completed checkpoints of a job, wherever they are remembered.
//
// Flink 1.20 CompletedCheckpointStore (spec coordinator.md 4.6). Savepoints taken in this run never
// get here.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class CompletedCheckpointStore120 {
 public:
  enum class Added : std::uint8_t {
    STORED,
    FAILED,     // it is not there
    UNCERTAIN,  // nobody knows: its files must stay (Flink's PossibleInconsistentStateException)
  };
  struct Outcome {
    Added added = Added::STORED;
    // Of those that had to make room the one with the largest id; null: none.
    CompletedCheckpointPtr last_subsumed;
  };
  using MakePostCleanup = base::InplaceFunction<CheckpointsCleaner::PostCleanup()>;
  using AddDone = base::InplaceFunction<void(Outcome)>;

  virtual ~CompletedCheckpointStore120() = default;

  // `make_post_cleanup` is asked for each subsumed checkpoint that is cleaned now. `done` runs inside
  // the call, unless the store takes time.
  virtual void add(CompletedCheckpointPtr checkpoint, MakePostCleanup make_post_cleanup,
                   AddDone done) = 0;
  // Deletes what the final status does not keep, and forgets everything.
  virtual void shutdown(JobStatus status) = 0;
  // Oldest first, in the order of addition.
  [[nodiscard]] virtual const std::deque<CompletedCheckpointPtr>& checkpoints() const = 0;

  // Null: none.
  [[nodiscard]] CompletedCheckpointPtr latest_checkpoint() const {
    return checkpoints().empty() ? nullptr : checkpoints().back();
  }
};

}  // namespace tailrace::engine
