#include "engine/checkpoint/f120/checkpoint_subsume_helper.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::engine {

Subsumed subsume(std::deque<CompletedCheckpointPtr>& checkpoints, std::size_t retained) {
  Subsumed subsumed;
  if (checkpoints.empty() || checkpoints.size() <= retained) return subsumed;
  const CompletedCheckpointPtr latest = checkpoints.back();
  const auto newest = std::find_if(checkpoints.rbegin(), checkpoints.rend(),
                                   [](const auto& one) { return !one->properties.is_savepoint(); });
  const CompletedCheckpointPtr latest_not_savepoint =
      newest == checkpoints.rend() ? nullptr : *newest;
  const auto can_go = [&](const CompletedCheckpointPtr& one) {
    if (one == latest) return false;
    return one->properties.is_savepoint() || latest->properties.is_synchronous() ||
           one != latest_not_savepoint;
  };
  for (auto it = checkpoints.begin(); checkpoints.size() > retained && it != checkpoints.end();) {
    if (!can_go(*it)) {
      ++it;
      continue;
    }
    if (subsumed.last == nullptr || (*it)->id > subsumed.last->id) subsumed.last = *it;
    subsumed.removed.push_back(std::move(*it));
    it = checkpoints.erase(it);
  }
  return subsumed;
}

}  // namespace tailrace::engine
