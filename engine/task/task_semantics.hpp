// What tasks do differently in the two generations, where it is small; and what makes the rest.
//
// Made by engine/generation.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/ports.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class AsyncOperationsPool;
class ChannelStateWriter;
class FsCheckpointStreamFactory;
class StreamTaskCheckpoints;
struct StreamTaskCheckpointsContext;

namespace f120 {
class ChannelStateWriteRequestExecutorFactory;
}

// What the writer of a task's buffers in flight is made of.
struct ChannelStateContext {
  std::int32_t vertex = 0;
  std::int32_t subtask = 0;
  std::int32_t max_subtasks_per_file = 1;
  const FsCheckpointStreamFactory* streams = nullptr;  // copied
  // Of the job in this task manager; outlives the writer. Null: the task shares with nobody.
  f120::ChannelStateWriteRequestExecutorFactory* executors = nullptr;
  const Ports* ports = nullptr;                         // outlive the writer
  base::InplaceFunction<void(std::string)> on_failure;  // what Flink throws in the task
};

struct TaskSemantics {
  std::unique_ptr<StreamTaskCheckpoints> (*make_checkpoints)(const StreamTaskCheckpointsContext&);
  std::unique_ptr<AsyncOperationsPool> (*make_async_pool)(Timers&);
  // The writer of a task with unaligned checkpoints; null: there are none.
  std::unique_ptr<ChannelStateWriter> (*make_channel_state_writer)(ChannelStateContext&);
  // A task restores in INITIALIZING and is RUNNING from then on (1.20); otherwise it is RUNNING
  // before it restores.
  bool restores_in_initializing;
  // The end of data is one thing and the end of the task another: operators finish, the next tasks
  // hear of it by EndOfData, and the task stays for its final checkpoint.
  bool has_end_of_data;
  // A source stops before it takes a stop savepoint; otherwise it goes on until the savepoint
  // is complete.
  bool source_stops_first;
  // Operators are closed tail to head.
  bool closes_tail_first;
  // Metadata names the exclusive files of a checkpoint relative to its directory (spec state.md 6.1).
  bool names_files_relative;
  // A task measures what it does with its time (TaskIOMetrics), and how long a checkpoint took to
  // reach it.
  bool measures_time;
  // Separate inputs take turns record by record (InputSelection); otherwise each goes on as long as it
  // can.
  bool takes_turns_by_record;
  // A canonical savepoint has keyed handles of its own kind.
  bool marks_canonical_savepoints;
  // A keyed handle has an id from the moment at which it is made.
  bool identifies_keyed_handles;
  // A stream of operator state says whether it is compressed.
  bool operator_streams_say_compression;
};

[[nodiscard]] const TaskSemantics& task_semantics_110();
[[nodiscard]] const TaskSemantics& task_semantics_120();

}  // namespace tailrace::engine
