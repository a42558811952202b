// The queue of a task's control actions.
//
// Flink 1.10 TaskMailbox: mails run on the task's thread between records, never inside one. Of two
// priorities, the higher runs first; within one, in the order of arrival.
#pragma once

#include <deque>

#include "sim/base/callback.hpp"

namespace tailrace::engine {

class Mailbox {
 public:
  void put(base::Callback mail) { normal_.push_back(std::move(mail)); }
  // Flink's MAX_PRIORITY: completion notices. Runs also while a task waits for the completion of a
  // synchronous savepoint (spec coordinator.md ).
  void put_first(base::Callback mail) { urgent_.push_back(std::move(mail)); }

  [[nodiscard]] bool empty() const { return normal_.empty() && urgent_.empty(); }
  [[nodiscard]] bool has_urgent() const { return !urgent_.empty(); }

  // Requires: !empty().
  [[nodiscard]] base::Callback take() { return take_from(urgent_.empty() ? normal_ : urgent_); }
  // Requires: has_urgent().
  [[nodiscard]] base::Callback take_urgent() { return take_from(urgent_); }

  void clear() {
    normal_.clear();
    urgent_.clear();
  }

 private:
  static base::Callback take_from(std::deque<base::Callback>& queue) {
    base::Callback mail = std::move(queue.front());
    queue.pop_front();
    return mail;
  }

  std::deque<base::Callback> normal_;
  std::deque<base::Callback> urgent_;
};

}  // namespace tailrace::engine
