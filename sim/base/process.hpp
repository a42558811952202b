// The coroutine type of the house: a sequence of steps in virtual time.
//
// Knows no scheduler: what is awaited decides who resumes it (sim/process.hpp has delays, signals
// and mailboxes). A Process starts suspended; its owner calls `start()` once. Destroying a Process
// destroys its frame, and with it every lease that the frame holds: killing is destruction.
//
// Rules for bodies (gcc 12 and clang 16): parameters by value, no temporaries with destructors
// inside a co_await expression, no capturing lambdas as coroutines; never resume inside
// `await_suspend`.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::base {

class [[nodiscard]] Process {
 public:
  struct promise_type {
    Process get_return_object() {
      return Process(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    // Rethrown by whoever resumed the process: a broken invariant must reach the run loop.
    void unhandled_exception() { throw; }
  };

  Process() = default;
  Process(Process&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Process& operator=(Process&& other) noexcept {
    if (this != &other) {
      kill();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { kill(); }

  // Runs to the first suspension. Requires: not started, not empty.
  void start() {
    TAILRACE_ASSERT(frame_ && !frame_.done());
    frame_.resume();
  }

  // Destroys the frame, wherever it is suspended. Does nothing on an empty Process.
  void kill() {
    if (frame_) std::exchange(frame_, {}).destroy();
  }

  [[nodiscard]] bool done() const { return !frame_ || frame_.done(); }

 private:
  explicit Process(std::coroutine_handle<promise_type> frame) : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace tailrace::base
