#include "scenarios/world/checkpoint_files.hpp"

#include <algorithm>

#include "scenarios/world/job_settings.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

void CheckpointFiles::on_triggered(engine::JobId job, engine::CheckpointId id,
                                   engine::CheckpointType type) {
  const Key key{job, id};
  const bool savepoint = engine::is_savepoint(type);
  checkpoints_.insert_or_assign(key, Checkpoint{.savepoint = savepoint});
  if (savepoint) return;
  // Flink FsCheckpointStorage: a directory for each job, and in it one for each checkpoint.
  directories_.insert_or_assign(std::string(kCheckpointDirectory) + "/job-" +
                                    std::to_string(job.value) + "/chk-" + std::to_string(id),
                                key);
}

void CheckpointFiles::on_completed(engine::JobId job, engine::CheckpointId id) {
  const auto found = checkpoints_.find({job, id});
  if (found == checkpoints_.end()) return;
  found->second.state = found->second.savepoint ? State::kKept : State::kStored;
}

void CheckpointFiles::on_failed(engine::JobId job, engine::CheckpointId id) {
  const auto found = checkpoints_.find({job, id});
  if (found != checkpoints_.end()) found->second.state = State::kGone;
}

void CheckpointFiles::on_cleaning(engine::JobId job, engine::CheckpointId id, bool begins) {
  const auto found = checkpoints_.find({job, id});
  if (found != checkpoints_.end()) found->second.is_cleaned = begins;
}

void CheckpointFiles::on_entry_written(engine::JobId job, engine::CheckpointId id) {
  const auto found = checkpoints_.find({job, id});
  if (found != checkpoints_.end()) found->second.has_entry = true;
}

void CheckpointFiles::on_entry_removed(engine::JobId job, engine::CheckpointId id) {
  const auto found = checkpoints_.find({job, id});
  if (found != checkpoints_.end()) found->second.has_entry = false;
}

void CheckpointFiles::on_job_status(engine::JobId job, engine::JobStatus status) {
  if (status != engine::JobStatus::FINISHED && status != engine::JobStatus::CANCELED &&
      status != engine::JobStatus::FAILED) {
    return;
  }
  const bool goes =
      engine::CheckpointProperties::for_checkpoint(rules_.retention).discard_on(status);
  for (auto& [key, checkpoint] : checkpoints_) {
    if (key.first != job) continue;
    if (checkpoint.state == State::kStored && !goes && may_have_files(key, checkpoint)) {
      checkpoint.state = State::kKept;
    }
  }
  for (auto& [key, checkpoint] : checkpoints_) {
    if (key.first != job) continue;
    if (checkpoint.state == State::kPending) checkpoint.state = State::kGone;
    if (checkpoint.state == State::kStored) checkpoint.state = State::kDoomed;
  }
}

void CheckpointFiles::on_job_manager_lost() {
  for (auto& [key, checkpoint] : checkpoints_) {
    if (checkpoint.is_cleaned) checkpoint.state = State::kAbandoned;
    switch (checkpoint.state) {
      case State::kPending:
      case State::kDoomed:
        checkpoint.state = State::kAbandoned;
        break;
      case State::kStored:
        if (!rules_.highly_available || !checkpoint.has_entry) checkpoint.state = State::kAbandoned;
        break;
      case State::kKept:
      case State::kAbandoned:
      case State::kGone:
        break;
    }
  }
}

std::int32_t CheckpointFiles::newer_than(const Key& key) const {
  std::int32_t newer = 0;
  for (auto other = checkpoints_.upper_bound(key);
       other != checkpoints_.end() && other->first.first == key.first; ++other) {
    if (other->second.state == State::kStored) ++newer;
  }
  return newer;
}

bool CheckpointFiles::may_have_files(const Key& key, const Checkpoint& checkpoint) const {
  if (checkpoint.is_cleaned) return true;
  switch (checkpoint.state) {
    case State::kPending:
    case State::kKept:
    case State::kAbandoned:
      return true;
    case State::kStored:
      if (rules_.highly_available) return checkpoint.has_entry;
      return newer_than(key) < std::max(rules_.retained, 1);
    case State::kDoomed:
    case State::kGone:
      return false;
  }
  return false;
}

bool CheckpointFiles::is_entry(const std::string& path) {
  return path.starts_with(std::string(kHighAvailabilityDirectory) + '/');
}

bool CheckpointFiles::check_file(const std::string& path) const {
  if (!path.starts_with(std::string(kCheckpointDirectory) + '/')) return false;
  const auto found = directories_.find(directory_of(path));
  TAILRACE_ASSERT_MSG(found != directories_.end(),
                      "K5: " + path + " belongs to no checkpoint that was ever triggered");
  TAILRACE_ASSERT_MSG(may_have_files(found->second, checkpoints_.at(found->second)),
                      "K5: " + path + " is left of checkpoint " +
                          std::to_string(found->second.second) + ", which nobody refers to");
  return true;
}

void CheckpointFiles::check_savepoints(const std::set<std::string_view>& directories) const {
  const auto allowed = std::count_if(checkpoints_.begin(), checkpoints_.end(), [](const auto& one) {
    return one.second.savepoint && one.second.state != State::kGone;
  });
  TAILRACE_ASSERT_MSG(directories.size() <= static_cast<std::size_t>(allowed),
                      "K5: " + std::to_string(directories.size()) + " directories of " +
                          std::to_string(allowed) + " savepoints that may have one");
}

}  // namespace tailrace::scenarios
