#include "engine/checkpoint/f120/default_completed_checkpoint_store_120.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void retrieve_completed_checkpoints(CheckpointHandleStore& handles, RetrievedCheckpoints done) {
  handles.get_all_and_lock([done = std::make_unique<RetrievedCheckpoints>(std::move(done))](
                               const std::vector<StoredCheckpoint>& all) {
    std::vector<CompletedCheckpointPtr> checkpoints;
    for (const StoredCheckpoint& stored : all) {
      if (stored.checkpoint == nullptr) return (*done)(std::nullopt);
      checkpoints.push_back(stored.checkpoint);
    }
    (*done)(std::move(checkpoints));
  });
}

DefaultCompletedCheckpointStore120::DefaultCompletedCheckpointStore120(
    std::int32_t retained, const std::vector<CompletedCheckpointPtr>& recovered,
    CheckpointHandleStore& handles, SharedStateRegistry120& registry, CheckpointsCleaner& cleaner)
    : retained_(retained < 1 ? 1 : static_cast<std::size_t>(retained)),
      handles_(handles),
      registry_(registry),
      cleaner_(cleaner),
      checkpoints_(recovered.begin(), recovered.end()) {}

void DefaultCompletedCheckpointStore120::add(CompletedCheckpointPtr checkpoint,
                                             MakePostCleanup make_post_cleanup, AddDone done) {
  TAILRACE_ASSERT(running_);
  auto adding = std::make_shared<Adding>();
  adding->make_post_cleanup = std::move(make_post_cleanup);
  adding->done = std::move(done);
  handles_.add_and_lock(
      checkpoint,
      lifeline_.bind([this, checkpoint, adding = std::move(adding)](HandleStored stored) {
        switch (stored) {
          case HandleStored::FAILED:
            return adding->done({Added::FAILED, nullptr});
          case HandleStored::UNCERTAIN:
            return adding->done({Added::UNCERTAIN, nullptr});
          case HandleStored::STORED:
            break;
        }
        checkpoints_.push_back(checkpoint);
        adding->subsumed = subsume(checkpoints_, retained_);
        remove_subsumed(adding);
      }));
}

void DefaultCompletedCheckpointStore120::remove_subsumed(std::shared_ptr<Adding> adding) {
  if (adding->next < adding->subsumed.removed.size()) {
    CompletedCheckpointPtr gone = std::move(adding->subsumed.removed[adding->next++]);
    const CheckpointId id = gone->id;
    handles_.release_and_try_remove(
        id, lifeline_.bind([this, gone = std::move(gone), adding](bool removed) mutable {
          // An entry that may still be there keeps its files.
          if (removed) cleaner_.add_subsumed_checkpoint(std::move(gone));
          remove_subsumed(adding);
        }));
    return;
  }
  for (const CompletedCheckpointPtr& stored : checkpoints_) {
    if (stored->properties.is_savepoint()) continue;
    cleaner_.clean_subsumed_checkpoints(stored->id, registry_.unregister_unused_state(stored->id),
                                        [&adding] { return adding->make_post_cleanup(); });
    break;
  }
  adding->done({Added::STORED, std::move(adding->subsumed.last)});
}

void DefaultCompletedCheckpointStore120::shutdown(JobStatus status) {
  if (!std::exchange(running_, false)) return;
  registry_.close();
  std::deque<CompletedCheckpointPtr> all = std::exchange(checkpoints_, {});
  if (status == JobStatus::SUSPENDED) return;
  const auto removing = std::make_shared<Removing>();
  removing->checkpoints = std::move(all);
  removing->status = status;
  remove_all(removing);
}

void DefaultCompletedCheckpointStore120::remove_all(std::shared_ptr<Removing> removing) {
  if (!removing->checkpoints.empty()) {
    const CheckpointId id = removing->checkpoints.front()->id;
    handles_.release_and_try_remove(id, lifeline_.bind([this, removing](bool removed) {
      CompletedCheckpointPtr checkpoint = std::move(removing->checkpoints.front());
      removing->checkpoints.pop_front();
      const bool discard = checkpoint->properties.discard_on(removing->status);
      if (!discard) removing->lowest_kept = std::min(removing->lowest_kept, checkpoint->id);
      if (removed) cleaner_.clean_checkpoint(std::move(checkpoint), discard, {});
      remove_all(removing);
    }));
    return;
  }
  handles_.clear_entries();
  cleaner_.clean_subsumed_checkpoints(removing->lowest_kept,
                                      registry_.unregister_unused_state(removing->lowest_kept),
                                      [] { return CheckpointsCleaner::PostCleanup{}; });
}

}  // namespace tailrace::engine
