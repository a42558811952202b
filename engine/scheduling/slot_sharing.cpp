#include "engine/scheduling/slot_sharing.hpp"

#include <cstddef>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

bool SlotSharingManager::try_assign(ExecutionGraph& graph,
                                    const std::vector<ExecutionVertexId>& vertices) {
  // Slots that nobody of the group holds yet, in the order in which they are first asked for.
  std::vector<Key> missing;
  std::vector<SlotRequest> requests;
  std::map<Key, std::size_t> position;
  for (const ExecutionVertexId id : vertices) {
    const ExecutionVertex& vertex = graph.vertex(id);
    const Key key{vertex.job_vertex().slot_sharing_group, id.subtask};
    if (shared_.contains(key)) continue;
    const auto [at, added] = position.emplace(key, missing.size());
    if (added) {
      missing.push_back(key);
      requests.emplace_back();
    }
    // A subtask that restores state goes back to where it was (S-6.32).
    if (vertex.execution().restore != nullptr && !requests[at->second].preferred.has_value()) {
      requests[at->second].preferred = vertex.prior_location();
    }
  }
  const std::optional<std::vector<LogicalSlot>> slots = pool_.try_allocate(requests);
  if (!slots.has_value()) return false;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    shared_[missing[i]] = SharedSlot{(*slots)[i], 0};
  }
  for (const ExecutionVertexId id : vertices) {
    SharedSlot& shared =
        shared_.at(Key{graph.vertex(id).job_vertex().slot_sharing_group, id.subtask});
    ++shared.users;
    graph.assign_slot(id, shared.slot);
  }
  return true;
}

bool SlotSharingManager::release(const JobVertex& vertex, std::int32_t subtask) {
  const auto found = shared_.find(Key{vertex.slot_sharing_group, subtask});
  TAILRACE_ASSERT(found != shared_.end() && found->second.users > 0);
  if (--found->second.users > 0) return false;
  pool_.free(found->second.slot);
  shared_.erase(found);
  return true;
}

}  // namespace tailrace::engine
