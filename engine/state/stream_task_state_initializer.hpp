// Gives an operator its state backends, restored if there is something to restore.
//
// Flink 1.10 StreamTaskStateInitializerImpl (spec state.md 7.3): the keyed backend first, then the
// operator backend. Flink does it in the task thread; here streams are fetched in virtual time and
// the caller is told when all is there. Raw state is not there yet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/key_group_range.hpp"
#include "engine/state/key_serializer.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/state/task_state_manager.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// What an operator wants. `range` and `keys` matter only if it is keyed.
struct OperatorStateRequest {
  bool keyed = false;
  KeyGroupRange range;
  std::int32_t max_parallelism = 128;
  const KeySerializer* keys = &string_key_serializer();
};

// Flink StreamOperatorStateContext.
struct StreamOperatorStateContext {
  bool restored = false;
  std::unique_ptr<HeapKeyedStateBackend> keyed_state;  // null unless keyed
  std::unique_ptr<OperatorStateBackend> operator_state;
  // Deserialising, still to be paid by the task: the streams have been fetched, but reading them has
  // taken no virtual time yet.
  Work restore_work{.kind = WorkKind::kRestore};
};

class StreamTaskStateInitializerImpl {
 public:
  using Done = base::InplaceFunction<void(
      base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string>)>;

  // Requires: both outlive this.
  StreamTaskStateInitializerImpl(const Ports& ports, const TaskStateManagerImpl& state_manager);
  // Abandons what is running: its callbacks never run.
  ~StreamTaskStateInitializerImpl();
  StreamTaskStateInitializerImpl(const StreamTaskStateInitializerImpl&) = delete;
  StreamTaskStateInitializerImpl& operator=(const StreamTaskStateInitializerImpl&) = delete;

  // `done` runs later, never inside this call. Several operators may be initialised at a time.
  // Errors: the cause why no alternative could be restored; the task must fail.
  void initialize(OperatorId id, const OperatorStateRequest& request, Done done);

 private:
  class Initialization;

  const Ports& ports_;
  const TaskStateManagerImpl& state_manager_;
  std::vector<std::unique_ptr<Initialization>> running_;
};

}  // namespace tailrace::engine
