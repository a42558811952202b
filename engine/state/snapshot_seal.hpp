// What a task notes about a snapshot that it has made.
//
// A checkpoint of 10,000 subtasks is acknowledged and put together long after its handles have left
// the processor's caches, so that waiting for memory is most of what that costs. The notes stand at the
// beginning of the snapshot, beside its reference count: nobody has to look further for what is asked
// of every snapshot.
#pragma once

#include <cstdint>

#include "engine/ids.hpp"

namespace tailrace::engine {

class KeyGroupsStateHandle;
struct OperatorSubtaskState;

struct SnapshotNotes {
  std::int64_t state_size_bytes = 0;
  // Of a chain of one operator; null: it has several or none.
  const OperatorSubtaskState* sole_state = nullptr;
  // What `sole_state` consists of, if it is this handle and nothing else.
  const KeyGroupsStateHandle* sole_key_groups = nullptr;
  OperatorId sole_operator = {};
  bool shares_state = false;
};

// A copy has no notes: its states may become others, and those that were noted are not its own.
class SnapshotSeal : private SnapshotNotes {
 public:
  SnapshotSeal() = default;
  SnapshotSeal(const SnapshotSeal&) noexcept : SnapshotNotes() {}
  SnapshotSeal& operator=(const SnapshotSeal&) noexcept {
    is_sealed_ = false;
    return *this;
  }
  ~SnapshotSeal() = default;

  void set(const SnapshotNotes& notes) {
    static_cast<SnapshotNotes&>(*this) = notes;
    is_sealed_ = true;
  }
  // Null if there are none.
  [[nodiscard]] const SnapshotNotes* get() const { return is_sealed_ ? this : nullptr; }

 private:
  bool is_sealed_ = false;
};

}  // namespace tailrace::engine
