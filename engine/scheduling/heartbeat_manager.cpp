#include "engine/scheduling/heartbeat_manager.hpp"

#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {

HeartbeatManager::HeartbeatManager(Timers& timers, Duration timeout, Listener timed_out)
    : timers_(timers), timeout_(timeout), timed_out_(std::move(timed_out)) {
  TAILRACE_ASSERT(timeout.ns > 0);
}

HeartbeatManager::~HeartbeatManager() {
  for (const auto& [target, timer] : targets_) timers_.cancel(timer);
}

void HeartbeatManager::monitor_target(ProcessId target) {
  if (!targets_.contains(target)) arm(target);
}

void HeartbeatManager::unmonitor_target(ProcessId target) {
  const auto found = targets_.find(target);
  if (found == targets_.end()) return;
  timers_.cancel(found->second);
  targets_.erase(found);
}

void HeartbeatManager::receive_heartbeat(ProcessId target) {
  const auto found = targets_.find(target);
  if (found == targets_.end()) return;
  timers_.cancel(found->second);
  arm(target);
}

void HeartbeatManager::arm(ProcessId target) {
  targets_[target] = timers_.schedule(timeout_, [this, target] {
    targets_.erase(target);
    timed_out_(target);
  });
}

HeartbeatManagerSender::HeartbeatManagerSender(Timers& timers, Duration interval, Duration timeout,
                                               Send send, Listener timed_out)
    : HeartbeatManager(timers, timeout, std::move(timed_out)),
      ticks_(timers),
      interval_(interval),
      send_(std::move(send)) {
  TAILRACE_ASSERT(interval.ns > 0);
  tick_ = ticks_.schedule(Duration{0}, [this] { run(); });
}

HeartbeatManagerSender::~HeartbeatManagerSender() {
  ticks_.cancel(tick_);
}

void HeartbeatManagerSender::run() {
  for (const auto& [target, timer] : targets()) send_(target);
  tick_ = ticks_.schedule(interval_, [this] { run(); });
}

}  // namespace tailrace::engine
