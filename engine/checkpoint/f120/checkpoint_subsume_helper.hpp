// Which stored checkpoints have to make room.
//
// Flink 1.20 CheckpointSubsumeHelper (spec coordinator.md ).
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"

namespace tailrace::engine {

struct Subsumed {
  std::vector<CompletedCheckpointPtr> removed;  // oldest first
  CompletedCheckpointPtr last;                  // of these, the one with the largest id; null: none
};

// Takes out what goes. More than `retained` may stay: never the latest goes, nor the newest that is
// no savepoint, unless the latest is a synchronous savepoint.
[[nodiscard]] Subsumed subsume(std::deque<CompletedCheckpointPtr>& checkpoints,
                               std::size_t retained);

}  // namespace tailrace::engine
