#include "engine/checkpoint/completed_checkpoint_store.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

CompletedCheckpointPtr CompletedCheckpointStore::latest_checkpoint(bool prefer_checkpoint) const {
  const std::deque<CompletedCheckpointPtr>& all = checkpoints();
  if (all.empty()) return nullptr;
  if (prefer_checkpoint && all.size() > 1) {
    const auto newest = std::find_if(all.rbegin(), all.rend(), [](const auto& checkpoint) {
      return !checkpoint->properties.is_savepoint();
    });
    if (newest != all.rend()) return *newest;
  }
  return all.back();
}

void register_shared_states_after_restored(std::deque<CompletedCheckpointPtr>& checkpoints,
                                           SharedStateRegistry110& registry) {
  for (CompletedCheckpointPtr& checkpoint : checkpoints) {
    if (!checkpoint->shares_state()) continue;
    auto registered = std::make_shared<CompletedCheckpoint>(*checkpoint);
    const auto error = registry.register_all_after_restored(registered->operator_states);
    TAILRACE_ASSERT_MSG(!error.has_value(), *error);
    checkpoint = std::move(registered);
  }
}

StandaloneCompletedCheckpointStore::StandaloneCompletedCheckpointStore(
    std::int32_t retained, CheckpointStorage& storage, SharedStateRegistry110& registry)
    : retained_(retained < 1 ? 1 : static_cast<std::size_t>(retained)),
      storage_(storage),
      registry_(registry) {}

bool StandaloneCompletedCheckpointStore::add_checkpoint(CompletedCheckpointPtr checkpoint) {
  checkpoints_.push_back(std::move(checkpoint));
  if (checkpoints_.size() > retained_) {
    const CompletedCheckpointPtr oldest = std::move(checkpoints_.front());
    checkpoints_.pop_front();
    if (oldest->properties.discard_on_subsumed) discard(*oldest);
  }
  return true;
}

void StandaloneCompletedCheckpointStore::shutdown(JobStatus status) {
  std::deque<CompletedCheckpointPtr> all = std::exchange(checkpoints_, {});
  // What stays counts as referenced while the others are discarded (S1).
  std::deque<CompletedCheckpointPtr> discarded;
  for (CompletedCheckpointPtr& checkpoint : all) {
    const bool goes = checkpoint->properties.discard_on(status);
    (goes ? discarded : checkpoints_).push_back(std::move(checkpoint));
  }
  for (const CompletedCheckpointPtr& checkpoint : discarded) discard(*checkpoint);
  checkpoints_.clear();
}

void StandaloneCompletedCheckpointStore::register_shared_states_after_restored(
    SharedStateRegistry110& registry) {
  engine::register_shared_states_after_restored(checkpoints_, registry);
}

void StandaloneCompletedCheckpointStore::discard(const CompletedCheckpoint& checkpoint) {
  discard_unneeded_checkpoint(checkpoint, checkpoints_, storage_);  // S1
  if (checkpoint.shares_state()) registry_.unregister_all(checkpoint.operator_states);
}

}  // namespace tailrace::engine
