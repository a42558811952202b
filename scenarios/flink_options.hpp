// The options of Flink that this engine obeys, typed, with their defaults of 1.10; `flink_defaults`
// has those of either version.
//
// The table of their names and types is in flink_option_table.cpp; all other keys that Flink knows are
// in flink_keys.cpp and are only mentioned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/checkpoint/checkpoint_coordinator.hpp"
#include "engine/ids.hpp"
#include "engine/network/buffer_debloat_configuration.hpp"
#include "engine/scheduling/restart_backoff_time_strategy.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

enum class CheckpointingMode : std::uint8_t { EXACTLY_ONCE, AT_LEAST_ONCE };
enum class CheckpointRetention : std::uint8_t {
  NEVER_RETAIN,  // not configured
  DELETE_ON_CANCELLATION,
  RETAIN_ON_CANCELLATION,
};

// `kUnset` without checkpoints means no restart; with them Flink 1.10 restarts without limit after
// one second (StreamGraphGenerator, FlinkConfigurableOptions), Flink 1.20 with its exponential delay.
// The last one is 1.20's.
enum class RestartStrategyKind : std::uint8_t {
  kUnset,
  kNone,
  kFixedDelay,
  kFailureRate,
  kExponentialDelay,
};

// Who keeps what must survive a job manager. NONE: nobody.
enum class HighAvailabilityMode : std::uint8_t { NONE, ZOOKEEPER, KUBERNETES };

enum class FailoverStrategyKind : std::uint8_t { kFull, kRegion };

struct FlinkOptions {
  engine::Generation generation = engine::Generation::kFlink110;

  // Checkpoints
  std::optional<base::Duration> checkpoint_interval;  // none: no periodic checkpoints
  base::Duration checkpoint_timeout = base::Duration::seconds(600);
  base::Duration min_pause_between_checkpoints;
  std::int32_t max_concurrent_checkpoints = 1;
  CheckpointingMode mode = CheckpointingMode::EXACTLY_ONCE;
  std::optional<std::int32_t> tolerable_failed_checkpoints;
  CheckpointRetention retention = CheckpointRetention::NEVER_RETAIN;
  bool prefer_checkpoint_for_recovery = false;
  std::int32_t retained_checkpoints = 1;
  std::int64_t state_memory_threshold_bytes = 1024;  // below: inside the metadata
  std::int64_t alignment_max_bytes = -1;             // -1: no limit
  std::int32_t checkpoint_history = 10;
  bool checkpoints_after_tasks_finish = true;  // 1.20
  // 1.20. Unaligned: barriers may overtake data, at once or after a wait. `forced` is for iterations and
  // custom partitioners, which these jobs have not.
  bool unaligned = false;
  bool unaligned_forced = false;
  base::Duration aligned_checkpoint_timeout;
  std::int32_t max_subtasks_per_channel_state_file = 5;
  engine::ClaimMode claim_mode = engine::ClaimMode::NO_CLAIM;  // 1.20; of a rescale's savepoint

  // Failures
  base::Duration heartbeat_interval = base::Duration::seconds(10);
  base::Duration heartbeat_timeout = base::Duration::seconds(50);
  base::Duration ask_timeout = base::Duration::seconds(10);
  RestartStrategyKind restart_strategy = RestartStrategyKind::kUnset;
  std::int32_t fixed_delay_attempts = 1;
  base::Duration fixed_delay = base::Duration::seconds(1);
  std::int32_t failure_rate_max_failures = 1;
  base::Duration failure_rate_interval = base::Duration::seconds(60);
  base::Duration failure_rate_delay = base::Duration::seconds(1);
  engine::ExponentialDelayConfig exponential_delay;
  FailoverStrategyKind failover_strategy = FailoverStrategyKind::kRegion;  // unset (S-6.6)
  base::Duration slot_request_timeout = base::Duration::seconds(300);
  base::Duration requirement_check_delay{};
  std::int32_t io_pool_size = 4;
  bool cleaner_parallel_mode = true;
  HighAvailabilityMode high_availability = HighAvailabilityMode::NONE;
  base::Duration zookeeper_session_timeout = base::Duration::seconds(60);
  base::Duration kubernetes_lease_duration = base::Duration::seconds(15);

  // Network
  std::int64_t segment_bytes = 32 * 1024;
  std::int32_t buffers_per_channel = 2;
  std::int32_t floating_buffers_per_gate = 8;
  std::int32_t max_buffers_per_channel = 10;          // 1.20
  std::int32_t max_overdraft_buffers_per_gate = 5;    // 1.20
  engine::BufferDebloatConfiguration buffer_debloat;  // 1.20
  std::int32_t request_backoff_initial_ms = 100;
  std::int32_t request_backoff_max_ms = 10'000;
  base::Duration buffer_timeout = base::Duration::millis(100);  // 0: flush after every record

  // Graph
  bool operator_chaining = true;
  std::int32_t max_parallelism = -1;  // -1: derived
  std::int32_t default_parallelism = 1;
  std::int32_t task_slots = 1;  // of a task manager, unless the cluster says otherwise
};

[[nodiscard]] inline FlinkOptions flink_defaults(engine::Generation generation) {
  FlinkOptions options;
  options.generation = generation;
  if (generation == engine::Generation::kFlink120) {
    options.state_memory_threshold_bytes =
        20 * 1024;  // execution.checkpointing.data-inline-threshold
  }
  return options;
}

}  // namespace tailrace::scenarios
