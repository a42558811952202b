#include "engine/checkpoint/scheduled_executor.hpp"

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Saturates: a delay of "never" stays never.
Time after(Time now, Duration delay) {
  return delay.ns > Time::max().ns - now.ns ? Time::max() : now + delay;
}

}  // namespace

ScheduledExecutor::TaskId ScheduledExecutor::schedule(ScheduledTaskKind kind, Duration delay,
                                                      Callback action) {
  return insert(kind, delay, std::nullopt, std::move(action));
}

ScheduledExecutor::TaskId ScheduledExecutor::schedule_at_fixed_rate(ScheduledTaskKind kind,
                                                                    Duration delay, Duration period,
                                                                    Callback action) {
  TAILRACE_ASSERT(period.ns > 0);
  return insert(kind, delay, period, std::move(action));
}

ScheduledExecutor::TaskId ScheduledExecutor::insert(ScheduledTaskKind kind, Duration delay,
                                                    std::optional<Duration> period,
                                                    Callback action) {
  TAILRACE_ASSERT(delay.ns >= 0);
  if (listener_ != nullptr) listener_->on_schedule(kind, delay, period);
  const TaskId id = next_id_++;
  const Time due = after(clock_.now(), delay);
  tasks_.emplace(Key{due, id}, Task{kind, period, std::move(action)});
  due_.emplace(id, due);
  set_alarm();
  return id;
}

void ScheduledExecutor::execute(Callback action) {
  immediate_.push_back(std::move(action));
  set_alarm();
}

void ScheduledExecutor::cancel(TaskId task) {
  if (task == running_) running_cancelled_ = true;
  const auto found = due_.find(task);
  if (found == due_.end()) return;
  tasks_.erase(Key{found->second, task});
  due_.erase(found);
  set_alarm();
}

std::vector<ScheduledExecutor::Waiting> ScheduledExecutor::waiting() const {
  std::vector<Waiting> result;
  for (const auto& [key, task] : tasks_) result.push_back({key.due, task.kind});
  return result;
}

void ScheduledExecutor::resume() {
  TAILRACE_ASSERT(waits_ > 0);
  if (--waits_ == 0) set_alarm();
}

void ScheduledExecutor::run_due() {
  if (waits_ > 0) return;  // X3
  in_round_ = true;
  const Time now = clock_.now();
  while (waits_ == 0 && !tasks_.empty() && tasks_.begin()->first.due <= now) {
    auto node = tasks_.extract(tasks_.begin());
    const TaskId id = node.key().id;
    due_.erase(id);
    running_ = id;
    running_cancelled_ = false;
    node.mapped().action();
    running_ = 0;
    const Duration period = node.mapped().period.value_or(Duration::max());
    if (period != Duration::max() && !running_cancelled_) {
      node.key().due = after(node.key().due, period);  // X1: the id stays
      due_.emplace(id, node.key().due);
      tasks_.insert(std::move(node));
    }
  }
  // One round: what these hand over in turn comes after whatever is due by then (X2).
  for (std::size_t count = immediate_.size(); count > 0 && waits_ == 0; --count) {
    Callback action = std::move(immediate_.front());
    immediate_.pop_front();
    action();
  }
  in_round_ = false;
  set_alarm();
}

void ScheduledExecutor::set_alarm() {
  if (in_round_ || waits_ > 0) return;  // once, at its end
  const Time now = clock_.now();
  Time wanted = tasks_.empty() ? Time::max() : tasks_.begin()->first.due;
  if (!immediate_.empty() || wanted < now) wanted = now;
  if (alarm_.value != 0 && alarm_at_ == wanted) return;
  timers_.cancel(alarm_);
  alarm_ = {};
  if (wanted == Time::max()) return;
  alarm_at_ = wanted;
  alarm_ = timers_.schedule(wanted - now, lifeline_.bind([this] {
    alarm_ = {};
    run_due();
  }));
}

}  // namespace tailrace::engine
