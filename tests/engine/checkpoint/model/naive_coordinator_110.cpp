// The rules of Flink 1.10 (spec coordinator.md, parts marked [1.10]), stated once more.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/naive_timers.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t kNobody = -1;       // no request to answer
constexpr std::int64_t kJobLevel = -1000;  // no task declined
constexpr std::int64_t kUnlimited = 2147483647;

struct IllegalState {};

const std::set<std::string> kPreFlight = {
    "PERIODIC_SCHEDULER_SHUTDOWN",     "ALREADY_QUEUED",
    "TOO_MANY_CONCURRENT_CHECKPOINTS", "MINIMUM_TIME_BETWEEN_CHECKPOINTS",
    "NOT_ALL_REQUIRED_TASKS_RUNNING",  "EXCEPTION"};

struct Checkpoint {
  std::int64_t id;
  std::string kind;                              // as in the script
  std::map<std::int64_t, std::int64_t> awaited;  // attempt -> task
  std::set<std::int64_t> acknowledged;           // attempts
  std::map<std::int64_t, std::string> states;    // by task
  std::map<std::string, std::string> hook_states;
  std::int64_t request = kNobody;
  bool promise_open = false;
  std::int64_t timeout = 0;
  bool disposed = false;

  [[nodiscard]] bool is_savepoint() const { return kind != "checkpoint"; }
  [[nodiscard]] bool is_synchronous() const { return is_savepoint() && kind != "savepoint"; }
};

struct Task {
  std::int64_t attempt;  // 0: none
  std::string state = "RUNNING";
};

class NaiveCoordinator110 final : public NaiveCoordinator {
 public:
  NaiveCoordinator110(const Json& config, Draw draw) : config_(config), draw_(std::move(draw)) {
    timers_.now = config.at("start");
    const std::int64_t count =
        config.at("sources").get<std::int64_t>() + config.at("others").get<std::int64_t>();
    for (std::int64_t task = 0; task < count; ++task) new_attempt(tasks_.emplace_back(), task);
    sources_ = config.at("sources");
    timeout_ = config.at("timeout");
    min_pause_ = config.at("minPause");
    max_concurrent_ = config.at("maxConcurrent");
    tolerable_ = config.at("tolerable");
    retained_limit_ = std::max<std::int64_t>(1, config.at("retained"));
    const Json& interval = config.at("interval");
    if (!interval.is_null()) period_ = std::max(interval.get<std::int64_t>(), min_pause_);
    const Json hooks = config.value("hooks", Json::object());
    for (const auto& [id, mode] : hooks.items()) hooks_[id] = mode;
  }

