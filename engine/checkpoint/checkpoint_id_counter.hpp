// Numbers checkpoints and savepoints of a job.
//
// Flink 1.10 CheckpointIDCounter, StandaloneCheckpointIDCounter (spec coordinator.md ).
#pragma once

#include <optional>
#include <utility>

#include "engine/ids.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class CheckpointIDCounter {
 public:
  using Next = base::InplaceFunction<void(std::optional<CheckpointId>)>;
  using Set = base::InplaceFunction<void(bool)>;

  virtual ~CheckpointIDCounter() = default;

  // Whether the counter lives in another process: then only the functions with a `done` may be
  // called, and they answer later. Otherwise they answer inside the call.
  [[nodiscard]] virtual bool is_remote() const { return false; }
  virtual void get_and_increment_async(Next done) { done(get_and_increment()); }
  virtual void set_count_async(CheckpointId next, Set done) {
    set_count(next);
    done(true);
  }
  // None: the counter failed, and used no id.
  virtual std::optional<CheckpointId> get_and_increment() = 0;
  // Whether the last call of `get_and_increment` failed with an I/O error (1.20 tells it apart).
  [[nodiscard]] virtual bool last_failure_was_io() const { return true; }
  // The next id.
  [[nodiscard]] virtual CheckpointId get() const = 0;
  virtual void set_count(CheckpointId next) = 0;
  virtual void shutdown(JobStatus) {}
};

class StandaloneCheckpointIDCounter final : public CheckpointIDCounter {
 public:
  std::optional<CheckpointId> get_and_increment() override { return next_++; }
  [[nodiscard]] CheckpointId get() const override { return next_; }
  void set_count(CheckpointId next) override { next_ = next; }

 private:
  CheckpointId next_ = 1;
};

}  // namespace tailrace::engine
