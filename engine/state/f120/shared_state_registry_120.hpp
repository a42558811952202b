// Which checkpoint last used a shared file, so that files that nobody uses can be deleted.
//
// Flink 1.20 SharedStateRegistryImpl (spec coordinator.md, state.md 4.2). Errors are values
// with Flink's messages, because a task that names a file which nobody knows is no fault of ours.
//
// Invariants
//   G1  No entry is a placeholder.
//   G2  An entry without a stream marks a handle: it knows who made the handle, and deletes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/ids.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Flink 1.20 SnapshotType.SharingFilesStrategy.
enum class SharingFilesStrategy : std::uint8_t { FORWARD_BACKWARD, FORWARD, NO_SHARING };

class SharedStateRegistry120 {
 public:
  using DeleteState = base::InplaceFunction<void(const StreamStateHandle&)>;
  using Outcome = base::Result<StreamStateHandlePtr, std::string>;
  using Snapshot = std::shared_ptr<const TaskStateSnapshot>;
  struct RegisteredSnapshot {
    Snapshot snapshot;
    std::optional<std::string> error;
  };
  using OperatorStates = std::map<OperatorId, OperatorState>;

  explicit SharedStateRegistry120(DeleteState delete_state)
      : delete_state_(std::move(delete_state)) {}

  // Used by `checkpoint`, too. A placeholder means what is registered already.
  // `prevent_discarding_creator`: the checkpoint that created the entry must be kept while it is in
  // use, if it is a restored one; without effect on a new entry.
  // Returns: what is registered.
  // Errors: closed; a placeholder for an unknown key; another stream than the registered one.
  // Cost: O(log entries), allocates for a new key only.
  Outcome register_reference(const std::string& key, StreamStateHandlePtr handle,
                             CheckpointId checkpoint, bool prevent_discarding_creator = false);
  // Under the key of the stream itself. Flink's is the UUID of its physical id; this keeps the id,
  // which sorts and is had for nothing, and shows the UUID in messages only.
  Outcome register_stream(StreamStateHandlePtr handle, CheckpointId checkpoint);

  // Registers all shared files and swaps the handles for registered ones; a snapshot that shares
  // nothing comes back as it is. Operators by their ids, managed before raw state.
  // Stops at the first error. The handle that met it counts as registered, with the files before the
  // bad one; those behind it are untouched. What was registered before stays.
  [[nodiscard]] RegisteredSnapshot register_all(Snapshot snapshot, CheckpointId checkpoint);
  // The same for a checkpoint that the job starts from.
  // `claimed`: its files are the job's. `strategy`: none if its own properties are not known.
  [[nodiscard]] std::optional<std::string> register_all_after_restored(
      OperatorStates& states, CheckpointId checkpoint, bool claimed,
      std::optional<SharingFilesStrategy> strategy);
  // What a restored checkpoint shares has been registered under its id before this.
  void note_restored(CheckpointId checkpoint, bool claimed,
                     std::optional<SharingFilesStrategy> strategy);
  // Flink does nothing here either.
  void checkpoint_completed(CheckpointId) {}

  // Drops what was last used by checkpoints below `lowest`, and deletes of it, in the order of keys,
  // what no unclaimed checkpoint created.
  // Returns: restored checkpoints that must be kept because of what is still used.
  // Cost: O(entries).
  std::set<CheckpointId> unregister_unused_state(CheckpointId lowest);
  // Nothing can be registered any more.
  void close() { open_ = false; }

 private:
  struct Entry {
    StreamStateHandlePtr handle;  // null: see G2
    CheckpointId created_by = kNoCheckpoint;
    CheckpointId last_used_by = kNoCheckpoint;
    bool prevents_discarding_creator = false;
  };

  template <typename ShownKey>
  Outcome register_entry(const std::string& key, StreamStateHandlePtr handle,
                         CheckpointId checkpoint, bool prevent_discarding_creator,
                         ShownKey shown_key);
  [[nodiscard]] std::optional<std::string> register_marker(const std::string& handle_id,
                                                           CheckpointId checkpoint);
  [[nodiscard]] std::optional<std::string> register_handle(KeyedStateHandlePtr& handle,
                                                           CheckpointId checkpoint, bool again);
  [[nodiscard]] std::optional<std::string> register_subtask(OperatorSubtaskState& state,
                                                            CheckpointId checkpoint, bool again);
  [[nodiscard]] bool keeps_creator(const Entry& entry) const;

  DeleteState delete_state_;
  std::map<std::string, Entry> entries_;
  std::map<CheckpointId, bool> restored_;  // true: its files lie in its own directory (NO_SHARING)
  CheckpointId highest_not_claimed_ = kNoCheckpoint;
  bool open_ = true;
};

}  // namespace tailrace::engine
