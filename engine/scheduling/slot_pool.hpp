// The slots of all registered task managers.
//
// Flink 1.10 SlotPool and SlotManager in one: there is one process that hands slots out. Slots are
// taken in the order of the task managers (their index in the cluster), then of the slots, unless a
// request prefers a task manager that has a free one (spec rescale.md S-6.32).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/scheduling/gateways.hpp"

namespace tailrace::engine {

struct LogicalSlot {
  RpcAddress<TaskExecutorGateway> task_manager;
  std::int32_t task_manager_index = 0;
  std::int32_t slot = 0;
};

// What one slot is wanted for.
struct SlotRequest {
  std::optional<ProcessId> preferred;
};

class SlotPool {
 public:
  // A process that came back shares its index with the one before until that is given up.
  // Requires: the process is not registered.
  void register_task_manager(const TaskManagerRegistration& registration);
  // All its slots are gone, whoever has them. An unknown process is ignored.
  void release_task_manager(ProcessId process);
  [[nodiscard]] const TaskManagerRegistration* find_task_manager(ProcessId process) const;

  // All of them, or none and nothing changes.
  [[nodiscard]] std::optional<std::vector<LogicalSlot>> try_allocate(
      const std::vector<SlotRequest>& requests);
  // A slot of a task manager that is gone is ignored.
  void free(const LogicalSlot& slot);
  [[nodiscard]] std::int32_t free_slots() const { return free_; }

 private:
  struct TaskManager {
    TaskManagerRegistration registration;
    std::vector<bool> taken;
  };
  static std::optional<std::int32_t> find_free(const TaskManager& manager);

  using Key = std::pair<std::int32_t, ProcessId>;  // index in the cluster first

  std::map<Key, TaskManager> managers_;
  std::map<ProcessId, Key> key_of_;
  std::int32_t free_ = 0;
};

}  // namespace tailrace::engine
