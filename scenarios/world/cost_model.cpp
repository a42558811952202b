#include "scenarios/world/cost_model.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

Duration price_of(const Price& price, const engine::Work& work) {
  const Duration items = price.fixed + price.per_item * work.count;
  return work.bytes == 0 || price.bandwidth.value == 0
             ? items
             : items + price.bandwidth.time_for(work.bytes);
}

}  // namespace

CostModel::CostModel(const Scenario& scenario) : costs_(scenario.costs) {
  for (const OperatorSpec& op : scenario.job.operators) {
    const bool by_profile = op.kind == OperatorKind::kSource && !op.own_cost;
    per_record_.push_back(op.service ? Duration{} : by_profile ? costs_.source_record : op.cost);
    service_.push_back(op.service);
  }
}

Duration CostModel::price(const engine::Work& work) const {
  switch (work.kind) {
    case engine::WorkKind::kOperatorRecord: {
      const auto op = static_cast<std::size_t>(work.op);
      TAILRACE_ASSERT(op < per_record_.size());
      return per_record_[op] * work.count;
    }
    case engine::WorkKind::kSerialise:
      return price_of(costs_.serialise, work);
    case engine::WorkKind::kDeserialise:
      return price_of(costs_.deserialise, work);
    case engine::WorkKind::kCheckpointStart:
      return costs_.checkpoint_start * work.count;
    case engine::WorkKind::kSnapshotSync:
      return price_of(costs_.snapshot_sync, work);
    case engine::WorkKind::kSnapshotAsync:
      return price_of(costs_.snapshot_async, work);
    case engine::WorkKind::kRestore:
      return price_of(costs_.restore, work);
    case engine::WorkKind::kCheckpointTrigger:
      return costs_.checkpoint_trigger * work.count;
    case engine::WorkKind::kTaskDeployment:
      return costs_.task_deployment * work.count;
    case engine::WorkKind::kCheckpointFinalise:
      return price_of(costs_.checkpoint_finalise, work);
  }
  TAILRACE_ASSERT_MSG(false, "work of an unknown kind");
  return {};
}

}  // namespace tailrace::scenarios
