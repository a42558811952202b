// Deletes the files of a checkpoint on the job manager's I/O executor.
//
// Flink 1.20 CompletedCheckpoint.CompletedCheckpointDiscardObject and
// PendingCheckpoint.PendingCheckpointDiscardObject (`discardAsync`, and `discard` without
// `state.checkpoint.cleaner.parallel-mode`).
#pragma once

#include <memory>

#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/checkpoint/f120/io_executor.hpp"

namespace tailrace::engine {

struct CheckpointDeletion {
  using Done = base::InplaceFunction<void(), 128>;
  // Gets rid of the location, on the thread that has deleted the last file.
  using Location = base::InplaceFunction<void(CheckpointStorage::Deleted), 64>;

  FileNames files;
  std::shared_ptr<const void> owner;  // of the names
  bool parallel = true;               // one piece of work for each file, or one for all
  Location location;
  Done done;  // when everything is gone
};

// Requires: `executor` and `storage` outlive the deletion, or its callbacks are dropped with them.
void delete_on(IoExecutor& executor, CheckpointStorage& storage, CheckpointDeletion deletion);

}  // namespace tailrace::engine
