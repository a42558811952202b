// A snapshot that has been taken but not yet written: the asynchronous part of a checkpoint.
//
// Flink 1.10 SnapshotStrategy, AsyncSnapshotCallable, OperatorSnapshotFutures (spec state.md 1.6).
// Whoever runs it alternates `step` with the time that the step's work takes, so that the task goes
// on processing in between. Then the stream goes to a CheckpointStreamFactory and the handle back
// into `finish`. Destroying it at any moment releases whatever it holds of the backend; it may
// outlive the backend.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engine/ports.hpp"
#include "engine/state/handles.hpp"

namespace tailrace::engine {

class SnapshotFuture {
 public:
  virtual ~SnapshotFuture() = default;

  // What taking the snapshot has cost the task: the synchronous part.
  [[nodiscard]] virtual Work sync_work() const = 0;
  // Writes the next piece of the stream and says what it costs; none: the stream is complete.
  virtual std::optional<Work> step() = 0;
  // Requires: step() has returned none. Once.
  [[nodiscard]] virtual std::vector<std::byte> take_stream() = 0;
  // Files the stored stream in `state`. Requires: take_stream() has been called; not null.
  virtual void finish(StreamStateHandlePtr stream, OperatorSubtaskState& state) = 0;
};

}  // namespace tailrace::engine
