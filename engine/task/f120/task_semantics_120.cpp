#include "engine/task/async_operations.hpp"
#include "engine/task/f120/stream_task_checkpoints_120.hpp"
#include "engine/task/task_semantics.hpp"

namespace tailrace::engine {
namespace {

std::unique_ptr<StreamTaskCheckpoints> make_checkpoints_120(
    const StreamTaskCheckpointsContext& context) {
  return std::make_unique<StreamTaskCheckpoints120>(context);
}

std::unique_ptr<AsyncOperationsPool> make_async_pool_120(Timers& timers) {
  return std::make_unique<SingleWorkerPool>(timers);
}

}  // namespace

const TaskSemantics& task_semantics_120() {
  static constexpr TaskSemantics kSemantics{
      .make_checkpoints = &make_checkpoints_120,
      .make_async_pool = &make_async_pool_120,
      .restores_in_initializing = true,
      .has_end_of_data = true,
      .source_stops_first = true,
      .closes_tail_first = true,
      .names_files_relative = true,
      .measures_time = true,
      .marks_canonical_savepoints = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
