// What a script asks of the naive coordinator of 1.20, and what it shows of itself.
#include "tests/engine/checkpoint/model/naive_coordinator_120.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tailrace::engine::test::naive_120 {

NaiveCoordinator120::NaiveCoordinator120(const Json& config, Draw draw)
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

std::unique_ptr<NaiveCoordinator> NaiveCoordinator120::next_life(const Json& config,
                                                                 Draw draw) const {
  auto next = std::make_unique<NaiveCoordinator120>(config, std::move(draw));
  next->written_ = written_;
  for (const NaiveCompletedPtr& one : store_.kept) next->store_.add(one);
  return next;
}

Json NaiveCoordinator120::play(const Json& step) {
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

void NaiveCoordinator120::act(const Json& step) {
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

void NaiveCoordinator120::event(const char* name, Json details) {
  details["e"] = name;
  details["t"] = timers_.now;
  out_.push_back(std::move(details));
}

void NaiveCoordinator120::answer(std::int64_t number, std::int64_t id, const Json& reason) {
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

std::int64_t NaiveCoordinator120::schedule(const char* what, std::int64_t delay,
                                           std::function<void()> action) {
  event("schedule", {{"what", what}, {"delay", delay}});
  return timers_.schedule(what, delay, NaiveTimers::kNever, std::move(action));
}

void NaiveCoordinator120::discard_state(const std::string& state) {
  if (!state.empty()) event("discardState", {{"state", state}});
}

void NaiveCoordinator120::discard_shared(const std::vector<std::string>& files) {
  for (const std::string& file : files) event("discardShared", {{"file", file}});
}

void NaiveCoordinator120::discard(const NaiveState120& state) {
  discard_state(state.name);
  discard_state(state.keyed);
  if (state.registered) return;
  for (const NaiveFile120& file : state.shared) {
    if (!file.placeholder) discard_shared({file.name});
  }
}

void NaiveCoordinator120::delete_completed(const NaiveCompleted120& one) {
  for (const NaiveState120& state : one.states) discard(state);
  event("completedDisposed", {{"cp", one.id}});
}

Json NaiveCoordinator120::failure_of(const char* what, std::int64_t call) const {
  return config_.value(what, Json::object()).value(std::to_string(call), Json());
}

void NaiveCoordinator120::describe(Json& result) const {
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
  for (const auto& [id, one] : written_) result["written"].push_back(id);
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

}  // namespace tailrace::engine::test::naive_120

namespace tailrace::engine::test {

std::unique_ptr<NaiveCoordinator> make_naive_coordinator_120(const nlohmann::json& config,
                                                             NaiveCoordinator::Draw draw) {
  return std::make_unique<naive_120::NaiveCoordinator120>(config, std::move(draw));
}

}  // namespace tailrace::engine::test
