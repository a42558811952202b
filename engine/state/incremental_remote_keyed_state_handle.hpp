// Keyed state that shares files with the snapshots of other checkpoints.
//
// IncrementalRemoteKeyedStateHandle of Flink 1.10 and 1.20 (spec state.md 3.5, 4 and 6, rescale.md
// S-3.17). Immutable: where Flink's handle notes that it is registered, and what its shared files
// have become, `registered` gives a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/ids.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/key_group_range.hpp"

namespace tailrace::engine {

class IncrementalRemoteKeyedStateHandle final
    : public KeyedStateHandle,
      public std::enable_shared_from_this<IncrementalRemoteKeyedStateHandle> {
 public:
  // A file as the backend names it (`000012.sst`), and where it lies.
  struct HandleAndLocalPath {
    std::string local_path;
    StreamStateHandlePtr handle;  // never null
  };
  static constexpr std::int64_t kUnknownPersistedBytes = -1;
  struct Content {
    std::string backend_id;  // text of a UUID
    KeyGroupRange key_group_range;
    CheckpointId checkpoint_id = kNoCheckpoint;  // that the handle was made for
    std::vector<HandleAndLocalPath> shared_state;
    std::vector<HandleAndLocalPath> private_state;
    StreamStateHandlePtr meta_state;  // never null
    // 1.20. What this checkpoint has newly written; unknown counts as the whole state.
    std::int64_t persisted_bytes = kUnknownPersistedBytes;
    std::string state_handle_id;  // one of its own for each handle
  };

  explicit IncrementalRemoteKeyedStateHandle(Content content)
      : IncrementalRemoteKeyedStateHandle(std::move(content), false) {}

  [[nodiscard]] KeyGroupRange key_group_range() const override { return content_.key_group_range; }
  // Never cut: the backend that restores from it drops what is not its own.
  // Requires: owned by a shared_ptr.
  [[nodiscard]] std::shared_ptr<const KeyedStateHandle> intersect(
      KeyGroupRange range) const override;
  [[nodiscard]] std::int64_t state_size_bytes() const override { return state_bytes_; }
  void append_private_files(FileNames& paths) const override;
  [[nodiscard]] const IncrementalRemoteKeyedStateHandle* as_incremental() const override {
    return this;
  }

  [[nodiscard]] const Content& content() const { return content_; }
  // Flink 1.20 getCheckpointedSize.
  [[nodiscard]] std::int64_t checkpointed_size_bytes() const { return content_.persisted_bytes; }
  // A registry watches over the shared files.
  [[nodiscard]] bool is_registered() const { return registered_; }
  // The same handle once a registry watches over it. `shared`: what it has made of the shared files,
  // in their order.
  [[nodiscard]] KeyedStateHandlePtr registered(std::vector<StreamStateHandlePtr> shared) const;

 private:
  IncrementalRemoteKeyedStateHandle(Content content, bool registered);

  Content content_;
  std::int64_t state_bytes_ = 0;
  bool registered_ = false;
};

}  // namespace tailrace::engine
