// A machine: cores of some speed, one queue of work for all of them.
//
// Work is taken first in, first out by the lowest free core and keeps it until it is done. Speeds,
// slow-downs and pauses stretch it exactly: what is left is converted when a speed changes, rounded
// up to whole nanoseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/owner.hpp"
#include "sim/ratio.hpp"
#include "sim/ring_buffer.hpp"
#include "sim/simulation.hpp"

namespace tailrace::sim {

class Host final : public EventHandler {
 public:
  // Requires: cores >= 1; speed_permille >= 1 (1000: nominal times as they are).
  Host(Simulation& simulation, std::int32_t cores, std::int64_t speed_permille = 1000);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  // Occupies one core for `nominal` times `slow_down` at nominal speed, once one is free; `done`
  // runs at the end. Requires: nominal >= 0.
  void run(OwnerTag owner, Duration nominal, Ratio slow_down, base::Callback done);

  // Everything stands still, on its core, until as many resumes as pauses have come.
  void pause();
  void resume();
  // The same for the work of one owner (a garbage collection stops one process).
  void pause(OwnerTag owner);
  void resume(OwnerTag owner);

  // Applies to what runs now, too.
  void set_speed(std::int64_t speed_permille);

  // Drops what the owner has queued or running, and its pauses; the callbacks are destroyed.
  void kill(OwnerTag owner);

  [[nodiscard]] std::int32_t cores() const { return static_cast<std::int32_t>(cores_.size()); }
  [[nodiscard]] std::int32_t busy_cores() const { return busy_; }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }

  void on_event(std::uint64_t argument) override;

 private:
  struct Request {
    OwnerTag owner;
    Duration work;  // at speed 1000
    base::Callback done;
  };
  struct Core {
    bool busy = false;
    OwnerTag owner;
    Duration left;  // at the present speed, as of `since`
    Time since;
    EventId event;  // none while it stands still
    base::Callback done;
  };

  [[nodiscard]] bool stands_still(OwnerTag owner) const;
  void start(std::size_t core, Request request);
  void start_queued();
  void freeze(Core& core);
  void thaw(std::size_t core);

  Simulation* simulation_;
  std::int64_t speed_permille_;
  std::vector<Core> cores_;
  std::int32_t busy_ = 0;
  RingBuffer<Request> queue_;
  std::int32_t pauses_ = 0;
  std::vector<OwnerTag> paused_owners_;  // once for each pause
};

}  // namespace tailrace::sim
