// From the timer and the requests to the messages to the tasks (spec coordinator.md 3).
#include <algorithm>
#include <utility>

#include "tests/engine/checkpoint/model/naive_coordinator_120.hpp"

namespace tailrace::engine::test::naive_120 {
namespace {

constexpr std::size_t kQueueLimit = 1000;

}  // namespace

// The periodic scheduler (3.1, R-3.16).

void NaiveCoordinator120::start() {
  if (shutdown_ || interval_ == NaiveTimers::kNever) throw IllegalState();
  if (scheduling_) stop();
  scheduling_ = true;
  arm(draw_(min_pause_, interval_, out_));
}

void NaiveCoordinator120::stop() {
  scheduling_ = false;
  disarm();
  fail_queued("CHECKPOINT_COORDINATOR_SUSPEND");
  abort_if("CHECKPOINT_COORDINATOR_SUSPEND", [](const Checkpoint&) { return true; });
}

void NaiveCoordinator120::arm(std::int64_t delay) {
  next_tick_ = timers_.now + delay;
  ++trigger_;
  wait_for_tick(delay);
}

void NaiveCoordinator120::rearm(std::int64_t delay) {
  disarm();
  arm(delay);
}

void NaiveCoordinator120::wait_for_tick(std::int64_t delay) {
  periodic_timer_ = schedule("ScheduledTrigger", delay, [this, trigger = trigger_] {
    // One that was forgotten, not cancelled, does nothing.
    if (trigger == trigger_) tick();
  });
}

void NaiveCoordinator120::disarm() {
  timers_.cancel(periodic_timer_);
  periodic_timer_ = 0;
  next_tick_ = NaiveTimers::kNever;
}

std::int64_t NaiveCoordinator120::current_interval() const {
  return backlog_.empty() ? interval_ : backlog_interval_;
}

void NaiveCoordinator120::tick() {
  const std::int64_t interval = current_interval();
  if (interval == NaiveTimers::kNever) {
    disarm();
  } else {
    next_tick_ += interval;
    wait_for_tick(std::max<std::int64_t>(0, next_tick_ - timers_.now));
  }
  submit({"checkpoint", "Checkpoint", false, true, kNobody});
}

void NaiveCoordinator120::backlog(const Json& step) {
  if (step.at("on").get<bool>()) {
    backlog_.insert(step.at("operator").dump());
  } else {
    backlog_.erase(step.at("operator").dump());
  }
  const std::int64_t interval = current_interval();
  if (interval == NaiveTimers::kNever || timers_.now + interval >= next_tick_) return;
  rearm(interval);
}

// Requests and their queue (3.4).

void NaiveCoordinator120::ask(const Json& step) {
  const std::string kind = step.at("kind");
  if (kind == "null") throw IllegalState();
  Request request{"checkpoint", "Checkpoint", false, kind == "periodic", step.at("request")};
  if (kind == "FULL") request.type = "Full Checkpoint";
  if (kind == "savepoint") request.type = "Savepoint";
  if (kind == "stopWithSavepoint") request.type = "Suspend Savepoint";
  if (kind == "terminateWithSavepoint") request.type = "Terminate Savepoint";
  if (request.type.ends_with("Savepoint")) {
    request.kind = kind;
    request.forced = !config_.at("unaligned").get<bool>();
  }
  timers_.handed_over.push_back([this, request] {
    // Whoever asks hears of it when the request has been submitted.
    asking_ = request.number;
    early_answer_ = Json();
    submit(request);
    asking_ = kNobody;
    if (!early_answer_.is_null()) out_.push_back(early_answer_);
  });
}

bool NaiveCoordinator120::is_more_urgent(const Request& a, const Request& b) {
  if (a.is_savepoint() != b.is_savepoint()) return a.is_savepoint();
  if (a.forced != b.forced) return a.forced;
  return !a.periodic && b.periodic;
}

void NaiveCoordinator120::submit(const Request& request) {
  if (queue_.size() >= kQueueLimit && !queue_.back().periodic) {
    return answer(request.number, 0, "TOO_MANY_CHECKPOINT_REQUESTS");
  }
  auto place = queue_.begin();
  while (place != queue_.end() && !is_more_urgent(request, *place)) ++place;
  queue_.insert(place, request);
  if (queue_.size() > kQueueLimit) {
    const Request last = queue_.back();
    queue_.pop_back();
    answer(last.number, 0, "TOO_MANY_CHECKPOINT_REQUESTS");
  }
  choose();
}

// Nothing takes time here, so nothing is ever being cleaned.
void NaiveCoordinator120::choose() {
  if (triggering_ || queue_.empty()) return;
  const Request first = queue_.front();
  if (static_cast<std::int64_t>(pending_.size()) >= max_concurrent_) {
    if (!first.forced) return;
  } else if (!first.forced && first.periodic && completed_once_ &&
             last_completion_ + min_pause_ > timers_.now) {
    queue_.erase(queue_.begin());
    answer(first.number, 0, "MINIMUM_TIME_BETWEEN_CHECKPOINTS");
    rearm(last_completion_ + min_pause_ - timers_.now);
    return;
  }
  queue_.erase(queue_.begin());
  begin(first);
}

void NaiveCoordinator120::drain() {
  if (!shutdown_) timers_.handed_over.push_back([this] { choose(); });
}

void NaiveCoordinator120::fail_queued(const std::string& reason) {
  for (const Request& one : std::exchange(queue_, {})) answer(one.number, 0, reason);
}

// The trigger phase (3.5), step by step.

std::string NaiveCoordinator120::pre_check(const Request& request) const {
  if (shutdown_) return "CHECKPOINT_COORDINATOR_SHUTDOWN";
  return request.periodic && !scheduling_ ? "PERIODIC_SCHEDULER_SHUTDOWN" : "";
}

void NaiveCoordinator120::begin(const Request& request) {  // 1 to 4
  const auto phase = std::make_shared<Phase>();
  phase->request = request;
  const std::string refused = pre_check(request);
  if (!refused.empty()) return trigger_failed(*phase, refused);
  triggering_ = true;
  phase_ = phase;
  NaivePlan120 plan;
  if (!job_.make_plan(plan)) return end_phase(phase, "NOT_ALL_REQUIRED_TASKS_RUNNING");
  const Json id_failure = failure_of("idFails", ++id_calls_);
  if (!id_failure.is_null()) {
    return end_phase(phase, id_failure == "io" ? "IO_EXCEPTION" : "TRIGGER_CHECKPOINT_FAILURE");
  }
  timers_.handed_over.push_back([this, phase, plan, id = next_id_++] { create(phase, plan, id); });
}

void NaiveCoordinator120::create(const PhasePtr& phase, const NaivePlan120& plan,
                                 std::int64_t id) {  // 5, 6
  const std::string refused = pre_check(phase->request);
  if (!refused.empty()) return end_phase(phase, refused);
  ++total_;
  ++in_progress_;
  history_.push_back(id);
  if (plan.awaited.empty()) return end_phase(phase, "TRIGGER_CHECKPOINT_FAILURE");
  const auto one = std::make_shared<Checkpoint>();
  one->id = id;
  one->request = phase->request;
  one->plan = plan;
  for (const auto& [hook, mode] : hooks_) one->hooks_awaited.insert(hook);
  one->coordinators_awaited = !coordinators_.empty();
  pending_[id] = one;
  phase->checkpoint = one;
  one->timeout = schedule("CheckpointCanceller", timeout_,
                          [this, one] { abort(one, "CHECKPOINT_EXPIRED", kJobLevel); });
  timers_.handed_over.push_back([this, phase] { ask_coordinators(phase); });
}

void NaiveCoordinator120::ask_coordinators(const PhasePtr& phase) {  // 7
  Checkpoint& one = *phase->checkpoint;
  if (one.disposed) return;
  one.has_location = true;
  bool failed = false;
  for (std::size_t i = 0; i < coordinators_.size(); ++i) {
    event("coordinatorTriggered", {{"coordinator", i}, {"cp", one.id}});
    if (coordinators_.at(i) == "fails") failed = true;
  }
  if (failed) return end_phase(phase, "TRIGGER_CHECKPOINT_FAILURE");
  timers_.handed_over.push_back([this, phase] {
    phase->checkpoint->coordinators_awaited = false;
    timers_.handed_over.push_back([this, phase] { ask_hooks(phase); });
  });
}

void NaiveCoordinator120::ask_hooks(const PhasePtr& phase) {  // 8
  if (phase->checkpoint->disposed) return;
  if (hooks_.empty()) return end_phase(phase, "");
  for (const auto& [hook, mode] : hooks_) {
    event("hookTriggered", {{"hook", hook}, {"cp", phase->checkpoint->id}});
    if (mode == "never") {
      waiting_hooks_[hook] = phase;
    } else {
      hand_over_hook_answer(phase, hook, mode);
    }
  }
}

void NaiveCoordinator120::keep_promise(const std::string& hook) {
  if (!waiting_hooks_.contains(hook)) return;
  const PhasePtr phase = waiting_hooks_.at(hook);
  waiting_hooks_.erase(hook);
  hand_over_hook_answer(phase, hook, "ok");
}

void NaiveCoordinator120::hand_over_hook_answer(const PhasePtr& phase, const std::string& hook,
                                                const std::string& mode) {
  timers_.handed_over.push_back([this, phase, hook, mode] {
    Checkpoint& one = *phase->checkpoint;
    if (phase->ended) return;
    if (one.disposed || (mode != "ok" && mode != "null")) {
      return end_phase(phase, "TRIGGER_CHECKPOINT_FAILURE");
    }
    one.hooks_awaited.erase(hook);
    if (mode == "ok") one.hook_states[hook] = "state-" + hook;
    if (one.hooks_awaited.empty()) end_phase(phase, "");
  });
}

// Once, and over the timer. No reason: all went well.
void NaiveCoordinator120::end_phase(const PhasePtr& phase, const std::string& reason) {
  if (std::exchange(phase->ended, true)) return;
  timers_.handed_over.push_back([this, phase, reason] {
    phase_ = nullptr;
    if (reason.empty()) {
      trigger_tasks(*phase);
    } else {
      trigger_failed(*phase, reason);
    }
  });
}

void NaiveCoordinator120::trigger_tasks(const Phase& phase) {  // 9 to 11
  const CheckpointPtr one = phase.checkpoint;
  if (one->disposed) return trigger_failed(phase, "TRIGGER_CHECKPOINT_FAILURE");
  const Request& request = phase.request;
  const bool full = force_full_ && !request.is_savepoint();
  //
  std::string alignment = "ALIGNED";
  Json alignment_timeout;
  if (!config_.at("exactlyOnce").get<bool>()) {
    alignment = "AT_LEAST_ONCE";
  } else if (!request.is_savepoint() && config_.at("unaligned").get<bool>()) {
    if (config_.at("alignmentTimeout") == 0) {
      alignment = "UNALIGNED";
    } else {
      alignment_timeout = config_.at("alignmentTimeout");
    }
  }
  bool refused = false;
  for (const std::int64_t task : one->plan.trigger) {
    event("trigger", {{"cp", one->id},
                      {"task", task},
                      {"type", full ? "Full Checkpoint" : request.type},
                      {"alignment", alignment},
                      {"alignmentTimeout", alignment_timeout}});
    for (const Json& broken : config_.value("rpcFails", Json::array())) {
      if (broken == task) refused = true;
    }
  }
  if (refused) {
    timers_.handed_over.push_back(
        [this, one] { abort(one, "TRIGGER_CHECKPOINT_FAILURE", kJobLevel); });
  }
  if (one->is_fully_acknowledged()) {
    const std::string reason = complete(one);
    if (!reason.empty()) return trigger_failed(phase, reason);
  }
  triggering_ = false;
  choose();
}

void NaiveCoordinator120::trigger_failed(const Phase& phase, const std::string& reason) {
  if (phase.checkpoint == nullptr) answer(phase.request.number, 0, reason);
  for (std::size_t i = 0; i < coordinators_.size(); ++i) {
    event("coordinatorAbandons", {{"coordinator", i}});
  }
  if (phase.checkpoint != nullptr && !phase.checkpoint->disposed) {
    abort(phase.checkpoint, reason, kJobLevel);
  } else {
    ++total_;
    ++failed_;
    const std::int64_t id = phase.checkpoint == nullptr ? kNoId : phase.checkpoint->id;
    offer(phase.request, id, reason, kJobLevel);
  }
  triggering_ = false;
  choose();
}

}  // namespace tailrace::engine::test::naive_120
