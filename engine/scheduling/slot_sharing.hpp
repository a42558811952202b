// Puts subtask i of every vertex of a slot sharing group into one slot.
//
// Flink 1.10 SlotSharingManager with the one result that it has for a job that is scheduled as a
// whole. A slot stays with its subtasks until the last of them has ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/execution_graph.hpp"
#include "engine/scheduling/slot_pool.hpp"

namespace tailrace::engine {

class SlotSharingManager {
 public:
  explicit SlotSharingManager(SlotPool& pool) : pool_(pool) {}

  // Assigns a slot to every one of the vertices, or to none: false.
  // Requires: the vertices are SCHEDULED.
  [[nodiscard]] bool try_assign(ExecutionGraph& graph,
                                const std::vector<ExecutionVertexId>& vertices);
  // One subtask has left the slot. Returns: whether the pool has got it back.
  bool release(const JobVertex& vertex, std::int32_t subtask);

 private:
  using Key = std::pair<std::string, std::int32_t>;  // group, subtask index
  struct SharedSlot {
    LogicalSlot slot;
    std::int32_t users = 0;
  };

  SlotPool& pool_;
  std::map<Key, SharedSlot> shared_;
};

}  // namespace tailrace::engine
