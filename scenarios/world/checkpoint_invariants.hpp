// What must hold of the checkpoints of every run, whatever happens to the job.
//
// Sees what an observer of the engine sees and knows the settings, nothing of the coordinator's
// inside: it is a second opinion. Broken, an invariant stops the run (sim/base/assert.hpp).
//
// Invariants
//   K1  Ids of one job grow strictly: none is used twice.
//   K2  A checkpoint that is not forced starts only while fewer than `max_concurrent` are pending,
//       savepoints counted.
//   K3  Liveness: while periodic checkpointing is on and nothing is pending or being deleted (1.20: with
//       more deletions than checkpoints at a time none is triggered, R-3.14; and they take the job
//       manager's threads), something is triggered, or tried, within interval + timeout + minimum pause.
//   K4  A restart begins from the newest checkpoint that was stored, or from none if there is none
//       (with prefer-checkpoint-for-recovery: ). With a highly available store, also across
//       leaders: from its newest entry whose contents could be read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

struct CheckpointRules {
  std::optional<base::Duration> interval;  // none: nothing periodic
  base::Duration timeout = base::Duration::seconds(600);
  base::Duration min_pause{};
  std::int32_t max_concurrent = 1;
  std::int32_t retained = 1;
  bool savepoints_forced = true;  // 1.20: not with unaligned checkpoints
  bool savepoints_stored = true;  // 1.10
  bool prefer_checkpoint_for_recovery = false;
  bool highly_available = false;  // what is stored survives the job manager
  // What a trigger may wait for besides: a number and entries from the store, answers of tasks.
  base::Duration store_and_calls{};
};

class CheckpointInvariants {
 public:
  explicit CheckpointInvariants(const CheckpointRules& rules) : rules_(rules) {}

  void on_job_submitted(engine::JobId job, base::Time now);
  void on_job_status(engine::JobId job, engine::JobStatus status, base::Time now);
  // Nobody is in charge until the job runs again. Without news of a highly available store, what was
  // stored last is not known for sure: a checkpoint may have been stored without anybody hearing of
  // it.
  void on_job_manager_lost(base::Time now);
  // The files of some checkpoint are being deleted, or are gone.
  void on_cleaning(base::Time now, bool begins);
  void on_triggered(engine::JobId job, engine::CheckpointId id, engine::CheckpointType type,
                    base::Time now);
  void on_completed(engine::JobId job, engine::CheckpointId id, engine::CheckpointType type,
                    base::Time now);
  // `id` is kNoCheckpoint if it failed before it had one.
  void on_failed(engine::JobId job, engine::CheckpointId id, base::Time now);
  void on_restore(engine::JobId job, engine::CheckpointId restored, base::Time now);
  // What the highly available store holds, whatever the job manager knows of it.
  void on_entry_written(engine::JobId job, engine::CheckpointId id, bool savepoint);
  void on_entry_removed(engine::JobId job, engine::CheckpointId id);
  void on_entry_read(engine::JobId job, engine::CheckpointId id, bool readable);
  // At any time, and at the end of the run.
  void check_liveness(base::Time now) const;

 private:
  struct Stored {
    engine::CheckpointId id;
    bool savepoint;
    bool readable = true;
  };

  [[nodiscard]] engine::CheckpointId expected_restore() const;
  void store(engine::CheckpointId id, bool savepoint);

  CheckpointRules rules_;
  engine::JobId job_{};
  engine::CheckpointId last_triggered_ = 0;
  std::set<engine::CheckpointId> pending_;
  std::deque<Stored> stored_;  // oldest first
  // By job: of a highly available store.
  std::map<engine::JobId, std::deque<Stored>> entries_;
  bool stored_unknown_ = false;
  bool scheduling_ = false;
  engine::CheckpointId stopping_ = engine::kNoCheckpoint;  // a synchronous savepoint is under way
  std::int32_t cleaning_ = 0;  // checkpoints whose files are being deleted
  base::Time quiet_since_;     // the last thing that had to do with checkpoints
};

}  // namespace tailrace::scenarios
