// How many completed checkpoints use a shared file, so that it is deleted with the last of them.
//
// Flink 1.10 SharedStateRegistry (spec coordinator.md, state.md 4.1). Errors are values with
// Flink's messages, because a task that names a file which nobody knows is no fault of ours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/ids.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/incremental_remote_keyed_state_handle.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

class SharedStateRegistry110 {
 public:
  // Called for each stream that nobody uses any more.
  using DeleteState = base::InplaceFunction<void(const StreamStateHandle&)>;
  struct Registered {
    StreamStateHandlePtr handle;  // null: not registered any more
    std::int32_t count = 0;       // of its users
  };
  using Outcome = base::Result<Registered, std::string>;
  using OperatorStates = std::map<OperatorId, OperatorState>;

  explicit SharedStateRegistry110(DeleteState delete_state)
      : delete_state_(std::move(delete_state)) {}

  // One user more. Another stream than the registered one is a second upload of the same file, and
  // deleted: the caller uses what this returns.
  // Errors: closed, which is looked at first; a placeholder for an unknown key.
  // Cost: O(log entries), allocates for a new key only.
  Outcome register_reference(const std::string& key, StreamStateHandlePtr handle);
  // One user less; also when closed. Errors: an unknown key.
  Outcome unregister_reference(const std::string& key);

  // Registers all shared files, and swaps the handles for registered ones. Operators by their ids,
  // subtasks by their numbers, managed before raw state, files in the order of the handle.
  // Returns: the first error, at which it stops. The handle that met it counts as registered, with
  // the files before the bad one; those behind it are untouched (spec 4.3).
  [[nodiscard]] std::optional<std::string> register_all(OperatorStates& states);
  // The same after `renew`, for a checkpoint that was registered before or has just been loaded.
  [[nodiscard]] std::optional<std::string> register_all_after_restored(OperatorStates& states);
  // The users of a checkpoint that is deleted, without its private files. Of a handle that was only
  // partly registered, what comes behind its first unknown file stays registered, as in Flink.
  void unregister_all(const OperatorStates& states);

  void close() { open_ = false; }
  // A new registry in place of this one: empty, nothing deleted, open.
  void renew();

  [[nodiscard]] static std::string key_of(const IncrementalRemoteKeyedStateHandle& handle,
                                          const std::string& local_path);

 private:
  struct Entry {
    StreamStateHandlePtr handle;
    std::int32_t count = 1;
  };

  std::optional<std::string> register_handle(KeyedStateHandlePtr& handle, bool again);
  std::optional<std::string> register_states(OperatorStates& states, bool again);

  DeleteState delete_state_;
  std::map<std::string, Entry> entries_;
  bool open_ = true;
};

}  // namespace tailrace::engine
