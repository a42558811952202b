#include "engine/checkpoint/operator_state_collector.hpp"

#include "engine/state/prefetch.hpp"

namespace tailrace::engine {

std::span<OperatorState* const> OperatorStateCollector::entries_of(const TaskToAcknowledge& task) {
  if (task.vertex_index == vertex_index_) return entries_;
  const ExecutionVertexAccess& vertex = *task.vertex;
  entries_.clear();
  for (const OperatorId& id : vertex.operator_ids()) {
    const auto [entry, is_new] = states_->try_emplace(
        id, OperatorState{id, vertex.parallelism(), vertex.max_parallelism(), {}});
    if (task.state != nullptr) {
      entry->second.subtasks.reserve(static_cast<std::size_t>(vertex.parallelism()));
    }
    entries_.push_back(&entry->second);
  }
  vertex_index_ = task.vertex_index;
  return entries_;
}

void prefetch_ahead(std::span<const TaskToAcknowledge> tasks, std::size_t place) {
  constexpr std::size_t kLead = 8;
  if (place + 2 * kLead < tasks.size()) prefetch(tasks[place + 2 * kLead].state.get());
  if (place + kLead < tasks.size()) {
    const auto& snapshot = tasks[place + kLead].state;
    if (snapshot != nullptr && snapshot->seal.get() == nullptr && !snapshot->operators.empty())
      prefetch(&*snapshot->operators.begin());
  }
}

}  // namespace tailrace::engine
