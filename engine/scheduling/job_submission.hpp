// What a client hands to the job manager, and what the cluster is set to.
#pragma once

#include <string>

#include "engine/graph/stream_graph.hpp"
#include "engine/scheduling/checkpointing.hpp"
#include "engine/scheduling/deployment.hpp"
#include "engine/scheduling/restart_backoff_time_strategy.hpp"

namespace tailrace::engine {

struct JobSubmission {
  StreamGraph graph;
  TaskConfig tasks;
  CheckpointConfig checkpoints;
  RestartStrategyConfig restart;
  // `jobmanager.execution.failover-strategy: full`: any failure restarts the whole job. Otherwise
  // (`region`, and in 1.10 unset) the pipelined region of the failed task.
  bool full_failover = false;
  std::string savepoint_path;  // directory to restore from; empty: start fresh
  bool allow_non_restored_state = false;
};

// Defaults are Flink 1.10's.
struct ClusterConfig {
  Duration heartbeat_interval = Duration::seconds(10);     // heartbeat.interval
  Duration heartbeat_timeout = Duration::seconds(50);      // heartbeat.timeout
  Duration ask_timeout = Duration::seconds(10);            // akka.ask.timeout
  Duration slot_request_timeout = Duration::seconds(300);  // slot.request.timeout
  // 1.20: slotmanager.requirement-check.delay; 0: requirements are met at once.
  Duration requirement_check_delay{};
};

}  // namespace tailrace::engine
