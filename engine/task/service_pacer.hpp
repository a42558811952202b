// When a thread that serves records is done with each of them: time instead of CPU.
//
// The thread keeps the instant at which it would be done with everything served so far; each record
// moves that instant by its service time, and the thread sleeps only when it lies more than `park`
// ahead. So a record that costs less may leave early, and a saturated thread serves at 1 / cost however
// late it wakes up: what it lost between two records is caught up with, unless it stood still for longer
// than `gap` (idle, backpressured, in a snapshot).
#pragma once

#include <algorithm>

#include "engine/ports.hpp"

namespace tailrace::engine {

class ServicePacer {
 public:
  explicit ServicePacer(const ServiceRules& rules) : rules_(rules) {}

  // The next record is taken at `now`; `wake_up()` is how late the thread is if it sleeps.
  // Returns: when it has been served, `now` at the earliest.
  template <typename F>
  Time serve(Time now, Duration service, F wake_up) {
    if (planned_ < now) {
      const bool worked_on = served_before_ && now - last_end_ <= rules_.gap;
      const Duration behind = worked_on ? std::min(now - planned_, rules_.catch_up) : Duration{};
      planned_ = now - behind;
    }
    planned_ = planned_ + service;
    last_end_ = planned_ - now > rules_.park ? planned_ + wake_up() : now;
    served_before_ = true;
    return last_end_;
  }

 private:
  ServiceRules rules_;
  Time planned_;
  Time last_end_;
  bool served_before_ = false;
};

}  // namespace tailrace::engine
