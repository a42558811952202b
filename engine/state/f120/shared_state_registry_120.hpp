// Which checkpoint last used a shared file, so that files that nobody uses can be deleted.
//
// Flink 1.20 SharedStateRegistryImpl (spec coordinator.md, state.md 4.2). Of files and
// streams; handles that consist of several register each.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/ids.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

// Flink 1.20 SnapshotType.SharingFilesStrategy.
enum class SharingFilesStrategy : std::uint8_t { FORWARD_BACKWARD, FORWARD, NO_SHARING };

class SharedStateRegistry120 {
 public:
  using DeleteState = base::InplaceFunction<void(const StreamStateHandle&)>;

  explicit SharedStateRegistry120(DeleteState delete_state)
      : delete_state_(std::move(delete_state)) {}

  // `handle`: null for a placeholder, which means what is registered already.
  // `prevent_discarding_creator`: the checkpoint that created the entry must be kept while it is in
  // use, if it is a restored one; without effect on a new entry.
  // Returns: what is registered.
  // Requires: open; not a placeholder for an unknown key, nor another handle for a known one.
  StreamStateHandlePtr register_reference(const std::string& key, StreamStateHandlePtr handle,
                                          CheckpointId checkpoint, bool prevent_discarding_creator);
  // Drops what was last used by checkpoints below `lowest`, and deletes of it, in the order of keys,
  // what no unclaimed checkpoint created.
  // Returns: restored checkpoints that must be kept because of what is still used.
  // Cost: O(entries).
  std::set<CheckpointId> unregister_unused_state(CheckpointId lowest);
  // What a restored checkpoint shares is registered under its id by the caller, before this.
  // `claimed`: its files are the job's. `has_strategy`: its own properties are known.
  void note_restored(CheckpointId checkpoint, bool claimed, bool has_strategy,
                     SharingFilesStrategy strategy);
  // Nothing can be registered any more.
  void close() { open_ = false; }

 private:
  struct Entry {
    StreamStateHandlePtr handle;
    CheckpointId created_by = kNoCheckpoint;
    CheckpointId last_used_by = kNoCheckpoint;
    bool prevents_discarding_creator = false;
  };

  [[nodiscard]] bool keeps_creator(const Entry& entry) const;

  DeleteState delete_state_;
  std::map<std::string, Entry> entries_;
  std::map<CheckpointId, bool> restored_;  // true: its files lie in its own directory (NO_SHARING)
  CheckpointId highest_not_claimed_ = kNoCheckpoint;
  bool open_ = true;
};

}  // namespace tailrace::engine
