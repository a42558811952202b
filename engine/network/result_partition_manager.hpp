// Which partitions exist in this process.
//
// Flink ResultPartitionManager. In 1.10 a request for what is not here (yet) is answered with "not
// found" and repeated by the consumer; in 1.20 it waits (NetworkEnvironment).
#pragma once

#include <map>

#include "engine/network/result_partition.hpp"

namespace tailrace::engine {

class ResultPartitionManager {
 public:
  void register_partition(ResultPartition& partition) {
    const bool added = partitions_.emplace(partition.id(), &partition).second;
    TAILRACE_ASSERT_MSG(added, "a result partition registered twice");
  }
  void release_partition(const ResultPartitionId& id) { partitions_.erase(id); }

  [[nodiscard]] bool has_partition(const ResultPartitionId& id) const {
    return partitions_.contains(id);
  }
  // Null if the partition is not here, or that part of it is taken or gone.
  [[nodiscard]] PipelinedSubpartition* find_subpartition(const ResultPartitionId& id,
                                                         std::int32_t index) const {
    const auto found = partitions_.find(id);
    if (found == partitions_.end()) return nullptr;
    PipelinedSubpartition& subpartition = found->second->subpartition(index);
    return subpartition.is_released() || subpartition.has_view() ? nullptr : &subpartition;
  }
  [[nodiscard]] std::size_t size() const { return partitions_.size(); }

 private:
  std::map<ResultPartitionId, ResultPartition*> partitions_;
};

}  // namespace tailrace::engine
