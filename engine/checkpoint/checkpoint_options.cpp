#include "engine/checkpoint/checkpoint_options.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {

const char* to_string(CheckpointType type) {
  switch (type) {
    case CheckpointType::CHECKPOINT:
      return "CHECKPOINT";
    case CheckpointType::SAVEPOINT:
      return "SAVEPOINT";
    case CheckpointType::SYNC_SAVEPOINT:
      return "SYNC_SAVEPOINT";
    case CheckpointType::FULL_CHECKPOINT:
      return "FULL_CHECKPOINT";
    case CheckpointType::SAVEPOINT_SUSPEND:
      return "SAVEPOINT_SUSPEND";
    case CheckpointType::SAVEPOINT_TERMINATE:
      return "SAVEPOINT_TERMINATE";
  }
  return "?";
}

const char* to_string(AlignmentType alignment) {
  switch (alignment) {
    case AlignmentType::AT_LEAST_ONCE:
      return "AT_LEAST_ONCE";
    case AlignmentType::ALIGNED:
      return "ALIGNED";
    case AlignmentType::UNALIGNED:
      return "UNALIGNED";
    case AlignmentType::FORCED_ALIGNED:
      return "FORCED_ALIGNED";
  }
  return "?";
}

CheckpointOptions CheckpointOptions::for_config(CheckpointType type, bool exactly_once,
                                                bool unaligned, base::Duration aligned_timeout) {
  CheckpointOptions options;
  options.type = type;
  if (!exactly_once) {
    options.alignment = AlignmentType::AT_LEAST_ONCE;
  } else if (!is_savepoint(type) && unaligned) {
    const bool from_the_start =
        aligned_timeout == base::Duration{} || aligned_timeout == base::Duration::max();
    if (from_the_start) {
      options.alignment = AlignmentType::UNALIGNED;
    } else {
      options.aligned_checkpoint_timeout = aligned_timeout;
    }
  }
  TAILRACE_ASSERT(options.is_consistent());
  return options;
}

CheckpointOptions CheckpointOptions::as_unaligned() const {
  if (is_unaligned()) return *this;
  TAILRACE_ASSERT(alignment == AlignmentType::ALIGNED && !is_savepoint(type));
  CheckpointOptions unaligned = *this;
  unaligned.alignment = AlignmentType::UNALIGNED;
  unaligned.aligned_checkpoint_timeout = base::Duration::max();
  return unaligned;
}

CheckpointOptions CheckpointOptions::with_unaligned_unsupported() const {
  CheckpointOptions options = *this;
  if (needs_channel_state()) options.alignment = AlignmentType::FORCED_ALIGNED;
  return options;
}

CheckpointOptions CheckpointOptions::with_unaligned_supported() const {
  CheckpointOptions options = *this;
  if (alignment == AlignmentType::FORCED_ALIGNED) {
    options.alignment = aligned_checkpoint_timeout == base::Duration::max()
                            ? AlignmentType::UNALIGNED
                            : AlignmentType::ALIGNED;
  }
  return options;
}

}  // namespace tailrace::engine
