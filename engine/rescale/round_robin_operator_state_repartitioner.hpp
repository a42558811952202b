// Deals the operator state of old subtasks out to new ones.
//
// Flink RoundRobinOperatorStateRepartitioner (spec rescale.md S-3.10 to S-3.15). The order of Java
// hash maps decides where the round robin goes on from one state name to the next, so it is
// followed exactly. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/state/handles.hpp"

namespace tailrace::engine {

// What one subtask holds, for each subtask.
using OperatorStatePerSubtask = std::vector<std::vector<OperatorStateHandle>>;

class RoundRobinOperatorStateRepartitioner {
 public:
  struct Semantics {
    // 1.20 deals BROADCAST state out again at an unchanged parallelism when it takes it for partly
    // reported: by fewer subtasks than the parallelism rounded up to a multiple of 64 (S-3.10).
    bool redistribute_partly_reported_broadcast = false;
  };

  RoundRobinOperatorStateRepartitioner() = default;
  explicit RoundRobinOperatorStateRepartitioner(Semantics semantics) : semantics_(semantics) {}

  // Requires: old.size() is the old parallelism; new_parallelism >= 1.
  [[nodiscard]] OperatorStatePerSubtask repartition_state(const OperatorStatePerSubtask& old,
                                                          std::int32_t new_parallelism) const;

  // The names of one mode in the order in which they are dealt out.
  [[nodiscard]] static std::vector<std::string> order_of_names(const OperatorStatePerSubtask& old,
                                                               DistributionMode mode);

 private:
  Semantics semantics_;
};

}  // namespace tailrace::engine
