// The rules of Flink 1.20 (spec coordinator.md, parts marked [1.20]), stated once more.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/naive_job_120.hpp"
#include "tests/engine/checkpoint/model/naive_store_120.hpp"
#include "tests/engine/checkpoint/model/naive_timers.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t kNobody = -1;       // no request to answer
constexpr std::int64_t kJobLevel = -1000;  // no task declined
constexpr std::int64_t kNoId = 0;          // failed before it had one
constexpr std::int64_t kUnlimited = 2147483647;
constexpr std::size_t kQueueLimit = 1000;
constexpr std::size_t kRemembered = 16;

struct IllegalState {};

// 2.4.
const std::set<std::string> kPreFlight = {"PERIODIC_SCHEDULER_SHUTDOWN",
                                          "TOO_MANY_CHECKPOINT_REQUESTS",
                                          "MINIMUM_TIME_BETWEEN_CHECKPOINTS",
                                          "NOT_ALL_REQUIRED_TASKS_RUNNING",
                                          "IO_EXCEPTION",
                                          "BLOCKING_OUTPUT_EXIST"};
const std::set<std::string> kCounted = {"IO_EXCEPTION", "CHECKPOINT_ASYNC_EXCEPTION",
                                        "CHECKPOINT_EXPIRED", "CHECKPOINT_DECLINED",
                                        "FINALIZE_CHECKPOINT_FAILURE"};

struct Request {
  std::string kind;  // checkpoint, savepoint, stopWithSavepoint, terminateWithSavepoint
  std::string type;  // as tasks are told
  bool forced = false;
  bool periodic = false;
  std::int64_t number = kNobody;

  [[nodiscard]] bool is_savepoint() const { return kind != "checkpoint"; }
  [[nodiscard]] bool is_synchronous() const { return kind.ends_with("WithSavepoint"); }
};

struct Reported {
  NaiveState120 state;
  bool in_union = false;
};

struct Checkpoint {
  std::int64_t id = 0;
  Request request;
  bool promise_open = true;
  NaivePlan120 plan;
  std::set<std::int64_t> acknowledged;  // attempts
  std::vector<Reported> states;
  std::set<std::string> hooks_awaited;
  std::map<std::string, std::string> hook_states;
  bool coordinators_awaited = false;
  bool has_location = false;
  std::int64_t timeout = 0;
  bool disposed = false;

  //
  [[nodiscard]] bool is_fully_acknowledged() const {
    return !disposed && acknowledged.size() == plan.awaited.size() && hooks_awaited.empty() &&
           !coordinators_awaited;
  }
};
using CheckpointPtr = std::shared_ptr<Checkpoint>;

// 3.5; at most one at a time.
struct Phase {
  Request request;
  CheckpointPtr checkpoint;  // null: not created
  bool ended = false;
};
using PhasePtr = std::shared_ptr<Phase>;

class NaiveCoordinator120 final : public NaiveCoordinator {
 public:
  NaiveCoordinator120(const Json& config, Draw draw)
      : config_(config), draw_(std::move(draw)), job_(config) {
    timers_.now = config.at("start");
    timeout_ = config.at("timeout");
    min_pause_ = config.at("minPause");
    max_concurrent_ = config.at("maxConcurrent");
    tolerable_ = config.at("tolerable");
    store_.limit = std::max<std::int64_t>(1, config.at("retained"));
    const Json& interval = config.at("interval");
    if (!interval.is_null()) interval_ = std::max(interval.get<std::int64_t>(), min_pause_);
    backlog_interval_ = interval_;
    const Json backlog = config.value("backlogInterval", Json());
    if (!backlog.is_null()) {
      const std::int64_t given = backlog;
      backlog_interval_ = given < 10 ? NaiveTimers::kNever : given;
    }
    const Json hooks = config.value("hooks", Json::object());
    for (const auto& [id, mode] : hooks.items()) hooks_[id] = mode;
    const Json coordinators = config.value("coordinators", Json::array());
    for (const Json& mode : coordinators) coordinators_.push_back(mode);
  }

  std::unique_ptr<NaiveCoordinator> next_life(const Json& config, Draw draw) const override {
    auto next = std::make_unique<NaiveCoordinator120>(config, std::move(draw));
    next->written_ = written_;
    for (const NaiveCompletedPtr& one : store_.kept) next->store_.add(one);
    return next;
  }

