#include "engine/checkpoint/f120/io_executor.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {

IoExecutor::IoExecutor(std::int32_t threads) : threads_(threads) {
  TAILRACE_ASSERT(threads >= 1);
}

void IoExecutor::execute(Work work) {
  waiting_.push_back(std::move(work));
  start_what_can();
}

bool IoExecutor::take_thread() {
  if (!waiting_.empty() || !has_free_thread()) return false;
  ++busy_;
  return true;
}

void IoExecutor::give_back_thread() {
  TAILRACE_ASSERT(busy_ > 0);
  --busy_;
  start_what_can();
}

void IoExecutor::let_all_run() {
  unlimited_ = true;
  start_what_can();
}

void IoExecutor::start_what_can() {
  if (starting_) return;
  starting_ = true;
  while (!waiting_.empty() && has_free_thread()) {
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    ++busy_;
    work(lifeline_.bind([this] { give_back_thread(); }));
  }
  starting_ = false;
}

}  // namespace tailrace::engine
