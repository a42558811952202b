#include "engine/checkpoint/f120/standalone_completed_checkpoint_store_120.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tailrace::engine {

StandaloneCompletedCheckpointStore120::StandaloneCompletedCheckpointStore120(
    std::int32_t retained, SharedStateRegistry120& registry, CheckpointsCleaner& cleaner)
    : retained_(retained < 1 ? 1 : static_cast<std::size_t>(retained)),
      registry_(registry),
      cleaner_(cleaner) {}

CompletedCheckpointPtr StandaloneCompletedCheckpointStore120::add_and_subsume(
    CompletedCheckpointPtr checkpoint) {
  checkpoints_.push_back(std::move(checkpoint));
  Subsumed subsumed = subsume(checkpoints_, retained_);
  for (CompletedCheckpointPtr& one : subsumed.removed) {
    cleaner_.add_subsumed_checkpoint(std::move(one));
  }
  return std::move(subsumed.last);
}

void StandaloneCompletedCheckpointStore120::add(CompletedCheckpointPtr checkpoint,
                                                MakePostCleanup make_post_cleanup, AddDone done) {
  done({Added::STORED,
        add_checkpoint_and_subsume_oldest(std::move(checkpoint),
                                          [&make_post_cleanup] { return make_post_cleanup(); })});
}

void StandaloneCompletedCheckpointStore120::shutdown(JobStatus status) {
  registry_.close();
  const std::deque<CompletedCheckpointPtr> all = std::exchange(checkpoints_, {});
  CheckpointId lowest_kept = std::numeric_limits<CheckpointId>::max();
  for (const CompletedCheckpointPtr& checkpoint : all) {
    if (checkpoint->properties.discard_on(status)) {
      cleaner_.clean_checkpoint(checkpoint, true, {});
    } else {
      lowest_kept = std::min(lowest_kept, checkpoint->id);
    }
  }
  // After a suspension what is shared may still be needed.
  if (status == JobStatus::SUSPENDED) return;
  clean_below(lowest_kept, [] { return CheckpointsCleaner::PostCleanup{}; });
}

}  // namespace tailrace::engine
