#include "engine/checkpoint/checkpoint_properties.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {

CheckpointProperties CheckpointProperties::for_checkpoint(CheckpointRetentionPolicy policy) {
  CheckpointProperties properties;
  properties.discard_on_failed =
      policy == CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
  if (policy == CheckpointRetentionPolicy::RETAIN_ON_CANCELLATION) {
    properties.discard_on_cancelled = false;
    properties.discard_on_suspended = false;
  }
  return properties;
}

CheckpointProperties CheckpointProperties::for_savepoint() {
  return {.forced = true,
          .type = CheckpointType::SAVEPOINT,
          .discard_on_subsumed = false,
          .discard_on_finished = false,
          .discard_on_cancelled = false,
          .discard_on_failed = false,
          .discard_on_suspended = false};
}

CheckpointProperties CheckpointProperties::for_sync_savepoint() {
  CheckpointProperties properties = for_savepoint();
  properties.type = CheckpointType::SYNC_SAVEPOINT;
  return properties;
}

CheckpointProperties CheckpointProperties::for_savepoint(bool forced, SavepointFormatType format) {
  CheckpointProperties properties = for_savepoint();
  properties.forced = forced;
  properties.format = format;
  return properties;
}

CheckpointProperties CheckpointProperties::for_sync_savepoint(bool forced, bool terminate,
                                                              SavepointFormatType format) {
  CheckpointProperties properties = for_savepoint(forced, format);
  properties.type =
      terminate ? CheckpointType::SAVEPOINT_TERMINATE : CheckpointType::SAVEPOINT_SUSPEND;
  return properties;
}

CheckpointProperties CheckpointProperties::for_unclaimed_snapshot() {
  CheckpointProperties properties = for_savepoint(false, SavepointFormatType::CANONICAL);
  properties.unclaimed = true;
  return properties;
}

bool CheckpointProperties::discard_on(JobStatus status) const {
  switch (status) {
    case JobStatus::FINISHED:
      return discard_on_finished;
    case JobStatus::CANCELED:
      return discard_on_cancelled;
    case JobStatus::FAILED:
      return discard_on_failed;
    case JobStatus::SUSPENDED:
      return discard_on_suspended;
    case JobStatus::CREATED:
    case JobStatus::RUNNING:
    case JobStatus::FAILING:
    case JobStatus::CANCELLING:
    case JobStatus::RESTARTING:
      break;
  }
  base::fail_assertion("status is final", __FILE__, __LINE__, to_string(status));
}

}  // namespace tailrace::engine
