#include "scenarios/flink_option_table.hpp"

#include <type_traits>

#include "engine/generation.hpp"

namespace tailrace::scenarios {
namespace {

using base::Duration;

std::int32_t narrow(const FlinkValue& value) {
  return static_cast<std::int32_t>(value.number);
}

// For the many options that are a field and nothing else.
template <auto kField>
std::optional<std::string> set(FlinkOptions& options, const FlinkValue& value) {
  auto& field = options.*kField;
  using Field = std::remove_reference_t<decltype(field)>;
  if constexpr (std::is_same_v<Field, Duration>) {
    field = value.duration;
  } else if constexpr (std::is_same_v<Field, std::optional<std::int32_t>>) {
    field = narrow(value);
  } else if constexpr (std::is_same_v<Field, double>) {
    field = value.decimal;
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = value.number != 0;
  } else {
    field = static_cast<Field>(value.number);
  }
  return std::nullopt;
}

std::optional<std::string> set_segment_bytes(FlinkOptions& options, const FlinkValue& value) {
  // Flink ConfigurationParserUtils.getPageSize.
  if ((value.number & (value.number - 1)) != 0) return "is not a power of two";
  options.segment_bytes = value.number;
  return std::nullopt;
}

std::optional<std::string> set_interval(FlinkOptions& options, const FlinkValue& value) {
  // Flink CheckpointConfig: below 10 ms is refused; 0 is how one says never.
  if (value.duration.ns == 0) {
    options.checkpoint_interval.reset();
    return std::nullopt;
  }
  if (value.duration < Duration::millis(10)) return "is below 10 ms, Flink's least interval";
  options.checkpoint_interval = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_timeout(FlinkOptions& options, const FlinkValue& value) {
  // Flink 1.10 CheckpointConfig.MINIMAL_CHECKPOINT_TIME.
  if (value.duration < Duration::millis(10)) return "is below 10 ms, Flink's least timeout";
  options.checkpoint_timeout = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_mode(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "exactly_once") {
    options.mode = CheckpointingMode::EXACTLY_ONCE;
  } else if (value.word == "at_least_once") {
    options.mode = CheckpointingMode::AT_LEAST_ONCE;
  } else {
    return "is neither EXACTLY_ONCE nor AT_LEAST_ONCE";
  }
  return std::nullopt;
}

std::optional<std::string> set_retention(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "delete_on_cancellation") {
    options.retention = CheckpointRetention::DELETE_ON_CANCELLATION;
  } else if (value.word == "retain_on_cancellation") {
    options.retention = CheckpointRetention::RETAIN_ON_CANCELLATION;
  } else if (options.generation == engine::Generation::kFlink110) {
    return "is neither DELETE_ON_CANCELLATION nor RETAIN_ON_CANCELLATION";
  } else if (value.word == "no_externalized_checkpoints") {
    options.retention = CheckpointRetention::NEVER_RETAIN;
  } else {
    return "is none of DELETE_ON_CANCELLATION, RETAIN_ON_CANCELLATION or "
           "NO_EXTERNALIZED_CHECKPOINTS";
  }
  return std::nullopt;
}

std::optional<std::string> set_restart_strategy(FlinkOptions& options, const FlinkValue& value) {
  const std::string& word = value.word;
  if (word == "none" || word == "off" || word == "disable") {
    options.restart_strategy = RestartStrategyKind::kNone;
  } else if (word == "fixed-delay" || word == "fixeddelay") {
    options.restart_strategy = RestartStrategyKind::kFixedDelay;
  } else if (word == "failure-rate" || word == "failurerate") {
    options.restart_strategy = RestartStrategyKind::kFailureRate;
  } else if (options.generation == engine::Generation::kFlink110) {
    return "is none of none, fixed-delay or failure-rate";
  } else if (word == "exponential-delay" || word == "exponentialdelay") {
    options.restart_strategy = RestartStrategyKind::kExponentialDelay;
  } else {
    return "is none of none, fixed-delay, failure-rate or exponential-delay";
  }
  return std::nullopt;
}

std::optional<std::string> set_high_availability(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "none") {
    options.high_availability = HighAvailabilityMode::NONE;
  } else if (value.word == "zookeeper") {
    options.high_availability = HighAvailabilityMode::ZOOKEEPER;
  } else if (value.word != "kubernetes") {
    return "is none of NONE, zookeeper or kubernetes";
  } else if (!engine::brings_kubernetes_high_availability(options.generation)) {
    return "is not known to this version of Flink; use zookeeper or NONE";
  } else {
    options.high_availability = HighAvailabilityMode::KUBERNETES;
  }
  return std::nullopt;
}

std::optional<std::string> set_lease_duration(FlinkOptions& options, const FlinkValue& value) {
  if (value.duration < Duration::millis(1)) return "is out of range; it must be at least 1 ms";
  options.kubernetes_lease_duration = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_failover(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "full") {
    options.failover_strategy = FailoverStrategyKind::kFull;
  } else if (value.word == "region") {
    options.failover_strategy = FailoverStrategyKind::kRegion;
  } else {
    return "is neither full nor region";
  }
  return std::nullopt;
}

std::optional<std::string> set_backend(FlinkOptions&, const FlinkValue& value) {
  // All three keep working state on the heap; where checkpoints go, the cluster says.
  if (value.word == "jobmanager" || value.word == "filesystem" || value.word == "hashmap") {
    return std::nullopt;
  }
  if (value.word == "rocksdb") return "is not modelled yet in this version; use hashmap";
  return "is none of jobmanager, filesystem, hashmap or rocksdb";
}

std::optional<std::string> set_ask_timeout(FlinkOptions& options, const FlinkValue& value) {
  // A call that is given up before it is made would be made again for ever.
  if (value.duration < Duration::millis(1)) return "is below 1 ms";
  options.ask_timeout = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_buffer_timeout(FlinkOptions& options, const FlinkValue& value) {
  // Flink counts in whole milliseconds; 0 flushes behind every record.
  options.buffer_timeout = Duration::millis(value.duration.millis_truncated());
  return std::nullopt;
}

std::optional<std::string> set_aligned_timeout(FlinkOptions& options, const FlinkValue& value) {
  // Flink counts in whole milliseconds.
  options.aligned_checkpoint_timeout = Duration::millis(value.duration.millis_truncated());
  return std::nullopt;
}

std::optional<std::string> set_claim_mode(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "no_claim") {
    options.claim_mode = engine::ClaimMode::NO_CLAIM;
  } else if (value.word == "claim") {
    options.claim_mode = engine::ClaimMode::CLAIM;
  } else if (value.word == "legacy") {
    options.claim_mode = engine::ClaimMode::LEGACY;
  } else {
    return "is none of NO_CLAIM, CLAIM or LEGACY";
  }
  return std::nullopt;
}

std::optional<std::string> set_multiplier(FlinkOptions& options, const FlinkValue& value) {
  // Flink 1.20 ExponentialDelayRestartBackoffTimeStrategyFactoryBuilder.
  if (value.decimal <= 1.0) return "is not above 1";
  options.exponential_delay.multiplier = value.decimal;
  return std::nullopt;
}

std::optional<std::string> set_jitter(FlinkOptions& options, const FlinkValue& value) {
  if (value.decimal < 0.0 || value.decimal > 1.0) return "is not from 0 to 1";
  options.exponential_delay.jitter = value.decimal;
  return std::nullopt;
}

template <auto kField>
std::optional<std::string> set_exponential(FlinkOptions& options, const FlinkValue& value) {
  auto& field = options.exponential_delay.*kField;
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, Duration>) {
    if (value.duration < Duration::millis(1)) return "is below 1 ms";
    field = value.duration;
  } else {
    field = narrow(value);
  }
  return std::nullopt;
}

