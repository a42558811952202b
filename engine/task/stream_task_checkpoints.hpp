// The checkpointing half of a task: what triggers, barriers and notices do to it. The seam between
// the two generations; made by engine/generation.hpp.
//
// Flink StreamTask.performCheckpoint, triggerCheckpointAsyncInMailbox, triggerCheckpointOnBarrier,
// abortCheckpointOnBarrier, notifyCheckpoint*Async (spec coordinator.md 5.1, 5.3, 5.6, 5.7). Every
// call here happens on the task's thread: inside a mail, or while a barrier is handled.
#pragma once

#include <cstdint>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/ids.hpp"
#include "engine/ports.hpp"

namespace tailrace::engine {

class ChannelStateWriter;
class CheckpointingTask;
class FsCheckpointStreamFactory;

// Everything pointed to outlives what is made of it.
struct StreamTaskCheckpointsContext {
  Ports ports;
  FsCheckpointStreamFactory* streams = nullptr;
  ChannelStateWriter* channel_state = nullptr;  // 1.20
  CheckpointingTask* task = nullptr;
  bool is_source = false;
  // What follows is 1.20's.
  std::int32_t max_concurrent_checkpoints = 1;
  // A finished task stays for its final checkpoint: checkpointing is on, also after tasks finish.
  bool final_checkpoint = false;
  CheckpointId restored = kNoCheckpoint;
};

class StreamTaskCheckpoints {
 public:
  virtual ~StreamTaskCheckpoints() = default;

  // The coordinator's trigger, at a task whose inputs have all ended or which has none.
  virtual void trigger(const CheckpointMetaData& meta, const CheckpointOptions& options) = 0;
  virtual void trigger_on_barrier(const CheckpointMetaData& meta, const CheckpointOptions& options,
                                  const AlignmentMetrics& alignment) = 0;
  virtual void abort_on_barrier(CheckpointId id, CheckpointFailureReason reason) = 0;
  // 1.20, unaligned: buffers in flight of the inputs belong to that checkpoint, if its options say so.
  virtual void init_inputs_checkpoint(CheckpointId /*id*/, const CheckpointOptions& /*options*/) {}
  // 1.20, unaligned: what was not final when that checkpoint was triggered.
  virtual void alignment_ended(CheckpointId /*id*/, const AlignmentMetrics& /*alignment*/) {}

  virtual void notify_complete(CheckpointId id) = 0;
  // 1.20. `latest_completed`: 0 or less if there is none.
  virtual void notify_aborted(CheckpointId id, CheckpointId latest_completed) = 0;
  virtual void notify_subsumed(CheckpointId id) = 0;

  // The task was cancelled: its asynchronous parts are closed.
  virtual void cancel() = 0;
  // The task's end, cancelled or not.
  virtual void close() = 0;

  // 1.10: nothing runs but mails of the highest priority.
  [[nodiscard]] virtual bool waits_for_savepoint() const { return false; }
  // 1.10: its synchronous savepoint is complete; the task leaves its loop.
  [[nodiscard]] virtual bool is_released() const { return false; }

  // 1.20: from the trigger of a checkpoint at the coordinator to the latest one that reached this
  // task from there.
  [[nodiscard]] virtual Duration checkpoint_start_delay() const { return {}; }
  // 1.20: a stop savepoint has reached the source, whose snapshot follows later.
  virtual void set_synchronous_savepoint(CheckpointId /*id*/) {}
  // 1.20: all records have been processed, the operators have finished.
  virtual void end_of_data_received() {}
  // Whether the loop, once left, still has to wait: for the final checkpoint, or for the stop
  // savepoint.
  [[nodiscard]] virtual bool waits_for_final_checkpoint() const { return false; }
  // Whether asynchronous parts are under way that the end of the task waits for.
  [[nodiscard]] virtual bool has_pending_checkpoints() const { return false; }
};

}  // namespace tailrace::engine