  Json play(const Json& step) override {
    out_ = Json::array();
    returned_ = Json();
    bool threw = false;
    try {
      act(step);
    } catch (const IllegalState&) {
      threw = true;
      returned_ = Json();
    }
    timers_.run_until(timers_.now);
    Json result = Json::object();
    result["exception"] = threw;
    if (!returned_.is_null()) result["returned"] = returned_;
    result["out"] = out_;
    describe(result);
    return result;
  }

 private:
  void act(const Json& step) {
    const std::string op = step.at("op");
    if (op == "start") {
      start();
    } else if (op == "stop") {
      stop();
    } else if (op == "advance") {
      timers_.run_until(timers_.now + step.at("ms").get<std::int64_t>());
    } else if (op == "request") {
      ask(step);
    } else if (op == "requests") {
      for (const Json& one : step.at("requests")) ask(one);
    } else if (op == "ack") {
      acknowledge(step);
    } else if (op == "decline") {
      decline(step);
    } else if (op == "taskFailure") {
      const std::int64_t attempt = job_.attempt_of(step.at("task"));
      abort_if("TASK_FAILURE", [attempt](const Checkpoint& one) {
        return one.plan.awaited.contains(attempt) && !one.acknowledged.contains(attempt);
      });
    } else if (op == "abortPending") {
      abort_if(step.at("reason"), [](const Checkpoint&) { return true; });
    } else if (op == "abortObject") {
      abort_object(pending_.at(step.at("cp")), step.at("reason"));
    } else if (op == "taskState") {
      job_.change(step.at("task"), step.at("state"));
    } else if (op == "finishTask") {
      job_.change(step.at("task"), "FINISHED");
    } else if (op == "hookDone") {
      keep_promise(step.at("hook"));
    } else if (op == "backlog") {
      backlog(step);
    } else if (op == "restoreLatest") {
      restore(true, true);
    } else if (op == "restoreInitial") {
      restore(false, false);
    } else if (op == "restoreSavepoint") {
      restore_savepoint(step);
    } else if (op == "shutdown") {
      shut_down();
    } else if (op == "shutdownStore") {
      const NaiveStore120::Removed removed = store_.shut_down(step.at("status"));
      for (const NaiveCompletedPtr& one : removed.cleaned) delete_completed(*one);
      discard_shared(removed.files);
    } else {
      throw std::runtime_error("unknown operation " + op);
    }
  }

  // The periodic scheduler (3.1, R-3.16).

  void start() {
    if (shutdown_ || interval_ == NaiveTimers::kNever) throw IllegalState();
    if (scheduling_) stop();
    scheduling_ = true;
    arm(draw_(min_pause_, interval_, out_));
  }

  void stop() {
    scheduling_ = false;
    disarm();
    fail_queued("CHECKPOINT_COORDINATOR_SUSPEND");
    abort_if("CHECKPOINT_COORDINATOR_SUSPEND", [](const Checkpoint&) { return true; });
  }

  void arm(std::int64_t delay) {
    next_tick_ = timers_.now + delay;
    ++trigger_;
    wait_for_tick(delay);
  }
  void rearm(std::int64_t delay) {
    disarm();
    arm(delay);
  }
  void wait_for_tick(std::int64_t delay) {
    periodic_timer_ = schedule("ScheduledTrigger", delay, [this, trigger = trigger_] {
      // One that was forgotten, not cancelled, does nothing.
      if (trigger == trigger_) tick();
    });
  }
  void disarm() {
    timers_.cancel(periodic_timer_);
    periodic_timer_ = 0;
    next_tick_ = NaiveTimers::kNever;
  }
  [[nodiscard]] std::int64_t current_interval() const {
    return backlog_.empty() ? interval_ : backlog_interval_;
  }

  void tick() {
    const std::int64_t interval = current_interval();
    if (interval == NaiveTimers::kNever) {
      disarm();
    } else {
      next_tick_ += interval;
      wait_for_tick(std::max<std::int64_t>(0, next_tick_ - timers_.now));
    }
    submit({"checkpoint", "Checkpoint", false, true, kNobody});
  }

