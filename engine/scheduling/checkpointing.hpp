// How the scheduler gets at checkpointing, whatever the generation.
//
// CheckpointConfig, CheckpointCoordinatorConfiguration of Flink 1.10 and 1.20, and what
// ExecutionGraphBuilder (1.20 DefaultExecutionGraphBuilder) makes of them. An implementation puts together the coordinator of its generation with its store,
// storage and id counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/checkpoint/checkpoint_properties.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/execution_vertex_access.hpp"
#include "engine/checkpoint/fail_job_callback.hpp"
#include "engine/checkpoint/ha/checkpoint_handle_store.hpp"
#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "engine/scheduling/deployment.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// Keys `execution.checkpointing.*` and `state.checkpoints.num-retained`, with Flink 1.10's defaults.
// Every streaming job of Flink has a coordinator, also without an interval.
struct CheckpointConfig {
  std::optional<Duration> interval;  // none: checkpoints only when asked for
  Duration timeout = Duration::seconds(600);
  Duration min_pause{};
  std::int32_t max_concurrent = 1;
  // How many checkpoints in a row may fail before the job does; the largest number: never counted.
  std::int32_t tolerable_failures = 0;
  std::int32_t max_retained = 1;
  bool prefer_checkpoint_for_recovery = false;
  CheckpointRetentionPolicy retention = CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
  std::string savepoint_directory;  // state.savepoints.dir; empty: every request names its own
  std::int32_t history = 10;        // web.checkpoints.history
  // What follows is 1.20's.
  std::optional<Duration> interval_during_backlog;  // none: as `interval`; 0: no checkpoints
  bool unaligned = false;                           // execution.checkpointing.unaligned.enabled
  Duration aligned_timeout{};                       // ...aligned-checkpoint-timeout
  bool checkpoints_after_tasks_finish = true;
  bool cleaner_parallel_mode = true;
  std::int32_t io_pool_size = 4;               // jobmanager.io-pool.size; Flink: as many as cores
  ClaimMode claim_mode = ClaimMode::NO_CLAIM;  // of JobSubmission::savepoint_path
  // execution.state-recovery.without-channel-state.checkpoint-id
  CheckpointId without_channel_state = kNoCheckpoint;
};

// What a job has in the highly available store of its cluster; without one, nothing.
struct StoredJob {
  CheckpointHandleStore* handles = nullptr;
  SharedCount* count = nullptr;
  // Read before the coordinator is made (CheckpointingFactory::retrieve), oldest first.
  std::vector<CompletedCheckpointPtr> checkpoints;
  bool recovered = false;  // by another leader than the one that it was submitted to
};

// What a coordinator is made of. Everything pointed to outlives it.
struct CoordinatorContext {
  JobId job;
  Ports ports;
  CheckpointConfig config;
  TaskConfig tasks;
  std::shared_ptr<const JobGraph> graph;
  std::vector<ExecutionVertexAccess*> tasks_to_trigger;  // of the sources
  std::vector<ExecutionVertexAccess*> all_tasks;         // to acknowledge, and to notify
  FailJobCallback* fail_job = nullptr;
  StoredJob stored;
};

// A coordinator with all that it stands on.
class JobCheckpointing {
 public:
  virtual ~JobCheckpointing() = default;
  [[nodiscard]] virtual CheckpointCoordinator& coordinator() = 0;
  // The job has ended: the coordinator shuts down, and after it what it stands on; then `done` runs.
  // Requires: a globally terminal status.
  virtual void shutdown(JobStatus status, ShutdownDone done) = 0;
};

class CheckpointingFactory {
 public:
  // None: an entry cannot be read, and the job cannot start.
  using Retrieved = base::InplaceFunction<void(std::optional<std::vector<CompletedCheckpointPtr>>)>;

  virtual ~CheckpointingFactory() = default;
  [[nodiscard]] virtual HandleStoreSemantics handle_store_semantics() const { return {}; }
  // Reads what `create` needs of the store, as StoredJob::checkpoints. By default, and in 1.10, which
  // reads it at every restore, nothing: `done` runs inside the call.
  virtual void retrieve(CheckpointHandleStore&, Retrieved done) {
    done(std::vector<CompletedCheckpointPtr>{});
  }
  [[nodiscard]] virtual std::unique_ptr<JobCheckpointing> create(CoordinatorContext context) = 0;
  // Reads a `_metadata` file and checks that the job can take its state (S-3.1 to S-3.3).
  [[nodiscard]] virtual base::Result<CompletedCheckpointPtr, std::string> load_savepoint(
      JobId job, const std::string& path, const std::vector<std::byte>& metadata,
      const JobGraph& graph, bool allow_non_restored_state) = 0;
};

}  // namespace tailrace::engine
