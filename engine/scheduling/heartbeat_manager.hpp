// Watches whether other processes are alive.
//
// Flink 1.10 HeartbeatManagerImpl, HeartbeatManagerSenderImpl (spec rescale.md S-6.26). The sender
// sends at once and then every interval; both sides count a peer as lost when nothing came from it
// for the timeout, which starts anew with every heartbeat received.
#pragma once

#include <functional>
#include <map>

#include "engine/ids.hpp"
#include "engine/ports.hpp"
#include "sim/base/lifeline.hpp"

namespace tailrace::engine {

// The receiving side; on a task manager, all there is: it answers from its gateway function.
class HeartbeatManager {
 public:
  using Listener = std::function<void(ProcessId)>;

  // `timed_out` runs once for a target that was silent for `timeout`; the target is no longer
  // monitored then. Requires: timeout > 0.
  HeartbeatManager(Timers& timers, Duration timeout, Listener timed_out);
  HeartbeatManager(const HeartbeatManager&) = delete;
  HeartbeatManager& operator=(const HeartbeatManager&) = delete;
  ~HeartbeatManager();

  // Starts the target's timeout; a target that is monitored already keeps its own.
  void monitor_target(ProcessId target);
  void unmonitor_target(ProcessId target);
  // Of an unknown target: ignored.
  void receive_heartbeat(ProcessId target);
  [[nodiscard]] bool is_monitored(ProcessId target) const { return targets_.contains(target); }

 protected:
  [[nodiscard]] const std::map<ProcessId, TimerId>& targets() const { return targets_; }

 private:
  void arm(ProcessId target);

  Timers& timers_;
  Duration timeout_;
  Listener timed_out_;
  std::map<ProcessId, TimerId> targets_;
};

// The job manager's side: asks every target for a heartbeat.
class HeartbeatManagerSender final : public HeartbeatManager {
 public:
  using Send = std::function<void(ProcessId)>;

  HeartbeatManagerSender(Timers& timers, Duration interval, Duration timeout, Send send,
                         Listener timed_out);
  ~HeartbeatManagerSender();

 private:
  void run();

  Timers& ticks_;
  Duration interval_;
  Send send_;
  TimerId tick_;
};

}  // namespace tailrace::engine
