// Deletes checkpoints that nobody needs any more, and knows how many are under way.
//
// Flink 1.20 CheckpointsCleaner (spec coordinator.md ). Cleaning is work with a
// duration (M-8): `Deletion` says when it is over.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class CheckpointsCleaner {
 public:
  using PostCleanup = base::InplaceFunction<void()>;
  // Deletes and runs the callback when that is done: later if it takes time, else inside the call.
  using Deletion = base::InplaceFunction<void(base::InplaceFunction<void(), 128> done), 128>;
  // Deletes a completed checkpoint; the same promise.
  using DiscardCompleted = base::InplaceFunction<void(CompletedCheckpointPtr checkpoint,
                                                      base::InplaceFunction<void(), 128> done)>;

  explicit CheckpointsCleaner(DiscardCompleted discard) : discard_(std::move(discard)) {}

  // Counts as being cleaned until `deletion` is over; then `post_cleanup` (may be empty) runs.
  // This object outlives the deletion.
  void clean(Deletion deletion, PostCleanup post_cleanup);
  // As above; if it is not to be discarded, `post_cleanup` runs at once.
  void clean_checkpoint(CompletedCheckpointPtr checkpoint, bool should_discard,
                        PostCleanup post_cleanup);

  // Left for `clean_subsumed_checkpoints`.
  void add_subsumed_checkpoint(CompletedCheckpointPtr checkpoint);
  // Cleans the subsumed ones with ids below `up_to` whose files no other checkpoint uses, in the
  // order of their subsumption. `make_post_cleanup` is asked once for each.
  template <typename MakePostCleanup>
  void clean_subsumed_checkpoints(CheckpointId up_to, const std::set<CheckpointId>& still_in_use,
                                  MakePostCleanup make_post_cleanup);

  [[nodiscard]] std::size_t checkpoints_to_clean() const { return to_clean_; }

 private:
  DiscardCompleted discard_;
  std::size_t to_clean_ = 0;
  std::vector<CompletedCheckpointPtr> subsumed_;
};

template <typename MakePostCleanup>
void CheckpointsCleaner::clean_subsumed_checkpoints(CheckpointId up_to,
                                                    const std::set<CheckpointId>& still_in_use,
                                                    MakePostCleanup make_post_cleanup) {
  // Taken out first: what runs after a cleaning may come back here.
  std::vector<CompletedCheckpointPtr> ready;
  std::erase_if(subsumed_, [&](const CompletedCheckpointPtr& checkpoint) {
    const bool is_ready = checkpoint->id < up_to && !still_in_use.contains(checkpoint->id);
    if (is_ready) ready.push_back(checkpoint);
    return is_ready;
  });
  for (CompletedCheckpointPtr& checkpoint : ready) {
    const bool discard = checkpoint->properties.discard_on_subsumed;
    clean_checkpoint(std::move(checkpoint), discard, make_post_cleanup());
  }
}

}  // namespace tailrace::engine
