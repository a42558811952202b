// How checkpoints end and what comes of it: messages, completion, abortion, restore (spec
// coordinator.md 2, 4, 6).
#include <algorithm>
#include <utility>

#include "tests/engine/checkpoint/model/naive_coordinator_120.hpp"

namespace tailrace::engine::test::naive_120 {
namespace {

constexpr std::int64_t kUnlimited = 2147483647;
constexpr std::size_t kRemembered = 16;

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

}  // namespace

// Messages (4.1, 4.2).

void NaiveCoordinator120::acknowledge(const Json& step) {
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

Reported NaiveCoordinator120::reported_in(const Json& step) const {
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

void NaiveCoordinator120::decline(const Json& step) {
  if (shutdown_) return;
  if (step.value("otherJob", false)) throw IllegalState();
  if (!pending_.contains(step.at("cp"))) return;
  const CheckpointPtr one = pending_.at(step.at("cp"));
  if (one->disposed) throw IllegalState();
  abort(one, step.at("reason"), step.at("task"));
}

// Completion (4.3). Returns what a trigger phase makes of its failure; empty: none.
std::string NaiveCoordinator120::complete(const CheckpointPtr& one) {
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

std::string NaiveCoordinator120::failure_of_finalising(const Checkpoint& one) const {
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

NaiveCompletedPtr NaiveCoordinator120::to_completed(const Checkpoint& one) const {
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
std::int64_t NaiveCoordinator120::store(const NaiveCompletedPtr& completed) {
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

void NaiveCoordinator120::abort_if(const std::string& reason, const Predicate& predicate) {
  for (const auto& [id, one] : std::map(pending_)) {
    if (predicate(*one)) abort(one, reason, kJobLevel);
  }
}

void NaiveCoordinator120::abort(const CheckpointPtr& one, const std::string& reason,
                                std::int64_t task) {
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
void NaiveCoordinator120::abort_object(const CheckpointPtr& one, const std::string& reason) {
  break_promise(*one, reason);
  if (phase_ != nullptr && phase_->checkpoint == one) end_phase(phase_, reason);
  one->disposed = true;
  for (const Reported& reported : one->states) discard(reported.state);
  if (one->has_location) event("locationDisposed", {{"cp", one->id}});
  drain();
  timers_.cancel(one->timeout);
  if (reason == "CHECKPOINT_SUBSUMED" && one->request.is_savepoint()) throw IllegalState();
}

void NaiveCoordinator120::break_promise(Checkpoint& one, const Json& reason) {
  if (!std::exchange(one.promise_open, false)) return;
  answer(one.request.number, 0, reason);
}

void NaiveCoordinator120::notify_aborted(const Checkpoint& one) {
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
void NaiveCoordinator120::count_failure(std::int64_t id) {
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
void NaiveCoordinator120::offer(const Request& request, std::int64_t id, const std::string& reason,
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

void NaiveCoordinator120::restore(bool to_all, bool allow_non_restored) {
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
bool NaiveCoordinator120::has_overtaken(const NaiveCompleted120& latest) const {
  return job_.has_vertex(1) && latest.progress_of(1) != NaiveProgress120::kRunning &&
         latest.progress_of(0) != NaiveProgress120::kFullyFinished;
}

void NaiveCoordinator120::restore_savepoint(const Json& step) {
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
  if (read.is_savepoint()) store_.shared.shares_nothing(restored->id);
  if (!failure_of("storeFails", ++store_calls_).is_null()) throw IllegalState();
  store(restored);
  next_id_ = read.id + 1;
  restore(false, allow_non_restored);
}

void NaiveCoordinator120::shut_down() {
  if (shutdown_) return;
  shutdown_ = true;
  scheduling_ = false;
  for (const auto& [hook, mode] : hooks_) event("hookClosed", {{"hook", hook}});
  hooks_.clear();
  fail_queued("CHECKPOINT_COORDINATOR_SHUTDOWN");
  abort_if("CHECKPOINT_COORDINATOR_SHUTDOWN", [](const Checkpoint&) { return true; });
}

}  // namespace tailrace::engine::test::naive_120