  void backlog(const Json& step) {
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

  void ask(const Json& step) {
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

  static bool is_more_urgent(const Request& a, const Request& b) {
    if (a.is_savepoint() != b.is_savepoint()) return a.is_savepoint();
    if (a.forced != b.forced) return a.forced;
    return !a.periodic && b.periodic;
  }

  void submit(const Request& request) {
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
  void choose() {
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

  void drain() {
    if (!shutdown_) timers_.handed_over.push_back([this] { choose(); });
  }

  void fail_queued(const std::string& reason) {
    for (const Request& one : std::exchange(queue_, {})) answer(one.number, 0, reason);
  }

  // The trigger phase (3.5), step by step.

  [[nodiscard]] std::string pre_check(const Request& request) const {
    if (shutdown_) return "CHECKPOINT_COORDINATOR_SHUTDOWN";
    return request.periodic && !scheduling_ ? "PERIODIC_SCHEDULER_SHUTDOWN" : "";
  }

  void begin(const Request& request) {  // 1 to 4
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
    timers_.handed_over.push_back(
        [this, phase, plan, id = next_id_++] { create(phase, plan, id); });
  }

  void create(const PhasePtr& phase, const NaivePlan120& plan, std::int64_t id) {  // 5, 6
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

  void ask_coordinators(const PhasePtr& phase) {  // 7
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

  void ask_hooks(const PhasePtr& phase) {  // 8
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

  void keep_promise(const std::string& hook) {
    if (!waiting_hooks_.contains(hook)) return;
    const PhasePtr phase = waiting_hooks_.at(hook);
    waiting_hooks_.erase(hook);
    hand_over_hook_answer(phase, hook, "ok");
  }

  void hand_over_hook_answer(const PhasePtr& phase, const std::string& hook,
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
  void end_phase(const PhasePtr& phase, const std::string& reason) {
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

  void trigger_tasks(const Phase& phase) {  // 9 to 11
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

  void trigger_failed(const Phase& phase, const std::string& reason) {
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

  // Messages (4.1, 4.2).

  void acknowledge(const Json& step) {
    returned_ = false;
    if (shutdown_ || step.value("otherJob", false)) return;
    const std::int64_t id = step.at("cp");
    const std::int64_t task = step.at("task");
    const std::int64_t attempt = job_.attempt_of(task);
    Reported reported = reported_in(step);
    // Whatever becomes of the message (4.1).
    const bool shares = !pending_.contains(id) || !pending_.at(id)->request.is_savepoint();
    if (shares && !store_.shared.add(reported.state, id)) throw IllegalState();
    if (!pending_.contains(id)) {
      discard(reported.state);
      returned_ = std::find(expired_.begin(), expired_.end(), id) != expired_.end();
      return;
    }
    returned_ = true;
    const CheckpointPtr one = pending_.at(id);
    if (one->disposed) throw IllegalState();
    if (!one->plan.awaited.contains(attempt)) return discard(reported.state);
    if (!one->acknowledged.insert(attempt).second) return;
    one->states.push_back(std::move(reported));
    if (one->is_fully_acknowledged() && !complete(one).empty()) throw IllegalState();
  }

  [[nodiscard]] Reported reported_in(const Json& step) const {
    Reported reported;
    const std::int64_t task = step.at("task");
    reported.state.name = step.value("state", "");
    reported.state.vertex = job_.vertex_of(task);
    reported.in_union = !reported.state.name.empty() && step.value("union", false);
    if (!step.contains("shared")) return reported;
    reported.state.keyed = "meta-backend-" + std::to_string(task) + "-" + step.at("cp").dump();
    for (const Json& file : step.at("shared")) {
      reported.state.shared.push_back({file.at("file"), file.value("placeholder", false)});
    }
    return reported;
  }

  void decline(const Json& step) {
    if (shutdown_) return;
    if (step.value("otherJob", false)) throw IllegalState();
    if (!pending_.contains(step.at("cp"))) return;
    const CheckpointPtr one = pending_.at(step.at("cp"));
    if (one->disposed) throw IllegalState();
    abort(one, step.at("reason"), step.at("task"));
  }

  // Completion (4.3). Returns what a trigger phase makes of its failure; empty: none.
  std::string complete(const CheckpointPtr& one) {
    const std::string reason = failure_of_finalising(*one);
    if (!reason.empty()) {
      break_promise(*one, Json());
      abort(one, reason, kJobLevel);
      drain();
      // The cause of not writing is an I/O error, which looks for first.
      return reason == "FINALIZE_CHECKPOINT_FAILURE" ? "IO_EXCEPTION" : reason;
    }
    one->disposed = true;
    timers_.cancel(one->timeout);
    drain();
    const NaiveCompletedPtr completed = written_[one->id] = to_completed(*one);
    std::int64_t last_subsumed = -1;
    if (!one->request.is_savepoint()) {
      const Json failure = failure_of("storeFails", ++store_calls_);
      if (!failure.is_null()) {
        break_promise(*one, Json());
        if (failure != "uncertain") delete_completed(*completed);
        count_failure(one->id);
        offer(one->request, one->id, "FINALIZE_CHECKPOINT_FAILURE", kJobLevel);
        notify_aborted(*one);
        pending_.erase(one->id);
        drain();
        return "FINALIZE_CHECKPOINT_FAILURE";
      }
      last_subsumed = store(completed);
      force_full_ = false;
    }
    --in_progress_;
    ++completed_;
    event("completed", {{"cp", one->id}});
    if (one->id > last_succeeded_) {
      last_succeeded_ = one->id;
      failure_count_ = 0;
      counted_.clear();
    }
    answer(one->request.number, one->id, "");
    pending_.erase(one->id);
    drain();
    completed_once_ = true;
    last_completion_ = timers_.now;
    if (one->request.is_savepoint() && !one->request.is_synchronous()) return "";
    abort_if("CHECKPOINT_SUBSUMED", [&one](const Checkpoint& other) {
      return other.id < one->id && !other.request.is_savepoint();
    });
    for (const std::int64_t task : one->plan.commit) {
      if (!job_.has_attempt(task)) continue;
      event("notifyComplete", {{"cp", one->id}, {"task", task}, {"lastSubsumed", last_subsumed}});
    }
    for (std::size_t i = 0; i < coordinators_.size(); ++i) {
      event("coordinatorComplete", {{"coordinator", i}, {"cp", one->id}});
    }
    return "";
  }

  [[nodiscard]] std::string failure_of_finalising(const Checkpoint& one) const {
    for (const Reported& reported : one.states) {
      if (reported.in_union && one.plan.partly_finished.contains(reported.state.vertex)) {
        return "CHECKPOINT_DECLINED_TASK_CLOSING";
      }
    }
    for (const Reported& reported : one.states) {
      // Only a savepoint still has any, and metadata cannot say where such a file is.
      for (const NaiveFile120& file : reported.state.shared) {
        if (file.placeholder) return "FINALIZE_CHECKPOINT_FAILURE";
      }
    }
    for (const Json& broken : config_.value("metadataFails", Json::array())) {
      if (broken == one.id) return "FINALIZE_CHECKPOINT_FAILURE";
    }
    return "";
  }

  [[nodiscard]] NaiveCompletedPtr to_completed(const Checkpoint& one) const {
    auto completed = std::make_shared<NaiveCompleted120>();
    completed->id = one.id;
    completed->kind = one.request.kind;
    completed->retention = config_.value("retention", "");
    completed->hook_states = one.hook_states;
    for (const Reported& reported : one.states) completed->states.push_back(reported.state);
    for (const std::int64_t vertex : one.plan.partly_finished) {
      completed->progress[vertex] = NaiveProgress120::kPartlyFinished;
    }
    for (const std::int64_t vertex : one.plan.fully_finished) {
      completed->progress[vertex] = NaiveProgress120::kFullyFinished;
    }
    for (const std::string& mode : coordinators_) {
      if (mode != "ok@v") completed->foreign_operators = true;
    }
    return completed;
  }

  // Returns what tasks hear of as subsumed.
  std::int64_t store(const NaiveCompletedPtr& completed) {
    const NaiveStore120::Removed removed = store_.add(completed);
    discard_shared(removed.files);
    for (const NaiveCompletedPtr& old : removed.cleaned) {
      if (!old->is_savepoint()) delete_completed(*old);
      drain();
    }
    const NaiveCompletedPtr& last = removed.last_subsumed;
    return last == nullptr || last->is_savepoint() ? -1 : last->id;
  }

  // Abortion.

  template <typename Predicate>
  void abort_if(const std::string& reason, Predicate predicate) {
    for (const auto& [id, one] : std::map(pending_)) {
      if (predicate(*one)) abort(one, reason, kJobLevel);
    }
  }

  void abort(const CheckpointPtr& one, const std::string& reason, std::int64_t task) {
    if (one->disposed) return;
    abort_object(one, reason);
    count_failure(one->id);
    offer(one->request, one->id, reason, task);
    notify_aborted(*one);
    pending_.erase(one->id);
    if (reason == "CHECKPOINT_EXPIRED") {
      expired_.push_back(one->id);
      if (expired_.size() > kRemembered) expired_.erase(expired_.begin());
    }
    drain();
  }

  // Without anybody being told but who asked for it.
  void abort_object(const CheckpointPtr& one, const std::string& reason) {
    break_promise(*one, reason);
    if (phase_ != nullptr && phase_->checkpoint == one) end_phase(phase_, reason);
    one->disposed = true;
    for (const Reported& reported : one->states) discard(reported.state);
    if (one->has_location) event("locationDisposed", {{"cp", one->id}});
    drain();
    timers_.cancel(one->timeout);
    if (reason == "CHECKPOINT_SUBSUMED" && one->request.is_savepoint()) throw IllegalState();
  }

  void break_promise(Checkpoint& one, const Json& reason) {
    if (!std::exchange(one.promise_open, false)) return;
    answer(one.request.number, 0, reason);
  }

  void notify_aborted(const Checkpoint& one) {
    const std::int64_t latest = store_.kept.empty() ? 0 : store_.kept.back()->id;
    for (const std::int64_t task : one.plan.commit) {
      if (!job_.has_attempt(task)) continue;
      event("notifyAborted", {{"cp", one.id}, {"task", task}, {"latestCompleted", latest}});
    }
    for (std::size_t i = 0; i < coordinators_.size(); ++i) {
      event("coordinatorAborted", {{"coordinator", i}, {"cp", one.id}});
    }
  }

  // who has dropped out of the history (of four) fails as if it had never begun.
  void count_failure(std::int64_t id) {
    const std::size_t dropped = history_.size() > 4 ? history_.size() - 4 : 0;
    const auto remembered = history_.begin() + static_cast<std::ptrdiff_t>(dropped);
    if (std::find(remembered, history_.end(), id) == history_.end()) {
      ++total_;
    } else {
      --in_progress_;
    }
    ++failed_;
  }

  // The failure manager.
  void offer(const Request& request, std::int64_t id, const std::string& reason,
             std::int64_t task) {
    event("failed", {{"cp", id == kNoId ? Json() : Json(id)},
                     {"reason", reason},
                     {"task", task == kJobLevel ? Json() : Json(task)},
                     {"savepoint", request.is_savepoint()}});
    const bool job_level = kPreFlight.contains(reason) || task == kJobLevel;
    if (job_level && request.is_savepoint()) return;
    if (!job_level && request.is_synchronous()) return event("failJob", Json::object());
    if (tolerable_ == kUnlimited) return;
    if (id != kNoId && id <= last_succeeded_) return;
    if (kCounted.contains(reason) && (id == kNoId || counted_.insert(id).second)) ++failure_count_;
    if (failure_count_ <= tolerable_) return;
    failure_count_ = 0;
    counted_.clear();
    if (job_level) {
      event("failJob", Json::object());
    } else {
      event("failJobDueToTaskFailure", {{"task", task}});
    }
  }

  // Restore (6).

  void restore(bool to_all, bool allow_non_restored) {
    if (shutdown_) throw IllegalState();
    returned_ = !store_.kept.empty();
    if (store_.kept.empty()) {
      for (const auto& [hook, mode] : hooks_) event("hookReset", {{"hook", hook}});
      for (std::size_t i = 0; to_all && i < coordinators_.size(); ++i) {
        event("coordinatorReset", {{"coordinator", i}, {"cp", -1}});
      }
      return;
    }
    const NaiveCompleted120& latest = *store_.kept.back();
    event("restored", {{"cp", latest.id}});
    ++restored_;
    force_full_ = latest.kind == "unclaimed";
    if (!to_all && has_overtaken(latest)) throw IllegalState();
    if (!hooks_.empty() && !latest.hook_states.empty()) {
      for (const auto& [hook, state] : latest.hook_states) {
        if (!hooks_.contains(hook) && !allow_non_restored) throw IllegalState();
      }
      for (const auto& [hook, mode] : hooks_) {
        const auto data = latest.hook_states.find(hook);
        event("hookRestored",
              {{"hook", hook},
               {"cp", latest.id},
               {"data", data == latest.hook_states.end() ? Json() : Json(data->second)}});
      }
    }
    for (std::size_t i = 0; i < coordinators_.size(); ++i) {
      event("coordinatorReset", {{"coordinator", i}, {"cp", latest.id}});
    }
  }

  // who has finished, even in part, is fed by all of the vertex before.
  [[nodiscard]] bool has_overtaken(const NaiveCompleted120& latest) const {
    return job_.has_vertex(1) && latest.progress_of(1) != NaiveProgress120::kRunning &&
           latest.progress_of(0) != NaiveProgress120::kFullyFinished;
  }

  void restore_savepoint(const Json& step) {
    const NaiveCompleted120& read = *written_.at(step.at("cp"));
    const bool allow_non_restored = step.at("allowNonRestored");
    bool has_unknown = read.foreign_operators;
    for (const NaiveState120& state : read.states) {
      if (state.has_any() && !job_.has_vertex(state.vertex)) has_unknown = true;
    }
    if (has_unknown && !allow_non_restored) throw IllegalState();
    if (shutdown_) throw IllegalState();
    auto restored = std::make_shared<NaiveCompleted120>(read);
    const std::string mode = step.value("mode", "NO_CLAIM");
    restored->kind = mode == "CLAIM" ? "checkpoint" : mode == "LEGACY" ? "savepoint" : "unclaimed";
    restored->retention = config_.value("retention", "");
    for (NaiveState120& state : restored->states) {
      if (!store_.shared.add(state, restored->id)) throw IllegalState();
    }
    if (mode != "CLAIM") store_.shared.not_claimed(restored->id);
    if (!failure_of("storeFails", ++store_calls_).is_null()) throw IllegalState();
    store(restored);
    next_id_ = read.id + 1;
    restore(false, allow_non_restored);
  }

  void shut_down() {
    if (shutdown_) return;
    shutdown_ = true;
    scheduling_ = false;
    for (const auto& [hook, mode] : hooks_) event("hookClosed", {{"hook", hook}});
    hooks_.clear();
    fail_queued("CHECKPOINT_COORDINATOR_SHUTDOWN");
    abort_if("CHECKPOINT_COORDINATOR_SHUTDOWN", [](const Checkpoint&) { return true; });
  }

  // Small things.

  void event(const char* name, Json details) {
    details["e"] = name;
    details["t"] = timers_.now;
    out_.push_back(std::move(details));
  }
  void answer(std::int64_t number, std::int64_t id, const Json& reason) {
    if (number == kNobody) return;
    if (id != 0) {
      event("requestDone", {{"request", number}, {"cp", id}});
    } else {
      event("requestFailed", {{"request", number}, {"reason", reason}});
    }
    if (number != asking_) return;
    early_answer_ = out_.back();
    out_.erase(out_.size() - 1);
  }
  std::int64_t schedule(const char* what, std::int64_t delay, std::function<void()> action) {
    event("schedule", {{"what", what}, {"delay", delay}});
    return timers_.schedule(what, delay, NaiveTimers::kNever, std::move(action));
  }
  void discard_state(const std::string& state) {
    if (!state.empty()) event("discardState", {{"state", state}});
  }
  void discard_shared(const std::vector<std::string>& files) {
    for (const std::string& file : files) event("discardShared", {{"file", file}});
  }
  void discard(const NaiveState120& state) {
    discard_state(state.name);
    discard_state(state.keyed);
    if (state.registered) return;
    for (const NaiveFile120& file : state.shared) {
      if (!file.placeholder) discard_shared({file.name});
    }
  }
  void delete_completed(const NaiveCompleted120& one) {
    for (const NaiveState120& state : one.states) discard(state);
    event("completedDisposed", {{"cp", one.id}});
  }
  [[nodiscard]] Json failure_of(const char* what, std::int64_t call) const {
    return config_.value(what, Json::object()).value(std::to_string(call), Json());
  }

  void describe(Json& result) const {
    result["now"] = timers_.now;
    result["pending"] = Json::array();
    for (const auto& [id, one] : pending_) {
      const auto acked = static_cast<std::int64_t>(one->acknowledged.size());
      const auto awaited = static_cast<std::int64_t>(one->plan.awaited.size());
      result["pending"].push_back({{"cp", id},
                                   {"acked", one->disposed ? -1 : acked},
                                   {"missing", one->disposed ? 0 : awaited - acked}});
    }
    result["retained"] = Json::array();
    for (const NaiveCompletedPtr& one : store_.kept) result["retained"].push_back(one->id);
    result["written"] = Json::array();
    result["writtenWithFinished"] = Json::array();
    for (const auto& [id, one] : written_) {
      result["written"].push_back(id);
      if (!one->progress.empty()) result["writtenWithFinished"].push_back(id);
    }
    result["registered"] = store_.shared.names();
    result["shutDown"] = shutdown_;
    result["queued"] = queue_.size();
    result["triggering"] = triggering_;
    result["periodicOn"] = scheduling_;
    result["periodicTimer"] = periodic_timer_ != 0;
    result["recentExpired"] = expired_;
    result["failureCount"] = failure_count_;
    result["nextId"] = next_id_;
    result["counts"] = {{"restored", restored_},
                        {"total", total_},
                        {"inProgress", in_progress_},
                        {"completed", completed_},
                        {"failed", failed_}};
    result["timers"] = timers_.waiting();
  }

  Json config_;
  Draw draw_;
  NaiveTimers timers_;
  NaiveJob120 job_;
  Json out_;
  Json returned_;

  std::int64_t timeout_ = 0;
  std::int64_t min_pause_ = 0;
  std::int64_t interval_ = NaiveTimers::kNever;
  std::int64_t backlog_interval_ = NaiveTimers::kNever;
  std::int64_t max_concurrent_ = 0;
  std::int64_t tolerable_ = 0;
  std::map<std::string, std::string> hooks_;
  std::vector<std::string> coordinators_;

  std::vector<Request> queue_;                     // most urgent first
  std::map<std::int64_t, CheckpointPtr> pending_;  // by id
  NaiveStore120 store_;
  std::map<std::int64_t, NaiveCompletedPtr> written_;  // metadata files by id
  PhasePtr phase_;                                     // while its end is open
  std::map<std::string, PhasePtr> waiting_hooks_;
  std::vector<std::int64_t> expired_;
  std::set<std::string> backlog_;
  bool triggering_ = false;
  bool scheduling_ = false;
  bool shutdown_ = false;
  bool force_full_ = false;
  std::int64_t periodic_timer_ = 0;
  std::int64_t trigger_ = 0;  // the current one
  std::int64_t next_tick_ = NaiveTimers::kNever;
  bool completed_once_ = false;
  std::int64_t last_completion_ = 0;
  std::int64_t asking_ = kNobody;  // the request whose submission is under way
  Json early_answer_;

  std::set<std::int64_t> counted_;
  std::int64_t failure_count_ = 0;
  std::int64_t last_succeeded_ = -1;
  std::int64_t next_id_ = 1;
  std::int64_t id_calls_ = 0;
  std::int64_t store_calls_ = 0;
  std::vector<std::int64_t> history_;
  std::int64_t restored_ = 0;
  std::int64_t total_ = 0;
  std::int64_t in_progress_ = 0;
  std::int64_t completed_ = 0;
  std::int64_t failed_ = 0;
};

}  // namespace

std::unique_ptr<NaiveCoordinator> make_naive_coordinator_120(const Json& config,
                                                             NaiveCoordinator::Draw draw) {
  return std::make_unique<NaiveCoordinator120>(config, std::move(draw));
}

}  // namespace tailrace::engine::test
