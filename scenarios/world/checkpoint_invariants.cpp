#include "scenarios/world/checkpoint_invariants.hpp"

#include <algorithm>
#include <string>

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

using base::Duration;
using base::Time;

void CheckpointInvariants::on_job_submitted(engine::JobId job, Time now) {
  job_ = job;
  last_triggered_ = 0;
  pending_.clear();
  stored_.clear();
  stored_unknown_ = false;
  scheduling_ = false;
  stopping_ = engine::kNoCheckpoint;
  quiet_since_ = now;
}

void CheckpointInvariants::on_job_status(engine::JobId job, engine::JobStatus status, Time now) {
  if (job != job_) return;
  check_liveness(now);
  scheduling_ = status == engine::JobStatus::RUNNING && rules_.interval.has_value();
  stopping_ = engine::kNoCheckpoint;
  quiet_since_ = now;
}

void CheckpointInvariants::on_cleaning(Time now, bool begins) {
  cleaning_ += begins ? 1 : -1;
  TAILRACE_ASSERT(cleaning_ >= 0);
  quiet_since_ = now;
}

void CheckpointInvariants::on_job_manager_lost(Time now) {
  cleaning_ = 0;
  check_liveness(now);
  scheduling_ = false;
  stopping_ = engine::kNoCheckpoint;
  pending_.clear();
  stored_unknown_ = !rules_.highly_available;
}

void CheckpointInvariants::on_triggered(engine::JobId job, engine::CheckpointId id,
                                        engine::CheckpointType type, Time now) {
  if (job != job_) return;
  check_liveness(now);
  quiet_since_ = now;
  TAILRACE_ASSERT_MSG(id > last_triggered_, "K1: checkpoint " + std::to_string(id) +
                                                " is triggered after " +
                                                std::to_string(last_triggered_));
  last_triggered_ = id;
  const bool forced = engine::is_savepoint(type) && rules_.savepoints_forced;
  TAILRACE_ASSERT_MSG(forced || pending_.size() < static_cast<std::size_t>(rules_.max_concurrent),
                      "K2: checkpoint " + std::to_string(id) + " starts while " +
                          std::to_string(pending_.size()) + " are pending, of " +
                          std::to_string(rules_.max_concurrent) + " allowed");
  pending_.insert(id);
  if (engine::is_synchronous(type)) stopping_ = id;
}

void CheckpointInvariants::on_completed(engine::JobId job, engine::CheckpointId id,
                                        engine::CheckpointType type, Time now) {
  if (job != job_) return;
  quiet_since_ = now;
  TAILRACE_ASSERT_MSG(pending_.erase(id) == 1,
                      "checkpoint " + std::to_string(id) + " completes without being pending");
  const bool savepoint = engine::is_savepoint(type);
  if (!savepoint || rules_.savepoints_stored) store(id, savepoint);
}

void CheckpointInvariants::on_failed(engine::JobId job, engine::CheckpointId id, Time now) {
  if (job != job_) return;
  quiet_since_ = now;
  pending_.erase(id);
  if (id != engine::kNoCheckpoint && id == stopping_) stopping_ = engine::kNoCheckpoint;
}

void CheckpointInvariants::on_restore(engine::JobId job, engine::CheckpointId restored, Time now) {
  if (job != job_) return;
  quiet_since_ = now;
  if (rules_.highly_available) {
    // What a savepoint restores from is an entry as well. The number that follows it is stored behind
    // it, and Flink does not look at the entries for it: a leader that dies in between leaves a count
    // of smaller ones.
    stored_ = entries_[job];
    std::erase_if(stored_, [](const Stored& stored) { return !stored.readable; });
  } else if (stored_.empty() && last_triggered_ == 0) {
    // The job starts, from nothing or from what another job has left.
    if (restored != engine::kNoCheckpoint) {
      store(restored, true);
      last_triggered_ = restored;
    }
    return;
  }
  const engine::CheckpointId expected = expected_restore();
  if (stored_unknown_) {
    TAILRACE_ASSERT_MSG(restored >= expected, "K4: restored checkpoint " +
                                                  std::to_string(restored) + ", although " +
                                                  std::to_string(expected) + " was stored");
    if (restored != engine::kNoCheckpoint && restored != expected) store(restored, false);
    stored_unknown_ = false;
    return;
  }
  TAILRACE_ASSERT_MSG(restored == expected, "K4: restored checkpoint " + std::to_string(restored) +
                                                ", the newest stored one is " +
                                                std::to_string(expected));
}

void CheckpointInvariants::on_entry_written(engine::JobId job, engine::CheckpointId id,
                                            bool savepoint) {
  // By id, as their names sort: whatever was added last, that is how they are read.
  std::deque<Stored>& entries = entries_[job];
  const auto behind = std::find_if(entries.begin(), entries.end(),
                                   [id](const Stored& stored) { return stored.id > id; });
  entries.insert(behind, {id, savepoint});
}

void CheckpointInvariants::on_entry_removed(engine::JobId job, engine::CheckpointId id) {
  std::erase_if(entries_[job], [id](const Stored& stored) { return stored.id == id; });
}

void CheckpointInvariants::on_entry_read(engine::JobId job, engine::CheckpointId id,
                                         bool readable) {
  for (Stored& stored : entries_[job]) {
    if (stored.id == id) stored.readable = readable;
  }
}

void CheckpointInvariants::check_liveness(Time now) const {
  if (!scheduling_ || !pending_.empty() || stopping_ != engine::kNoCheckpoint) return;
  if (cleaning_ > 0) return;
  const Duration bound = std::max(*rules_.interval, rules_.min_pause) + rules_.timeout +
                         rules_.min_pause + rules_.store_and_calls;
  TAILRACE_ASSERT_MSG(now - quiet_since_ <= bound, "K3: no checkpoint was triggered for " +
                                                       std::to_string((now - quiet_since_).ns) +
                                                       " ns, allowed are " +
                                                       std::to_string(bound.ns));
}

engine::CheckpointId CheckpointInvariants::expected_restore() const {
  if (stored_.empty()) return engine::kNoCheckpoint;
  if (rules_.prefer_checkpoint_for_recovery && stored_.size() >= 2) {
    const auto newest = std::find_if(stored_.rbegin(), stored_.rend(),
                                     [](const Stored& stored) { return !stored.savepoint; });
    if (newest != stored_.rend()) return newest->id;
  }
  return stored_.back().id;
}

void CheckpointInvariants::store(engine::CheckpointId id, bool savepoint) {
  stored_.push_back({id, savepoint});
  while (stored_.size() > static_cast<std::size_t>(std::max(rules_.retained, 1))) {
    stored_.pop_front();
  }
}

}  // namespace tailrace::scenarios
