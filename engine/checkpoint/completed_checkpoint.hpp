// A checkpoint that can be restored from.
//
// Flink 1.10 CompletedCheckpoint, MasterState (spec coordinator.md 1.4). Immutable; shared by the
// store and by whoever restores from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/state_inventory.hpp"
#include "engine/checkpoint/stats/checkpoint_stats.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

// What a hook on the job manager contributed.
struct MasterState {
  std::int32_t version = 0;  // of the hook's own encoding
  std::string name;          // identifier of the hook
  std::vector<std::byte> bytes;

  friend bool operator==(const MasterState&, const MasterState&) = default;
};

// In the order of their ids, which is the order in which everything walks over them.
using OperatorStates = std::map<OperatorId, OperatorState>;

// What is known of the states of one checkpoint. A copy of it knows nothing, because the states of the
// copy may become others.
class KnownInventory {
 public:
  KnownInventory() = default;
  explicit KnownInventory(std::unique_ptr<const StateInventory> inventory)
      : inventory_(std::move(inventory)) {}
  KnownInventory(const KnownInventory&) {}
  KnownInventory(KnownInventory&&) = default;
  KnownInventory& operator=(const KnownInventory&) {
    inventory_.reset();
    return *this;
  }
  KnownInventory& operator=(KnownInventory&&) = default;
  ~KnownInventory() = default;

  // Null if nothing is known.
  [[nodiscard]] const StateInventory* get() const { return inventory_.get(); }

 private:
  std::unique_ptr<const StateInventory> inventory_;
};

struct CompletedCheckpoint {
  JobId job;
  CheckpointId id = kNoCheckpoint;
  std::int64_t timestamp_ms = 0;   // of the trigger; 0 for a loaded savepoint
  std::int64_t completion_ms = 0;  // when its metadata was written
  OperatorStates operator_states;
  std::vector<MasterState> master_states;
  CheckpointProperties properties;
  CheckpointStorageLocation location;
  // Marked when this is discarded. Null if this was not taken by the job that has it.
  CheckpointStatsPtr statistics = nullptr;
  // Of one that was loaded: what it had been taken as, as far as its metadata says (1.20).
  std::optional<CheckpointProperties> restored_properties = std::nullopt;
  KnownInventory inventory = {};

  // What a user restores from.
  [[nodiscard]] const std::string& external_pointer() const { return location.directory; }
  [[nodiscard]] std::int64_t state_size_bytes() const;
  // Names of all files of its operators' states, without `_metadata`.
  void append_private_files(FileNames& paths) const;
  // Whether anything of it may be shared with other checkpoints.
  [[nodiscard]] bool shares_state() const;
};
using CompletedCheckpointPtr = std::shared_ptr<const CompletedCheckpoint>;

[[nodiscard]] std::int64_t state_size_bytes(const OperatorStates& states);
void append_private_files(const OperatorStates& states, FileNames& paths);

// Whether anything of it may be shared with other checkpoints.
[[nodiscard]] bool shares_state(const OperatorStates& states);
// Whether a file of it is still only a placeholder, which no metadata can hold.
[[nodiscard]] bool names_placeholders(const OperatorStates& states);

// Deletes, in this order: the metadata, the states, the location; then marks the statistics.
// What is shared is left to its registry.
void discard_completed_checkpoint(const CompletedCheckpoint& checkpoint,
                                  CheckpointStorage& storage);
// Its files besides the metadata, to be deleted. Requires: none of `kept` names one.
[[nodiscard]] FileNames unneeded_files(const CompletedCheckpoint& checkpoint,
                                       const std::deque<CompletedCheckpointPtr>& kept);
// As discard_completed_checkpoint. Requires: none of `kept` names a file of it.
void discard_unneeded_checkpoint(const CompletedCheckpoint& checkpoint,
                                 const std::deque<CompletedCheckpointPtr>& kept,
                                 CheckpointStorage& storage);

}  // namespace tailrace::engine
