// The threads on which a task lets the asynchronous parts of its checkpoints run.
//
// Flink StreamTask.asyncOperationsThreadPool. 1.10: an unbounded cached pool, all operations side by
// side. 1.20: a pool that never grows beyond one worker, because its queue is unbounded (spec
// coordinator.md ): the operations of a task, asynchronous parts and the closing of aborted
// ones, run strictly one after another. How many cores there are is the cost model's business.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "engine/ports.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class AsyncOperation {
 public:
  virtual ~AsyncOperation() = default;
  // Runs `ended` once, at the latest when there is nothing left to do; maybe inside this call. The
  // object lives at least until the event after that one. Once.
  virtual void start(base::Callback ended) = 0;
};

class AsyncOperationsPool {
 public:
  virtual ~AsyncOperationsPool() = default;
  // Requires: not shut down.
  virtual void execute(std::shared_ptr<AsyncOperation> operation) = 0;
  // The task is about to end: nothing is started any more, nobody waits for what runs.
  void shut_down() { shut_down_ = true; }

 protected:
  [[nodiscard]] bool is_shut_down() const { return shut_down_; }

 private:
  bool shut_down_ = false;
};

// Starts every operation at once.
class CachedPool final : public AsyncOperationsPool {
 public:
  explicit CachedPool(Timers& timers) : timers_(timers) {}
  void execute(std::shared_ptr<AsyncOperation> operation) override;

 private:
  Timers& timers_;
  std::vector<std::shared_ptr<AsyncOperation>> running_;
  base::Lifeline lifeline_;
};

// Starts an operation, in an event of its own, when the one before has ended.
class SingleWorkerPool final : public AsyncOperationsPool {
 public:
  explicit SingleWorkerPool(Timers& timers) : timers_(timers) {}
  void execute(std::shared_ptr<AsyncOperation> operation) override;

 private:
  void start_first();

  Timers& timers_;
  std::deque<std::shared_ptr<AsyncOperation>> queue_;  // the first one runs
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
