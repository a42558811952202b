// The rules of Flink 1.20 (spec coordinator.md, parts marked [1.20]), stated once more: what the
// naive coordinator knows. Triggering and ending have a file each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/model/naive_coordinator.hpp"
#include "tests/engine/checkpoint/model/naive_job_120.hpp"
#include "tests/engine/checkpoint/model/naive_store_120.hpp"
#include "tests/engine/checkpoint/model/naive_timers.hpp"

namespace tailrace::engine::test::naive_120 {

using Json = nlohmann::json;
inline constexpr std::int64_t kNobody = -1;       // no request to answer
inline constexpr std::int64_t kJobLevel = -1000;  // no task declined
inline constexpr std::int64_t kNoId = 0;          // failed before it had one

struct IllegalState {};

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
  NaiveCoordinator120(const Json& config, Draw draw);
  std::unique_ptr<NaiveCoordinator> next_life(const Json& config, Draw draw) const override;
  Json play(const Json& step) override;

 private:
  using Predicate = std::function<bool(const Checkpoint&)>;

  void act(const Json& step);

  // The periodic scheduler (3.1, R-3.16).
  void start();
  void stop();
  void arm(std::int64_t delay);
  void rearm(std::int64_t delay);
  void wait_for_tick(std::int64_t delay);
  void disarm();
  [[nodiscard]] std::int64_t current_interval() const;
  void tick();
  void backlog(const Json& step);

  // Requests and their queue (3.4).
  void ask(const Json& step);
  static bool is_more_urgent(const Request& a, const Request& b);
  void submit(const Request& request);
  void choose();
  void drain();
  void fail_queued(const std::string& reason);

  // The trigger phase (3.5), step by step.
  [[nodiscard]] std::string pre_check(const Request& request) const;
  void begin(const Request& request);
  void create(const PhasePtr& phase, const NaivePlan120& plan, std::int64_t id);
  void ask_coordinators(const PhasePtr& phase);
  void ask_hooks(const PhasePtr& phase);
  void keep_promise(const std::string& hook);
  void hand_over_hook_answer(const PhasePtr& phase, const std::string& hook,
                             const std::string& mode);
  void end_phase(const PhasePtr& phase, const std::string& reason);
  void trigger_tasks(const Phase& phase);
  void trigger_failed(const Phase& phase, const std::string& reason);

  // Messages (4.1, 4.2).
  void acknowledge(const Json& step);
  [[nodiscard]] Reported reported_in(const Json& step) const;
  void decline(const Json& step);
  std::string complete(const CheckpointPtr& one);
  [[nodiscard]] std::string failure_of_finalising(const Checkpoint& one) const;
  [[nodiscard]] NaiveCompletedPtr to_completed(const Checkpoint& one) const;
  std::int64_t store(const NaiveCompletedPtr& completed);

  // Abortion.
  void abort_if(const std::string& reason, const Predicate& predicate);
  void abort(const CheckpointPtr& one, const std::string& reason, std::int64_t task);
  void abort_object(const CheckpointPtr& one, const std::string& reason);
  void break_promise(Checkpoint& one, const Json& reason);
  void notify_aborted(const Checkpoint& one);
  void count_failure(std::int64_t id);
  void offer(const Request& request, std::int64_t id, const std::string& reason, std::int64_t task);

  // Restore (6).
  void restore(bool to_all, bool allow_non_restored);
  [[nodiscard]] bool has_overtaken(const NaiveCompleted120& latest) const;
  void restore_savepoint(const Json& step);
  void shut_down();

  // Small things.
  void event(const char* name, Json details);
  void answer(std::int64_t number, std::int64_t id, const Json& reason);
  std::int64_t schedule(const char* what, std::int64_t delay, std::function<void()> action);
  void discard_state(const std::string& state);
  void discard_shared(const std::vector<std::string>& files);
  void discard(const NaiveState120& state);
  void delete_completed(const NaiveCompleted120& one);
  [[nodiscard]] Json failure_of(const char* what, std::int64_t call) const;
  void describe(Json& result) const;

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

}  // namespace tailrace::engine::test::naive_120
