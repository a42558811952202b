#include "engine/task/async_operations.hpp"
#include "engine/task/f110/stream_task_checkpoints_110.hpp"
#include "engine/task/task_semantics.hpp"

namespace tailrace::engine {
namespace {

std::unique_ptr<StreamTaskCheckpoints> make_checkpoints_110(
    const StreamTaskCheckpointsContext& context) {
  return std::make_unique<StreamTaskCheckpoints110>(context);
}

std::unique_ptr<AsyncOperationsPool> make_async_pool_110(Timers& timers) {
  return std::make_unique<CachedPool>(timers);
}

}  // namespace

const TaskSemantics& task_semantics_110() {
  static constexpr TaskSemantics kSemantics{
      .make_checkpoints = &make_checkpoints_110,
      .make_async_pool = &make_async_pool_110,
      .make_channel_state_writer = nullptr,
      .restores_in_initializing = false,
      .has_end_of_data = false,
      .source_stops_first = false,
      .closes_tail_first = false,
      .names_files_relative = false,
      .measures_time = false,
      .takes_turns_by_record = true,
      .marks_canonical_savepoints = false,
      .identifies_keyed_handles = false,
      .operator_streams_say_compression = false,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
