#include "engine/scheduling/slot_pool.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void SlotPool::register_task_manager(const TaskManagerRegistration& registration) {
  TAILRACE_ASSERT(registration.slots >= 1);
  TAILRACE_ASSERT(!key_of_.contains(registration.address.process));
  const Key key{registration.index, registration.address.process};
  managers_.emplace(
      key,
      TaskManager{registration, std::vector<bool>(static_cast<std::size_t>(registration.slots))});
  key_of_[registration.address.process] = key;
  free_ += registration.slots;
}

void SlotPool::release_task_manager(ProcessId process) {
  const auto found = key_of_.find(process);
  if (found == key_of_.end()) return;
  const auto manager = managers_.find(found->second);
  const std::vector<bool>& taken = manager->second.taken;
  free_ -= static_cast<std::int32_t>(std::count(taken.begin(), taken.end(), false));
  managers_.erase(manager);
  key_of_.erase(found);
}

const TaskManagerRegistration* SlotPool::find_task_manager(ProcessId process) const {
  const auto found = key_of_.find(process);
  return found == key_of_.end() ? nullptr : &managers_.at(found->second).registration;
}

std::optional<std::int32_t> SlotPool::find_free(const TaskManager& manager) {
  const auto found = std::find(manager.taken.begin(), manager.taken.end(), false);
  if (found == manager.taken.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - manager.taken.begin());
}

std::optional<std::vector<LogicalSlot>> SlotPool::try_allocate(
    const std::vector<SlotRequest>& requests) {
  if (static_cast<std::size_t>(free_) < requests.size()) return std::nullopt;
  std::vector<LogicalSlot> slots;
  slots.reserve(requests.size());
  const auto take = [this, &slots](TaskManager& manager, std::int32_t slot) {
    manager.taken[static_cast<std::size_t>(slot)] = true;
    --free_;
    slots.push_back({manager.registration.address, manager.registration.index, slot});
  };
  // Task managers before this one are full, and nothing is given back in between.
  auto next = managers_.begin();
  for (const SlotRequest& request : requests) {
    if (request.preferred.has_value()) {
      const auto index = key_of_.find(*request.preferred);
      if (index != key_of_.end()) {
        TaskManager& manager = managers_.at(index->second);
        if (const auto slot = find_free(manager)) {
          take(manager, *slot);
          continue;
        }
      }
    }
    std::optional<std::int32_t> slot;
    while (!(slot = find_free(next->second)).has_value()) ++next;
    take(next->second, *slot);
  }
  return slots;
}

void SlotPool::free(const LogicalSlot& slot) {
  const auto index = key_of_.find(slot.task_manager.process);
  if (index == key_of_.end()) return;
  std::vector<bool>::reference taken =
      managers_.at(index->second).taken[static_cast<std::size_t>(slot.slot)];
  TAILRACE_ASSERT(taken);
  taken = false;
  ++free_;
}

}  // namespace tailrace::engine