  Json play(const Json& step) override {
    out_ = Json::array();
    Json result = Json::object();
    returned_ = Json();
    bool threw = false;
    try {
      act(step);
    } catch (const IllegalState&) {
      threw = true;
      returned_ = Json();
    }
    timers_.run_until(timers_.now);
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
      if (shutdown_) throw IllegalState();
      stop();
      scheduling_ = true;
      arm(draw_delay());
    } else if (op == "stop") {
      stop();
    } else if (op == "advance") {
      timers_.run_until(timers_.now + step.at("ms").get<std::int64_t>());
    } else if (op == "request") {
      request(step);
    } else if (op == "requests") {
      for (const Json& one : step.at("requests")) request(one);
    } else if (op == "ack") {
      acknowledge(step);
    } else if (op == "decline") {
      decline(step);
    } else if (op == "taskFailure") {
      const std::int64_t attempt = attempt_of(step.at("task"));
      for (const std::int64_t id : ids()) {
        const Checkpoint& one = pending_.at(id);
        if (one.awaited.contains(attempt) && !one.acknowledged.contains(attempt)) {
          discard(id, "JOB_FAILURE", task_of(attempt));
        }
      }
    } else if (op == "abortPending") {
      abort_all(step.at("reason"));
    } else if (op == "taskState") {
      Task& task = tasks_.at(step.at("task").get<std::size_t>());
      const std::string state = step.at("state");
      if (state == "newAttempt") new_attempt(task, step.at("task"));
      if (task.attempt < 0 && state != "none") task.attempt = -task.attempt;
      if (state == "none" && task.attempt > 0) task.attempt = -task.attempt;  // comes back later
      if (state != "none") task.state = state == "newAttempt" ? "RUNNING" : state;
    } else if (op == "restoreLatest") {
      restore(step);
    } else if (op == "shutdown") {
      shut_down(step.value("status", "FINISHED"));
    } else if (op != "hookDone") {  // nobody waits for it any more
      throw std::runtime_error("unknown operation " + op);
    }
  }

  // Requests and the trigger phase (3.1 to 3.3).

  void request(const Json& step) {
    const std::string kind = step.at("kind");
    const std::int64_t number = step.at("request");
    if (kind == "checkpoint" || kind == "periodic") {
      trigger_checkpoint(kind == "periodic", number);
      return;
    }
    timers_.handed_over.push_back([this, kind, number] {
      const auto [id, reason] = trigger(kind, false);
      if (id != 0) {
        pending_.at(id).request = number;
        pending_.at(id).promise_open = true;
        return;
      }
      if (kind != "savepoint") synchronous_savepoint_failed(reason, reason);
      answer(number, 0, reason);
    });
  }

  void trigger_checkpoint(bool periodic, std::int64_t number) {
    const auto [id, reason] = trigger("checkpoint", periodic);
    if (id != 0) {
      pending_.at(id).request = number;
      pending_.at(id).promise_open = true;
      return;
    }
    failed(-next_id_, reason, kJobLevel);
    answer(number, 0, reason);
  }

  std::pair<std::int64_t, std::string> trigger(const std::string& kind, bool periodic) {
    if (shutdown_) return {0, "CHECKPOINT_COORDINATOR_SHUTDOWN"};
    if (periodic && !scheduling_) return {0, "PERIODIC_SCHEDULER_SHUTDOWN"};
    if (kind == "checkpoint") {
      if (queued_) return {0, "ALREADY_QUEUED"};
      if (static_cast<std::int64_t>(pending_.size()) >= max_concurrent_) {
        queued_ = true;
        disarm();
        return {0, "TOO_MANY_CONCURRENT_CHECKPOINTS"};
      }
      if (completed_once_ && last_completion_ + min_pause_ > timers_.now) {
        disarm();
        arm(last_completion_ + min_pause_ - timers_.now);
        return {0, "MINIMUM_TIME_BETWEEN_CHECKPOINTS"};
      }
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const bool source = static_cast<std::int64_t>(i) < sources_;
      if (tasks_[i].attempt <= 0 || (source && tasks_[i].state != "RUNNING")) {
        return {0, "NOT_ALL_REQUIRED_TASKS_RUNNING"};
      }
    }
    if (fails("idFails", ++id_calls_)) return {0, "EXCEPTION"};
    Checkpoint one;
    one.id = next_id_++;
    one.kind = kind;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      one.awaited[tasks_[i].attempt] = static_cast<std::int64_t>(i);
    }
    ++total_;
    ++in_progress_;
    const std::int64_t id = one.id;
    one.timeout = schedule("CheckpointCanceller", timeout_, NaiveTimers::kNever, false,
                           [this, id] { expire(id); });
    pending_.emplace(id, one);
    for (const auto& [hook, mode] : hooks_) {
      event("hookTriggered", {{"hook", hook}, {"cp", id}});
      if (mode == "ok") pending_.at(id).hook_states[hook] = "state-" + hook;
      if (mode == "ok" || mode == "null") continue;
      Checkpoint broken = pending_.at(id);
      pending_.erase(id);
      abort(broken, "TRIGGER_CHECKPOINT_FAILURE", kJobLevel);
      event("locationDisposed", {{"cp", id}});
      return {0, "EXCEPTION"};
    }
    for (std::int64_t task = 0; task < sources_; ++task) {
      event("trigger", {{"cp", id},
                        {"task", task},
                        {"type", kind == "checkpoint"  ? "CHECKPOINT"
                                 : kind == "savepoint" ? "SAVEPOINT"
                                                       : "SYNC_SAVEPOINT"},
                        {"advanceToEndOfTime", kind == "terminateWithSavepoint"}});
    }
    return {id, ""};
  }

  void drain() {
    if (!queued_) return;
    queued_ = false;
    if (scheduling_) {
      disarm();
      arm(0);
    } else {
      timers_.handed_over.push_back([this] { trigger_checkpoint(true, kNobody); });
    }
  }

  void arm(std::int64_t delay) {
    periodic_timer_ = schedule("ScheduledTrigger", delay, period_, true,
                               [this] { trigger_checkpoint(true, kNobody); });
  }
  void disarm() {
    timers_.cancel(periodic_timer_);
    periodic_timer_ = 0;
  }
  std::int64_t draw_delay() {
    // The longest period that a clock in nanoseconds knows.
    constexpr std::int64_t kLongest = NaiveTimers::kNever / 1'000'000;
    return draw_(min_pause_, std::min(period_, kLongest), out_);
  }
  std::int64_t schedule(const char* what, std::int64_t delay, std::int64_t period, bool periodic,
                        std::function<void()> action) {
    Json details{{"what", what}, {"delay", delay}};
    if (periodic) details["period"] = period == NaiveTimers::kNever ? Json() : Json(period);
    event("schedule", details);
    return timers_.schedule(what, delay, period, std::move(action));
  }

  // How a checkpoint ends (2.3, 4).

  void acknowledge(const Json& step) {
    returned_ = false;
    if (shutdown_ || step.value("otherJob", false)) return;
    const std::int64_t attempt = attempt_of(step.at("task"));
    const std::string state = step.value("state", "");
    const std::int64_t id = step.at("cp");
    if (!pending_.contains(id)) {
      discard_state(state);
      for (const std::int64_t known : remembered_) {
        if (known == id) returned_ = true;
      }
      return;
    }
    returned_ = true;
    Checkpoint& one = pending_.at(id);
    if (!one.awaited.contains(attempt)) return discard_state(state);
    if (!one.acknowledged.insert(attempt).second) return;
    if (!state.empty()) one.states[one.awaited.at(attempt)] = state;
    if (one.acknowledged.size() == one.awaited.size()) complete(id);
  }

  void complete(std::int64_t id) {
    Checkpoint one = pending_.at(id);
    for (const Json& broken : config_.value("metadataFails", Json::array())) {
      if (broken != id) continue;
      break_promise(one, "FINALIZE_CHECKPOINT_FAILURE", Json());
      pending_.at(id).disposed = true;
      abort(one, "FINALIZE_CHECKPOINT_FAILURE", kJobLevel);
      pending_.erase(id);
      drain();
      throw IllegalState();
    }
    timers_.cancel(one.timeout);
    answer(one.request, id, "");
    --in_progress_;
    ++completed_;
    event("completed", {{"cp", id}});
    failure_count_ = 0;
    counted_.clear();
    const bool stored = !fails("storeFails", ++store_calls_);
    if (stored) {
      retained_.push_back(one);
      if (static_cast<std::int64_t>(retained_.size()) > retained_limit_) {
        if (!retained_.front().is_savepoint()) delete_completed(retained_.front());
        retained_.erase(retained_.begin());
      }
    } else {
      delete_completed(one);
    }
    pending_.erase(id);
    drain();
    if (!stored) throw IllegalState();
    remember(id);
    for (const std::int64_t older : ids()) {
      if (older > id || pending_.at(older).is_savepoint()) continue;
      remember(older);
      abort_in_map(older, "CHECKPOINT_SUBSUMED");
      pending_.erase(older);
    }
    completed_once_ = true;
    last_completion_ = timers_.now;
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      if (tasks_[task].attempt > 0) event("notifyComplete", {{"cp", id}, {"task", task}});
    }
  }

  void decline(const Json& step) {
    if (shutdown_) return;
    if (step.value("otherJob", false)) throw IllegalState();
    if (!pending_.contains(step.at("cp"))) return;
    const std::string given = step.at("reason");
    const std::string reason = given == "none"    ? "CHECKPOINT_DECLINED"
                               : given == "other" ? "JOB_FAILURE"
                                                  : given;
    discard(step.at("cp"), reason, task_of(attempt_of(step.at("task"))));
  }

  void discard(std::int64_t id, const std::string& reason, std::int64_t task) {
    Checkpoint one = pending_.at(id);
    pending_.erase(id);
    abort(one, reason, task);
    remember(id);
    for (const auto& [other, checkpoint] : pending_) {
      if (other >= id && !checkpoint.disposed) return;
    }
    drain();
  }

  void expire(std::int64_t id) {
    abort_in_map(id, "CHECKPOINT_EXPIRED");
    pending_.erase(id);
    remember(id);
    drain();
  }

  void abort_in_map(std::int64_t id, const std::string& reason) {
    Checkpoint one = pending_.at(id);
    pending_.at(id).disposed = true;
    abort(one, reason, kJobLevel);
  }

  void abort_all(const std::string& reason) {
    for (const std::int64_t id : ids()) abort_in_map(id, reason);
    pending_.clear();
  }

  void abort(Checkpoint& one, const std::string& reason, std::int64_t task) {
    break_promise(one, reason, reason);
    --in_progress_;
    ++failed_;
    for (const auto& [owner, state] : one.states) discard_state(state);
    event("locationDisposed", {{"cp", one.id}});
    timers_.cancel(one.timeout);
    failed(one.id, reason, task);
    // A new random delay if nothing would ever trigger again.
    if (shutdown_ || !scheduling_ || periodic_timer_ != 0) return;
    for (const auto& [id, other] : pending_) {
      if (!other.disposed) return;
    }
    queued_ = false;
    arm(draw_delay());
  }

  void break_promise(Checkpoint& one, const std::string& reason, const Json& told) {
    if (!one.promise_open) return;
    one.promise_open = false;
    if (one.is_synchronous()) synchronous_savepoint_failed(reason, told);
    answer(one.request, 0, told);
  }

  void synchronous_savepoint_failed(const std::string& reason, const Json& told) {
    event("syncSavepointFailed", {{"reason", told}});
    if (!kPreFlight.contains(reason)) event("failJob", Json::object());
  }

  void failed(std::int64_t id, const std::string& reason, std::int64_t task) {
    event("failed",
          {{"cp", id}, {"reason", reason}, {"task", task == kJobLevel ? Json() : Json(task)}});
    if (tolerable_ != kUnlimited && reason == "CHECKPOINT_DECLINED" && counted_.insert(id).second) {
      ++failure_count_;
    }
    if (failure_count_ <= tolerable_) return;
    failure_count_ = 0;
    counted_.clear();
    if (task == kJobLevel) {
      event("failJob", Json::object());
    } else {
      event("failJobDueToTaskFailure", {{"task", task}});
    }
  }

  void stop() {
    queued_ = false;
    scheduling_ = false;
    disarm();
    abort_all("CHECKPOINT_COORDINATOR_SUSPEND");
  }

  void shut_down(const std::string& status) {
    if (shutdown_) return;
    shutdown_ = true;
    scheduling_ = false;
    queued_ = false;
    for (const auto& [hook, mode] : hooks_) event("hookClosed", {{"hook", hook}});
    hooks_.clear();
    abort_all("CHECKPOINT_COORDINATOR_SHUTDOWN");
    const std::string policy = config_.value("retention", "NEVER_RETAIN_AFTER_TERMINATION");
    const bool keeps = (policy == "RETAIN_ON_CANCELLATION" && status != "FINISHED") ||
                       (policy == "RETAIN_ON_FAILURE" && status == "FAILED");
    for (const Checkpoint& one : retained_) {
      if (!keeps && !one.is_savepoint()) delete_completed(one);
    }
    retained_.clear();
  }

  void restore(const Json& step) {
    if (shutdown_) throw IllegalState();
    if (retained_.empty()) {
      if (step.value("errorIfNone", false)) throw IllegalState();
      for (const auto& [hook, mode] : hooks_) event("hookReset", {{"hook", hook}});
      returned_ = false;
      return;
    }
    const Checkpoint* chosen = &retained_.back();
    if (config_.value("preferCheckpoint", false)) {
      for (const Checkpoint& one : retained_) {
        if (!one.is_savepoint()) chosen = &one;
      }
      if (chosen->is_savepoint()) chosen = &retained_.back();
    }
    if (!chosen->hook_states.empty()) {
      for (const auto& [hook, mode] : hooks_) {
        const auto data = chosen->hook_states.find(hook);
        event("hookRestored",
              {{"hook", hook},
               {"cp", chosen->id},
               {"data", data == chosen->hook_states.end() ? Json() : Json(data->second)}});
      }
    }
    event("restored", {{"cp", chosen->id}});
    ++restored_;
    returned_ = true;
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
  }
  void discard_state(const std::string& state) {
    if (!state.empty()) event("discardState", {{"state", state}});
  }
  void delete_completed(const Checkpoint& one) {
    for (const auto& [task, state] : one.states) discard_state(state);
    event("completedDisposed", {{"cp", one.id}});
  }
  void remember(std::int64_t id) {
    remembered_.push_back(id);
    if (remembered_.size() > 16) remembered_.erase(remembered_.begin());
  }
  [[nodiscard]] bool fails(const char* what, std::int64_t call) const {
    return config_.contains(what) && config_.at(what).contains(std::to_string(call));
  }
  [[nodiscard]] std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> result;
    for (const auto& [id, one] : pending_) result.push_back(id);
    return result;
  }
  void new_attempt(Task& task, std::int64_t number) {
    task.attempt = ++last_attempt_;
    owners_[task.attempt] = number;
  }
  [[nodiscard]] std::int64_t attempt_of(std::int64_t task) const {
    return task < 0 ? 1'000'000 : std::abs(tasks_.at(static_cast<std::size_t>(task)).attempt);
  }
  [[nodiscard]] std::int64_t task_of(std::int64_t attempt) const {
    return owners_.contains(attempt) ? owners_.at(attempt) : -1;
  }

  void describe(Json& result) const {
    result["now"] = timers_.now;
    result["pending"] = Json::array();
    for (const auto& [id, one] : pending_) {
      result["pending"].push_back({{"cp", id},
                                   {"acked", one.acknowledged.size()},
                                   {"missing", one.awaited.size() - one.acknowledged.size()}});
    }
    result["retained"] = Json::array();
    for (const Checkpoint& one : retained_) result["retained"].push_back(one.id);
    result["queued"] = queued_ ? 1 : 0;
    result["periodicOn"] = scheduling_;
    result["periodicTimer"] = periodic_timer_ != 0;
    result["remembered"] = remembered_;
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
  Json out_;
  Json returned_;

  std::int64_t sources_ = 0;
  std::int64_t timeout_ = 0;
  std::int64_t min_pause_ = 0;
  std::int64_t period_ = NaiveTimers::kNever;
  std::int64_t max_concurrent_ = 0;
  std::int64_t tolerable_ = 0;
  std::int64_t retained_limit_ = 0;

  std::vector<Task> tasks_;
  std::map<std::int64_t, std::int64_t> owners_;  // attempt -> task
  std::int64_t last_attempt_ = 0;
  std::map<std::string, std::string> hooks_;
  std::map<std::int64_t, Checkpoint> pending_;
  std::vector<Checkpoint> retained_;
  std::vector<std::int64_t> remembered_;
  std::set<std::int64_t> counted_;
  std::int64_t failure_count_ = 0;
  std::int64_t next_id_ = 1;
  std::int64_t id_calls_ = 0;
  std::int64_t store_calls_ = 0;
  std::int64_t periodic_timer_ = 0;
  bool queued_ = false;
  bool scheduling_ = false;
  bool shutdown_ = false;
  bool completed_once_ = false;
  std::int64_t last_completion_ = 0;
  std::int64_t restored_ = 0;
  std::int64_t total_ = 0;
  std::int64_t in_progress_ = 0;
  std::int64_t completed_ = 0;
  std::int64_t failed_ = 0;
};

}  // namespace

std::unique_ptr<NaiveCoordinator> make_naive_coordinator_110(const Json& config,
                                                             NaiveCoordinator::Draw draw) {
  return std::make_unique<NaiveCoordinator110>(config, std::move(draw));
}

}  // namespace tailrace::engine::test
