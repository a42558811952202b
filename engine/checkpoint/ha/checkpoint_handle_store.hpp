// What a job keeps outside its job manager: its completed checkpoints and its id counter.
//
// StateHandleStore<CompletedCheckpoint> with ZooKeeperStateHandleStore, ZooKeeperCheckpointIDCounter
// of Flink 1.10 and 1.20. One object is the client of one job in one job manager's process; what it
// names survives that process. Every request is answered later. Flink's callers wait for the answer
// with their thread, so whoever asks here holds on to whatever that thread held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/ids.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

// The name of a checkpoint's entry: its id with 19 digits, so that names sort as ids do.
[[nodiscard]] std::string checkpoint_id_to_name(CheckpointId id);
// kNoCheckpoint for what is no such name.
[[nodiscard]] CheckpointId name_to_checkpoint_id(const std::string& name);

enum class HandleStored : std::uint8_t {
  STORED,
  FAILED,     // it is not there
  UNCERTAIN,  // the connection broke: nobody knows
};

// Differences between the generations' state handle stores.
struct HandleStoreSemantics {
  // 1.20: after an uncertain failure nothing is deleted (PossibleInconsistentStateException). 1.10
  // deletes what the entry would point to, so that an entry which is there cannot be read.
  bool keeps_uncertain = true;
  // 1.20: a request that looks whether there is such an entry goes before.
  bool checks_existence = true;
  // 1.20: what the entry points to knows finished tasks and coordinators' state.
  bool keeps_finished_states = true;
};

struct StoredCheckpoint {
  CheckpointId id = kNoCheckpoint;
  CompletedCheckpointPtr
      checkpoint;  // null: there is an entry, but what it points to is unreadable
};

class CheckpointHandleStore {
 public:
  using Added = base::InplaceFunction<void(HandleStored)>;
  using Removed = base::InplaceFunction<void(bool removed)>;
  // Sorted by name.
  using AllRead = base::InplaceFunction<void(std::vector<StoredCheckpoint>)>;

  virtual ~CheckpointHandleStore() = default;

  // Writes what the entry points to, then the entry. FAILED also if there is one of that name.
  virtual void add_and_lock(CompletedCheckpointPtr checkpoint, Added done) = 0;
  virtual void release_and_try_remove(CheckpointId id, Removed done) = 0;
  virtual void get_all_and_lock(AllRead done) = 0;
  // All entries of the job, and what they lie in. Nobody waits.
  virtual void clear_entries() = 0;
};

// Flink 1.10 ZooKeeperCheckpointIDCounter over Curator's SharedCount.
class SharedCount {
 public:
  // None: the connection is lost. An id may have been used up all the same.
  using Next = base::InplaceFunction<void(std::optional<CheckpointId>)>;
  using Set = base::InplaceFunction<void(bool)>;

  virtual ~SharedCount() = default;

  virtual void get_and_increment(Next done) = 0;
  virtual void set_count(CheckpointId next, Set done) = 0;
  // As far as this process knows.
  [[nodiscard]] virtual CheckpointId get() const = 0;
  virtual void remove() = 0;
};

}  // namespace tailrace::engine
