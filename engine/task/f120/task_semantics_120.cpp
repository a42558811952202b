#include <utility>

#include "engine/task/async_operations.hpp"
#include "engine/task/f120/channel_state_writer_impl.hpp"
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

std::unique_ptr<ChannelStateWriter> make_channel_state_writer_120(ChannelStateContext& context) {
  const f120::ChannelStateSubtask self{context.vertex, context.subtask};
  std::shared_ptr<f120::ChannelStateWriteRequestExecutor> executor;
  if (context.executors != nullptr) {
    executor =
        context.executors->get_or_create(self, context.max_subtasks_per_file, *context.streams);
  } else {
    f120::ChannelStateWriteRequestExecutorFactory own(*context.ports);
    executor = own.get_or_create(self, 1, *context.streams);
  }
  return std::make_unique<f120::ChannelStateWriterImpl>(self, std::move(executor),
                                                        std::move(context.on_failure));
}

}  // namespace

const TaskSemantics& task_semantics_120() {
  static constexpr TaskSemantics kSemantics{
      .make_checkpoints = &make_checkpoints_120,
      .make_async_pool = &make_async_pool_120,
      .make_channel_state_writer = &make_channel_state_writer_120,
      .restores_in_initializing = true,
      .has_end_of_data = true,
      .source_stops_first = true,
      .closes_tail_first = true,
      .names_files_relative = true,
      .measures_time = true,
      .takes_turns_by_record = false,
      .marks_canonical_savepoints = true,
      .identifies_keyed_handles = true,
      .operator_streams_say_compression = true,
  };
  return kSemantics;
}

}  // namespace tailrace::engine
