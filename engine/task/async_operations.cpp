#include "engine/task/async_operations.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

void CachedPool::execute(std::shared_ptr<AsyncOperation> operation) {
  TAILRACE_ASSERT(!is_shut_down());
  AsyncOperation* const raw = operation.get();
  running_.push_back(std::move(operation));
  raw->start(lifeline_.bind([this, raw] {
    if (is_shut_down()) return;
    // It is still on the stack: it goes in an event of its own.
    timers_.schedule({}, lifeline_.bind([this, raw] {
      std::erase_if(running_, [raw](const auto& owned) { return owned.get() == raw; });
    }));
  }));
}

void SingleWorkerPool::execute(std::shared_ptr<AsyncOperation> operation) {
  TAILRACE_ASSERT(!is_shut_down());
  queue_.push_back(std::move(operation));
  if (queue_.size() == 1) start_first();
}

void SingleWorkerPool::start_first() {
  queue_.front()->start(lifeline_.bind([this] {
    if (is_shut_down()) return;
    timers_.schedule({}, lifeline_.bind([this] {
      queue_.pop_front();
      if (is_shut_down()) return;
      if (!queue_.empty()) start_first();
    }));
  }));
}

}  // namespace tailrace::engine
