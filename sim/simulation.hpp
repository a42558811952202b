// The run loop: virtual time, and everything that happens in it, one event after the other.
//
// One thread. Nothing runs inside the call that scheduled it. What is scheduled for the same
// instant runs in the order of scheduling. Whatever schedules or cancels dies before the Simulation;
// only what pending callbacks hold may die with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/callback.hpp"
#include "sim/event_queue.hpp"
#include "sim/trace.hpp"

namespace tailrace::sim {

// A broken invariant, with the moment at which it broke.
class TimedInvariantViolation final : public base::InvariantViolation {
 public:
  TimedInvariantViolation(const base::InvariantViolation& violation, Time at);

  [[nodiscard]] Time at() const { return at_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Time at_;
  std::string text_;
};

enum class RunEnd : std::uint8_t {
  kIdle,         // nothing is pending any more
  kHorizon,      // everything up to `until` has happened
  kStopped,      // somebody in the run called stop()
  kInterrupted,  // the flag from outside was raised
};

class Simulation {
 public:
  Simulation();
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] std::uint64_t events_processed() const { return events_processed_; }
  [[nodiscard]] std::size_t pending() const { return queue_.size(); }
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] const EventQueue& queue() const { return queue_; }

  // Requires: at >= now(); the handler outlives the event or cancels it.
  EventId schedule_at(Time at, EventHandler& handler, std::uint64_t argument = 0) {
    TAILRACE_ASSERT(at >= now_);
    return queue_.schedule(at, handler, argument);
  }
  // Requires: delay >= 0. A delay of 0 runs after everything already due now.
  EventId schedule(Duration delay, EventHandler& handler, std::uint64_t argument = 0) {
    TAILRACE_ASSERT(delay.ns >= 0 && delay <= Time::max() - now_);
    return queue_.schedule(now_ + delay, handler, argument);
  }

  // The same for a callback, which is kept until it has run or is cancelled. No allocation once as
  // many callbacks have been pending before.
  EventId schedule(Duration delay, base::Callback callback);
  EventId schedule_at(Time at, base::Callback callback) {
    TAILRACE_ASSERT(at >= now_);
    return schedule(at - now_, std::move(callback));
  }

  // Destroys a callback at once. Returns: whether the event was pending.
  bool cancel(EventId id);
  [[nodiscard]] bool is_pending(EventId id) const { return queue_.pending(id); }

  // Fires everything up to and including `until`, which is then the present if it was reached.
  // `interrupt` may be raised by a signal handler or another thread; it is read every 1024 events.
  // Errors: TimedInvariantViolation. The run is over then.
  RunEnd run(Time until = Time::max(), const std::atomic<bool>* interrupt = nullptr);

  // Ends run() after the event that is running. Takes effect at the next run() if none is active.
  void stop() { stop_requested_ = true; }

 private:
  class Callbacks;

  RunEnd loop(Time until, const std::atomic<bool>* interrupt);

  EventQueue queue_;
  Time now_;
  std::uint64_t events_processed_ = 0;
  bool stop_requested_ = false;
  Trace trace_;
  std::unique_ptr<Callbacks> callbacks_;
};

}  // namespace tailrace::sim
