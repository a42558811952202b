#include "engine/checkpoint/f110/zookeeper_completed_checkpoint_store_110.hpp"

#include <string>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

ZooKeeperCompletedCheckpointStore110::ZooKeeperCompletedCheckpointStore110(
    std::int32_t retained, CheckpointHandleStore& handles, CheckpointStorage& storage,
    SharedStateRegistry110& registry)
    : retained_(retained < 1 ? 1 : static_cast<std::size_t>(retained)),
      handles_(handles),
      storage_(storage),
      registry_(registry) {}

void ZooKeeperCompletedCheckpointStore110::recover() {
  TAILRACE_ASSERT_MSG(false, std::string("a remote store answers later"));
}

bool ZooKeeperCompletedCheckpointStore110::add_checkpoint(CompletedCheckpointPtr) {
  TAILRACE_ASSERT_MSG(false, std::string("a remote store answers later"));
  return false;
}

void ZooKeeperCompletedCheckpointStore110::recover_async(Done done) {
  read({}, true, std::make_shared<Done>(std::move(done)));
}

void ZooKeeperCompletedCheckpointStore110::read(std::vector<CheckpointId> last_read, bool first,
                                                SharedDone done) {
  handles_.get_all_and_lock(
      lifeline_.bind([this, first, done = std::move(done),
                      last = std::make_unique<std::vector<CheckpointId>>(std::move(last_read))](
                         const std::vector<StoredCheckpoint>& all) {
        std::vector<CheckpointId> ids;
        std::deque<CompletedCheckpointPtr> readable;
        for (const StoredCheckpoint& stored : all) {
          if (stored.checkpoint == nullptr) continue;
          ids.push_back(stored.id);
          readable.push_back(stored.checkpoint);
        }
        // The storage may have been out for a moment: only what fails twice is given up.
        if (ids.size() != all.size() && (first || ids != *last)) return read(ids, false, done);
        checkpoints_ = std::move(readable);
        (*done)(!checkpoints_.empty() || all.empty());
      }));
}

void ZooKeeperCompletedCheckpointStore110::add_checkpoint_async(CompletedCheckpointPtr checkpoint,
                                                                Done done) {
  handles_.add_and_lock(
      checkpoint, lifeline_.bind([this, checkpoint, done = std::make_shared<Done>(std::move(done))](
                                     HandleStored stored) {
        // 1.10 does not tell an uncertain failure apart: the caller deletes the files, and an entry
        // that is there all the same points to nothing.
        if (stored != HandleStored::STORED) return (*done)(false);
        checkpoints_.push_back(checkpoint);
        drop_oldest(done);
      }));
}

void ZooKeeperCompletedCheckpointStore110::drop_oldest(SharedDone done) {
  if (checkpoints_.size() <= retained_) return (*done)(true);
  const CompletedCheckpointPtr oldest = std::move(checkpoints_.front());
  checkpoints_.pop_front();
  handles_.release_and_try_remove(
      oldest->id, lifeline_.bind([this, oldest, done = std::move(done)](bool removed) {
        if (removed && oldest->properties.discard_on_subsumed) discard(*oldest);
        drop_oldest(done);
      }));
}

void ZooKeeperCompletedCheckpointStore110::discard(const CompletedCheckpoint& checkpoint) {
  discard_unneeded_checkpoint(checkpoint, checkpoints_, storage_);
  if (checkpoint.shares_state()) registry_.unregister_all(checkpoint.operator_states);
}

void ZooKeeperCompletedCheckpointStore110::register_shared_states_after_restored(
    SharedStateRegistry110& registry) {
  engine::register_shared_states_after_restored(checkpoints_, registry);
}

void ZooKeeperCompletedCheckpointStore110::shutdown(JobStatus status) {
  std::deque<CompletedCheckpointPtr> all = std::exchange(checkpoints_, {});
  if (status == JobStatus::SUSPENDED) return;
  remove_all(std::make_shared<std::deque<CompletedCheckpointPtr>>(std::move(all)), status);
}

void ZooKeeperCompletedCheckpointStore110::remove_all(
    std::shared_ptr<std::deque<CompletedCheckpointPtr>> all, JobStatus status) {
  if (all->empty()) return handles_.clear_entries();
  const CheckpointId id = all->front()->id;
  handles_.release_and_try_remove(id, lifeline_.bind([this, all, status](bool removed) {
    const CompletedCheckpointPtr checkpoint = std::move(all->front());
    all->pop_front();
    if (removed && checkpoint->properties.discard_on(status)) discard(*checkpoint);
    remove_all(all, status);
  }));
}

}  // namespace tailrace::engine
