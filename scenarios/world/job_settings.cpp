#include "scenarios/world/job_settings.hpp"

namespace tailrace::scenarios {
namespace {

engine::RestartStrategyConfig restart_config(const FlinkOptions& flink) {
  engine::RestartStrategyConfig restart;
  switch (flink.restart_strategy) {
    case RestartStrategyKind::kUnset:
      restart.kind = engine::RestartStrategyConfig::Kind::kUnset;
      break;
    case RestartStrategyKind::kNone:
      restart.kind = engine::RestartStrategyConfig::Kind::kNone;
      break;
    case RestartStrategyKind::kFixedDelay:
      restart.kind = engine::RestartStrategyConfig::Kind::kFixedDelay;
      break;
    case RestartStrategyKind::kFailureRate:
      restart.kind = engine::RestartStrategyConfig::Kind::kFailureRate;
      break;
    case RestartStrategyKind::kExponentialDelay:
      restart.kind = engine::RestartStrategyConfig::Kind::kExponentialDelay;
      break;
  }
  restart.fixed_delay_attempts = flink.fixed_delay_attempts;
  restart.fixed_delay = flink.fixed_delay;
  restart.failure_rate_max_failures = flink.failure_rate_max_failures;
  restart.failure_rate_interval = flink.failure_rate_interval;
  restart.failure_rate_delay = flink.failure_rate_delay;
  restart.exponential_delay = flink.exponential_delay;
  return restart;
}

// spec coordinator.md.
engine::CheckpointRetentionPolicy retention_policy(CheckpointRetention retention) {
  switch (retention) {
    case CheckpointRetention::NEVER_RETAIN:
      break;
    case CheckpointRetention::DELETE_ON_CANCELLATION:
      return engine::CheckpointRetentionPolicy::RETAIN_ON_FAILURE;
    case CheckpointRetention::RETAIN_ON_CANCELLATION:
      return engine::CheckpointRetentionPolicy::RETAIN_ON_CANCELLATION;
  }
  return engine::CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
}

}  // namespace

engine::ClusterConfig cluster_config(const Scenario& scenario) {
  engine::ClusterConfig config;
  config.heartbeat_interval = scenario.flink.heartbeat_interval;
  config.heartbeat_timeout = scenario.flink.heartbeat_timeout;
  config.ask_timeout = scenario.flink.ask_timeout;
  config.slot_request_timeout = scenario.flink.slot_request_timeout;
  config.requirement_check_delay = scenario.flink.requirement_check_delay;
  return config;
}

engine::HighAvailabilityConfig high_availability_config(const Scenario& scenario) {
  engine::HighAvailabilityConfig config;
  config.read = scenario.cluster.high_availability.read;
  config.write = scenario.cluster.high_availability.write;
  config.session_timeout = scenario.flink.high_availability == HighAvailabilityMode::KUBERNETES
                               ? scenario.flink.kubernetes_lease_duration
                               : scenario.flink.zookeeper_session_timeout;
  config.storage_directory = kHighAvailabilityDirectory;
  return config;
}

engine::JobSubmission job_settings(const Scenario& scenario) {
  const FlinkOptions& flink = scenario.flink;
  engine::JobSubmission job;
  job.tasks.generation = flink.generation;
  job.tasks.checkpointing_enabled = flink.checkpoint_interval.has_value();
  job.tasks.max_concurrent_checkpoints = flink.max_concurrent_checkpoints;
  // Without checkpoints Flink 1.10 configures its tasks for at-least-once, whatever the mode says
  // (StreamingJobGraphGenerator.setVertexConfig).
  job.tasks.mode = flink.mode == CheckpointingMode::EXACTLY_ONCE && job.tasks.checkpointing_enabled
                       ? engine::CheckpointingMode::EXACTLY_ONCE
                       : engine::CheckpointingMode::AT_LEAST_ONCE;
  job.tasks.checkpoints_after_tasks_finish = flink.checkpoints_after_tasks_finish;
  // At-least-once turns it off (spec rescale.md S-3.30), and so does a job without checkpoints.
  const bool unaligned =
      flink.unaligned && job.tasks.mode == engine::CheckpointingMode::EXACTLY_ONCE;
  job.tasks.unaligned = unaligned;
  job.tasks.max_subtasks_per_channel_state_file = flink.max_subtasks_per_channel_state_file;
  job.tasks.buffer_timeout = flink.buffer_timeout;
  job.tasks.alignment_max_bytes = flink.alignment_max_bytes;
  job.tasks.inline_threshold_bytes = flink.state_memory_threshold_bytes;
  job.tasks.segment_bytes = flink.segment_bytes;
  job.tasks.checkpoint_directory = kCheckpointDirectory;

  job.checkpoints.interval = flink.checkpoint_interval;
  job.checkpoints.timeout = flink.checkpoint_timeout;
  job.checkpoints.min_pause = flink.min_pause_between_checkpoints;
  job.checkpoints.max_concurrent = flink.max_concurrent_checkpoints;
  if (flink.tolerable_failed_checkpoints) {
    job.checkpoints.tolerable_failures = *flink.tolerable_failed_checkpoints;
  }
  job.checkpoints.max_retained = flink.retained_checkpoints;
  job.checkpoints.prefer_checkpoint_for_recovery = flink.prefer_checkpoint_for_recovery;
  job.checkpoints.retention = retention_policy(flink.retention);
  job.checkpoints.savepoint_directory = kSavepointDirectory;
  job.checkpoints.history = flink.checkpoint_history;
  job.checkpoints.checkpoints_after_tasks_finish = flink.checkpoints_after_tasks_finish;
  job.checkpoints.claim_mode = flink.claim_mode;
  job.checkpoints.io_pool_size = flink.io_pool_size;
  job.checkpoints.cleaner_parallel_mode = flink.cleaner_parallel_mode;
  job.checkpoints.unaligned = unaligned;
  job.checkpoints.aligned_timeout = flink.aligned_checkpoint_timeout;
  job.restart = restart_config(flink);
  job.full_failover = flink.failover_strategy == FailoverStrategyKind::kFull;
  return job;
}

}  // namespace tailrace::scenarios
