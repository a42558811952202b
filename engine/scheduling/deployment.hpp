// What the job manager sends to a task manager to start one subtask.
//
// Flink 1.10 TaskDeploymentDescriptor, ResultPartitionDeploymentDescriptor,
// InputGateDeploymentDescriptor, ShuffleDescriptor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/job_graph.hpp"
#include "engine/ids.hpp"
#include "engine/state/handles.hpp"
#include "sim/base/time.hpp"

namespace tailrace::engine {

enum class CheckpointingMode : std::uint8_t { EXACTLY_ONCE, AT_LEAST_ONCE };

// Settings of a job that its tasks need; from the keys of section `flink`.
struct TaskConfig {
  Generation generation = Generation::kFlink110;
  bool checkpointing_enabled = false;  // periodic checkpoints; without, only those asked for
  std::int32_t max_concurrent_checkpoints = 1;
  // 1.20: checkpoints go on when some tasks have finished, and a finished task waits for one.
  bool checkpoints_after_tasks_finish = true;
  CheckpointingMode mode = CheckpointingMode::EXACTLY_ONCE;
  // 1.20: barriers may overtake data (execution.checkpointing.unaligned.enabled), and so many
  // subtasks of a task manager share a file of what they overtake.
  bool unaligned = false;
  std::int32_t max_subtasks_per_channel_state_file = 5;
  base::Duration buffer_timeout = base::Duration::millis(100);  // 0: every record; -1 ns: never
  std::int64_t alignment_max_bytes = -1;  // task.checkpoint.alignment.max-size; -1: no limit
  std::int64_t inline_threshold_bytes = 1024;
  std::int64_t segment_bytes = 32 * 1024;  // taskmanager.memory.segment-size
  std::string checkpoint_directory;        // below it `chk-<id>`, `shared`, `taskowned`
};

struct ResultPartitionDescriptor {
  ResultPartitionId id;
  std::int32_t subpartitions = 1;
  PartitionerKind partitioner = PartitionerKind::kForward;
  RecordType type = RecordType::kString;
  std::int32_t index = 0;  // among the outputs of its task
  // 1.20: what is in flight on the edge could be restored, so barriers may overtake it.
  bool supports_unaligned_checkpoints = true;
};

// One channel of a gate, in the gate's order.
struct InputChannelDescriptor {
  ResultPartitionId partition;
  std::int32_t subpartition = 0;
  ProcessId producer;  // equal to the consumer's own process: a local channel
};

struct InputGateDescriptor {
  RecordType type = RecordType::kString;
  std::int32_t data_set = 0;
  std::vector<InputChannelDescriptor> channels;
};

struct TaskDeploymentDescriptor {
  JobId job;
  ExecutionAttemptId attempt;
  std::int32_t attempt_number = 0;
  std::shared_ptr<const JobGraph> graph;
  std::int32_t vertex = 0;  // index into graph->vertices
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;  // as resolved by the execution graph
  std::int32_t max_parallelism = 128;
  TaskConfig config;
  std::vector<ResultPartitionDescriptor> outputs;  // outputs[i] belongs to JobVertex::outputs[i]
  std::vector<InputGateDescriptor> gates;
  std::shared_ptr<const JobManagerTaskRestore> restore;  // null: starts fresh

  [[nodiscard]] const JobVertex& job_vertex() const {
    return graph->vertices[static_cast<std::size_t>(vertex)];
  }
};

}  // namespace tailrace::engine
