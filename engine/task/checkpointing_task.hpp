// What a checkpoint does to its task: the operators and outputs of the chain, the messages to the job
// manager, the task's own fate. The task implements it; tests script it.
//
// Flink OperatorChain, Environment and TaskStateManager as the checkpointing code of a task sees
// them (SubtaskCheckpointCoordinatorImpl in 1.20, CheckpointingOperation in 1.10).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/barrier/checkpoint_listener.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/network/events.hpp"
#include "engine/ports.hpp"
#include "engine/task/async_checkpoint_runnable.hpp"

namespace tailrace::engine {

class CheckpointingTask {
 public:
  // Flink's isRunning: restored, not cancelled, not finished.
  [[nodiscard]] virtual bool is_running() const = 0;
  // Whether all operators have finished, or were finished already in the checkpoint restored (1.20).
  [[nodiscard]] virtual AsyncCheckpointRunnable::Finished finished() const { return {}; }

  // Operators head to tail.
  virtual void prepare_snapshot_pre_barrier(CheckpointId id) = 0;
  // To every output. `priority`: it overtakes what is queued there.
  virtual void broadcast_event(const RuntimeEvent& event, bool priority) = 0;
  // The synchronous part: operators tail to head, their futures appended to `futures`.
  // Returns: false if an operator threw; `futures` then has those before it.
  [[nodiscard]] virtual bool snapshot_state(const CheckpointMetaData& meta,
                                            const CheckpointOptions& options,
                                            const AlignmentMetrics& alignment,
                                            std::vector<OperatorSnapshotFutures>& futures) = 0;
  // Starts the asynchronous part once the synchronous one is paid for.
  virtual void submit(std::shared_ptr<AsyncCheckpointRunnable> runnable) = 0;
  // Runs something short on the same threads (1.20).
  virtual void submit_close(std::shared_ptr<AsyncOperation> operation) = 0;

  // Operators tail to head.
  virtual void notify_operators_complete(CheckpointId id) = 0;
  virtual void notify_operators_aborted(CheckpointId id) = 0;
  virtual void notify_operators_subsumed(CheckpointId id) = 0;

  // 1.20, unaligned. Runs `done` when every input has handed over what was in flight.
  virtual void prepare_input_snapshot(CheckpointId id, base::Callback done) = 0;
  // The barrier that waits in the outputs overtakes from now on; the checkpoint of the outputs ends.
  virtual void aligned_barrier_timeout(CheckpointId id) = 0;
  virtual void abort_outputs(CheckpointId id) = 0;
  // Runs the callback as a mail of the task after `delay`.
  [[nodiscard]] virtual TimerId register_timer(Duration delay, base::Callback mail) = 0;
  virtual void cancel_timer(TimerId timer) = 0;

  virtual void acknowledge(CheckpointId id, const CheckpointMetrics& metrics,
                           std::shared_ptr<const TaskStateSnapshot> state) = 0;
  virtual void decline(CheckpointId id, CheckpointFailureReason reason) = 0;
  // 1.20.
  virtual void report_incomplete(CheckpointId id, const CheckpointMetrics& metrics) = 0;
  // What Flink's task throws.
  virtual void fail(std::string cause) = 0;

 protected:
  ~CheckpointingTask() = default;
};

}  // namespace tailrace::engine