template <auto kField>
std::optional<std::string> set_debloat(FlinkOptions& options, const FlinkValue& value) {
  auto& field = options.buffer_debloat.*kField;
  using Field = std::remove_reference_t<decltype(field)>;
  if constexpr (std::is_same_v<Field, Duration>) {
    // Flink counts in whole milliseconds, and refuses none of them as the target.
    if (value.duration < Duration::millis(1)) return "is below 1 ms";
    field = Duration::millis(value.duration.millis_truncated());
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = value.number != 0;
  } else {
    field = narrow(value);
  }
  return std::nullopt;
}

std::optional<std::string> set_max_parallelism(FlinkOptions& options, const FlinkValue& value) {
  if (value.number == 0) return "is out of range; it must be -1 or from 1 to 32768";
  options.max_parallelism = narrow(value);
  return std::nullopt;
}

using O = FlinkOptions;
using F = FlinkType;

using X = engine::ExponentialDelayConfig;
using D = engine::BufferDebloatConfiguration;
using V = FlinkVersions;

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {{"akka.ask.timeout", "pekko.ask.timeout"}, F::kTextDuration, 0, 0, set_ask_timeout},
    {{"execution.buffer-timeout", "execution.buffer-timeout.interval"},
     F::kDuration,
     0,
     0,
     set_buffer_timeout},
    {{"execution.checkpointing.interval"}, F::kDuration, 0, 0, set_interval},
    {{"execution.checkpointing.timeout"}, F::kDuration, 0, 0, set_timeout},
    {{"execution.checkpointing.min-pause"},
     F::kDuration,
     0,
     0,
     set<&O::min_pause_between_checkpoints>},
    {{"execution.checkpointing.max-concurrent-checkpoints"},
     F::kInt,
     1,
     kIntMax,
     set<&O::max_concurrent_checkpoints>},
    {{"execution.checkpointing.mode"}, F::kWord, 0, 0, set_mode},
    {{"execution.checkpointing.tolerable-failed-checkpoints"},
     F::kInt,
     0,
     kIntMax,
     set<&O::tolerable_failed_checkpoints>},
    {{"execution.checkpointing.externalized-checkpoint-retention"}, F::kWord, 0, 0, set_retention},
    {{"execution.checkpointing.prefer-checkpoint-for-recovery"},
     F::kBoolean,
     0,
     0,
     set<&O::prefer_checkpoint_for_recovery>,
     V::kOnly110},
    {{"execution.checkpointing.unaligned.enabled", "execution.checkpointing.unaligned"},
     F::kBoolean,
     0,
     0,
     set<&O::unaligned>,
     V::kOnly120},
    {{"execution.checkpointing.unaligned.forced"},
     F::kBoolean,
     0,
     0,
     set<&O::unaligned_forced>,
     V::kOnly120},
    {{"execution.checkpointing.aligned-checkpoint-timeout"},
     F::kDuration,
     0,
     0,
     set_aligned_timeout,
     V::kOnly120},
    {{"execution.checkpointing.unaligned.max-subtasks-per-channel-state-file"},
     F::kInt,
     1,
     kIntMax,
     set<&O::max_subtasks_per_channel_state_file>,
     V::kOnly120},
    {{"execution.checkpointing.checkpoints-after-tasks-finish",
      "execution.checkpointing.checkpoints-after-tasks-finish.enabled"},
     F::kBoolean,
     0,
     0,
     set<&O::checkpoints_after_tasks_finish>,
     V::kOnly120},
    {{"execution.state-recovery.claim-mode", "execution.savepoint-restore-mode"},
     F::kWord,
     0,
     0,
     set_claim_mode,
     V::kOnly120},
    {{"web.checkpoints.history"}, F::kInt, 0, kIntMax, set<&O::checkpoint_history>},
    {{"state.checkpoints.num-retained", "execution.checkpointing.num-retained"},
     F::kInt,
     1,
     kIntMax,
     set<&O::retained_checkpoints>},
    {{"state.backend.fs.memory-threshold", "execution.checkpointing.data-inline-threshold",
      "state.storage.fs.memory-threshold"},
     F::kBytesAsLong,
     0,
     1'048'576,  // Flink 1.10 FsStateBackend.MAX_FILE_STATE_THRESHOLD
     set<&O::state_memory_threshold_bytes>},
    {{"task.checkpoint.alignment.max-size"},
     F::kBytesAsLong,
     -1,
     kLongMax,
     set<&O::alignment_max_bytes>,
     V::kOnly110},
    {{"heartbeat.interval"}, F::kMillisAsLong, 1, kIntMax, set<&O::heartbeat_interval>},
    {{"heartbeat.timeout"}, F::kMillisAsLong, 1, kIntMax, set<&O::heartbeat_timeout>},
    {{"high-availability", "high-availability.type"}, F::kWord, 0, 0, set_high_availability},
    {{"high-availability.zookeeper.client.session-timeout"},
     F::kMillisAsLong,
     1,
     kIntMax,
     set<&O::zookeeper_session_timeout>},
    {{"high-availability.kubernetes.leader-election.lease-duration"},
     F::kDuration,
     0,
     0,
     set_lease_duration,
     V::kOnly120},
    {{"restart-strategy", "restart-strategy.type"}, F::kWord, 0, 0, set_restart_strategy},
    {{"restart-strategy.fixed-delay.attempts"}, F::kInt, 0, kIntMax, set<&O::fixed_delay_attempts>},
    {{"restart-strategy.fixed-delay.delay"}, F::kDuration, 0, 0, set<&O::fixed_delay>},
    {{"restart-strategy.failure-rate.max-failures-per-interval"},
     F::kInt,
     1,
     kIntMax,
     set<&O::failure_rate_max_failures>},
    {{"restart-strategy.failure-rate.failure-rate-interval"},
     F::kDuration,
     0,
     0,
     set<&O::failure_rate_interval>},
    {{"restart-strategy.failure-rate.delay"}, F::kDuration, 0, 0, set<&O::failure_rate_delay>},
    {{"restart-strategy.exponential-delay.initial-backoff"},
     F::kDuration,
     0,
     0,
     set_exponential<&X::initial_backoff>,
     V::kOnly120},
    {{"restart-strategy.exponential-delay.max-backoff"},
     F::kDuration,
     0,
     0,
     set_exponential<&X::max_backoff>,
     V::kOnly120},
    {{"restart-strategy.exponential-delay.backoff-multiplier"},
     F::kDouble,
     0,
     0,
     set_multiplier,
     V::kOnly120},
    {{"restart-strategy.exponential-delay.reset-backoff-threshold"},
     F::kDuration,
     0,
     0,
     set_exponential<&X::reset_threshold>,
     V::kOnly120},
    {{"restart-strategy.exponential-delay.jitter-factor"},
     F::kDouble,
     0,
     0,
     set_jitter,
     V::kOnly120},
    {{"restart-strategy.exponential-delay.attempts-before-reset-backoff"},
     F::kInt,
     1,
     kIntMax,
     set_exponential<&X::attempts>,
     V::kOnly120},
    {{"jobmanager.execution.failover-strategy"}, F::kWord, 0, 0, set_failover},
    {{"slot.request.timeout"}, F::kMillisAsLong, 0, kIntMax, set<&O::slot_request_timeout>},
    {{"slotmanager.requirement-check.delay"},
     F::kDuration,
     0,
     0,
     set<&O::requirement_check_delay>,
     V::kOnly120},
    {{"jobmanager.io-pool.size"}, F::kInt, 1, kIntMax, set<&O::io_pool_size>, V::kOnly120},
    {{"execution.checkpointing.cleaner.parallel-mode", "state.checkpoint.cleaner.parallel-mode"},
     F::kBoolean,
     0,
     0,
     set<&O::cleaner_parallel_mode>,
     V::kOnly120},
    {{"state.backend", "state.backend.type"}, F::kWord, 0, 0, set_backend},
    {{"taskmanager.memory.segment-size"},
     F::kMemory,
     4096,  // Flink MemoryManager.MIN_PAGE_SIZE
     1 << 30,
     set_segment_bytes},
    {{"taskmanager.network.memory.buffers-per-channel"},
     F::kInt,
     0,  // 1.10 needs one (flink_parser.cpp)
     100'000,
     set<&O::buffers_per_channel>},
    {{"taskmanager.network.memory.floating-buffers-per-gate"},
     F::kInt,
     0,
     1'000'000,
     set<&O::floating_buffers_per_gate>},
    {{"taskmanager.network.memory.max-buffers-per-channel"},
     F::kInt,
     1,
     kIntMax,
     set<&O::max_buffers_per_channel>,
     V::kOnly120},
    {{"taskmanager.network.memory.max-overdraft-buffers-per-gate"},
     F::kInt,
     0,
     kIntMax,
     set<&O::max_overdraft_buffers_per_gate>,
     V::kOnly120},
    {{"taskmanager.network.memory.buffer-debloat.enabled"},
     F::kBoolean,
     0,
     0,
     set_debloat<&D::enabled>,
     V::kOnly120},
    {{"taskmanager.network.memory.buffer-debloat.period"},
     F::kDuration,
     0,
     0,
     set_debloat<&D::period>,
     V::kOnly120},
    {{"taskmanager.network.memory.buffer-debloat.target"},
     F::kDuration,
     0,
     0,
     set_debloat<&D::target>,
     V::kOnly120},
    {{"taskmanager.network.memory.buffer-debloat.samples"},
     F::kInt,
     1,
     kIntMax,
     set_debloat<&D::samples>,
     V::kOnly120},
    {{"taskmanager.network.memory.buffer-debloat.threshold-percentages"},
     F::kInt,
     0,
     100,
     set_debloat<&D::threshold_percentages>,
     V::kOnly120},
    {{"taskmanager.memory.min-segment-size"},
     F::kMemory,
     1,
     1 << 30,
     set_debloat<&D::min_buffer_bytes>,
     V::kOnly120},
    {{"taskmanager.network.request-backoff.initial", "taskmanager.net.request-backoff.initial"},
     F::kInt,
     1,
     kIntMax,
     set<&O::request_backoff_initial_ms>},
    {{"taskmanager.network.request-backoff.max", "taskmanager.net.request-backoff.max"},
     F::kInt,
     1,
     kIntMax,
     set<&O::request_backoff_max_ms>},
    {{"taskmanager.numberOfTaskSlots"}, F::kInt, 1, 1'000, set<&O::task_slots>},
    {{"parallelism.default"}, F::kInt, 1, 32'768, set<&O::default_parallelism>},
    {{"pipeline.max-parallelism"}, F::kInt, -1, 32'768, set_max_parallelism},
    {{"pipeline.operator-chaining", "pipeline.operator-chaining.enabled"},
     F::kBoolean,
     0,
     0,
     set<&O::operator_chaining>},
});

}  // namespace

std::span<const OptionSpec> flink_option_table() {
  return kOptions;
}

const OptionSpec* find_flink_option(std::string_view key) {
  for (const OptionSpec& option : kOptions) {
    for (const std::string_view name : option.names) {
      if (!name.empty() && name == key) return &option;
    }
  }
  return nullptr;
}

}  // namespace tailrace::scenarios
