// The asynchronous part of one subtask's checkpoint: writes what the synchronous part captured.
//
// Flink 1.10 AsyncCheckpointRunnable (spec coordinator.md ). The operators of the task
// are written one after the other: a piece of a stream, the time that it takes on some core, the
// next piece; then the stream goes to the store. Several runnables may run side by side (1.10 has
// an unbounded pool). Destroying a runnable discards everything that it has written.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/checkpoint/checkpoint_options.hpp"
#include "engine/checkpoint/messages.hpp"
#include "engine/ports.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/handles.hpp"
#include "engine/state/snapshot_future.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class AsyncCheckpointRunnable {
 public:
  // The futures of one operator.
  struct OperatorFutures {
    OperatorId id;
    std::vector<std::unique_ptr<SnapshotFuture>> futures;
  };
  struct Outcome {
    bool succeeded = false;
    CheckpointMetrics metrics;
    // Null if no operator has any state.
    std::shared_ptr<const TaskStateSnapshot> state;
  };
  using Done = base::InplaceFunction<void(AsyncCheckpointRunnable&, Outcome)>;

  // `metrics` has everything but the asynchronous duration.
  AsyncCheckpointRunnable(const Ports& ports, FsCheckpointStreamFactory& streams,
                          CheckpointMetaData meta, CheckpointOptions options,
                          std::vector<OperatorFutures> operators, CheckpointMetrics metrics,
                          Done done);
  ~AsyncCheckpointRunnable();
  AsyncCheckpointRunnable(const AsyncCheckpointRunnable&) = delete;
  AsyncCheckpointRunnable& operator=(const AsyncCheckpointRunnable&) = delete;

  void start();

  [[nodiscard]] CheckpointId checkpoint() const { return meta_.id; }
  void set_sync_duration(std::int64_t ns) { metrics_.sync_ns = ns; }

 private:
  void run();
  void store_stream();
  void fail();

  Ports ports_;
  FsCheckpointStreamFactory* streams_;
  CheckpointMetaData meta_;
  CheckpointOptions options_;
  std::vector<OperatorFutures> operators_;
  CheckpointMetrics metrics_;
  Done done_;
  Time started_;
  std::size_t operator_ = 0;  // the one being written
  std::size_t future_ = 0;
  std::shared_ptr<TaskStateSnapshot> state_;
  CheckpointStateOutputStream upload_;  // the stream on its way
  bool reported_ = false;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
