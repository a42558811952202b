// Threads of the job manager that run what may block.
//
// Flink 1.20 JobManagerSharedServices (the I/O executor): a pool of `jobmanager.io-pool.size` threads.
// What is handed to it is run first in first out, so what is slow (a deletion in a store that answers
// late) holds up what is quick (the next checkpoint's directory).
//
// Invariants
//   I1  Work starts in the order in which it was handed over.
//   I2  At most `threads` pieces of work are under way.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

class IoExecutor {
 public:
  // The thread is free again. Called once, inside the work or later; harmless when the pool is gone.
  using Done = base::InplaceFunction<void()>;
  using Work = base::InplaceFunction<void(Done), 96>;

  // Requires: threads >= 1.
  explicit IoExecutor(std::int32_t threads);

  // Runs it inside this call if a thread is free and nothing waits.
  void execute(Work work);
  // For work that needs no queue, and no memory for it: takes a thread if one is free and nothing waits.
  [[nodiscard]] bool take_thread();
  // Requires: a thread that was taken, or that runs work whose `Done` is not used.
  void give_back_thread();
  // From now on nothing waits: all that does starts inside this call. For the end of a job, behind
  // which nobody measures how long things take.
  void let_all_run();

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::int32_t busy() const { return busy_; }

 private:
  void start_what_can();
  [[nodiscard]] bool has_free_thread() const { return unlimited_ || busy_ < threads_; }

  std::int32_t threads_;
  std::int32_t busy_ = 0;
  bool unlimited_ = false;
  bool starting_ = false;  // work that ends inside its call does not nest
  std::deque<Work> waiting_;
  base::Lifeline lifeline_;
};

}  // namespace tailrace::engine
