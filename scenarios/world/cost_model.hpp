// The one price list of virtual time.
//
// The engine states what it does as (kind, count, bytes); here it gets its price. Every coefficient
// is a value of the scenario (`costs:`, a profile, the `cost` of an operator) with its source
// documented where its default stands.
#pragma once

#include <optional>
#include <vector>

#include "engine/ports.hpp"
#include "scenarios/model.hpp"

namespace tailrace::scenarios {

class CostModel {
 public:
  // The records of operator i of the scenario cost what it says. Stream node i is operator i.
  explicit CostModel(const Scenario& scenario);

  [[nodiscard]] Duration price(const engine::Work& work) const;
  [[nodiscard]] Duration slice() const { return costs_.slice; }
  // Of one record of operator `op`; none: it has no service time.
  [[nodiscard]] std::optional<Duration> service(std::int32_t op) const {
    return service_[static_cast<std::size_t>(op)];
  }
  [[nodiscard]] const ThreadTimes& threads() const { return costs_.threads; }

 private:
  Costs costs_;
  std::vector<Duration> per_record_;  // by stream node
  std::vector<std::optional<Duration>> service_;
};

}  // namespace tailrace::scenarios
