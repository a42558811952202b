#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"

#include <utility>

namespace tailrace::engine {

void CheckpointsCleaner::clean(Deletion deletion, PostCleanup post_cleanup) {
  ++to_clean_;
  deletion([this, post_cleanup = std::move(post_cleanup)]() mutable {
    --to_clean_;
    if (post_cleanup) post_cleanup();
  });
}

void CheckpointsCleaner::clean_checkpoint(CompletedCheckpointPtr checkpoint, bool should_discard,
                                          PostCleanup post_cleanup) {
  if (!should_discard) {
    if (post_cleanup) post_cleanup();
    return;
  }
  clean([this, checkpoint = std::move(checkpoint)](
            auto done) mutable { discard_(std::move(checkpoint), std::move(done)); },
        std::move(post_cleanup));
}

void CheckpointsCleaner::add_subsumed_checkpoint(CompletedCheckpointPtr checkpoint) {
  subsumed_.push_back(std::move(checkpoint));
}

}  // namespace tailrace::engine
