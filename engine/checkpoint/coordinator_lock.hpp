// The lock of a checkpoint coordinator, where nobody can be made to wait.
//
// Flink's CheckpointCoordinator has a monitor; threads that come while it is taken wait for it. Here
// what comes meanwhile (from inside a callback of the coordinator, or while a finalisation takes its
// virtual time) is put aside and runs when the lock is free.
//
// Invariants
//   L1  Nothing runs before what came earlier, nor inside of it.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "sim/base/assert.hpp"
#include "sim/base/callback.hpp"

namespace tailrace::engine {

class CoordinatorLock {
 public:
  // Runs `body` as soon as the lock is free, after all that waits for it already.
  // Cost: no allocation if it is free.
  template <typename Body>
  void run(Body body) {
    if (is_free() && deferred_.empty()) {
      hold(body);
    } else {
      deferred_.emplace_back(std::move(body));
    }
    drain();
  }

  // Stays taken when the running body ends, until there were as many `release`.
  void keep() { ++kept_; }
  // Whoever keeps it is at work again, and callbacks come from inside.
  void resume() { held_ = true; }
  // The end of a `keep`; after the last one runs what waits.
  void release() {
    TAILRACE_ASSERT(kept_ > 0);
    --kept_;
    held_ = false;
    drain();
  }

 private:
  // Room for an acknowledgement with its callback.
  using Deferred = base::InplaceFunction<void(), 256>;

  [[nodiscard]] bool is_free() const { return !held_ && kept_ == 0; }
  template <typename Body>
  void hold(Body& body) {
    struct Hold {
      explicit Hold(bool& held) : held_(held) { held_ = true; }
      ~Hold() { held_ = false; }
      bool& held_;
    };
    const Hold hold(held_);
    body();
  }
  void drain() {
    while (is_free() && !deferred_.empty()) {
      Deferred body = std::move(deferred_.front());
      deferred_.pop_front();
      hold(body);
    }
  }

  bool held_ = false;
  std::int32_t kept_ = 0;
  std::deque<Deferred> deferred_;
};

}  // namespace tailrace::engine
