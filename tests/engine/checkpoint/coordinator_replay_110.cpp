#include "tests/engine/checkpoint/coordinator_replay_110.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoints.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_setup_110.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

CheckpointFailureReason reason_of(const std::string& name) {
  if (name == "none") return CheckpointFailureReason::CHECKPOINT_DECLINED;
  if (name == "other") return CheckpointFailureReason::JOB_FAILURE;
  constexpr int kLast = static_cast<int>(CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
  for (int i = 0; i <= kLast; ++i) {
    const auto reason = static_cast<CheckpointFailureReason>(i);
    if (name == to_string(reason)) return reason;
  }
  throw std::invalid_argument("unknown reason: " + name);
}

// Of what Flink calls a raw error, which has no reason.
Json name_or_null(const std::string& reason) {
  return reason == "FINALIZE_CHECKPOINT_FAILURE" ? Json() : Json(reason);
}

ExecutionState execution_state_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ExecutionState::FAILED); ++i) {
    const auto state = static_cast<ExecutionState>(i);
    if (name == to_string(state)) return state;
  }
  throw std::invalid_argument("unknown state: " + name);
}

JobStatus job_status_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(JobStatus::SUSPENDED); ++i) {
    const auto status = static_cast<JobStatus>(i);
    if (name == to_string(status)) return status;
  }
  throw std::invalid_argument("unknown status: " + name);
}

CheckpointRetentionPolicy retention_of(const std::string& name) {
  if (name == "RETAIN_ON_FAILURE") return CheckpointRetentionPolicy::RETAIN_ON_FAILURE;
  if (name == "RETAIN_ON_CANCELLATION") return CheckpointRetentionPolicy::RETAIN_ON_CANCELLATION;
  return CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
}

const char* name_of(ScheduledTaskKind kind) {
  return kind == ScheduledTaskKind::ScheduledTrigger ? "ScheduledTrigger" : "CheckpointCanceller";
}

// In Flink another thread does it, or the order of a hash map decides.
bool is_unordered(const Json& event) {
  const auto& kind = event.at("e").get_ref<const std::string&>();
  return kind == "discardState" || kind == "discardShared" || kind == "locationDisposed" ||
         kind == "completedDisposed" || kind.starts_with("hook");
}

class Hook final : public MasterTriggerRestoreHook {
 public:
  Hook(Journal& journal, std::string id, std::string mode)
      : journal_(journal), id_(std::move(id)), mode_(std::move(mode)) {}

  [[nodiscard]] const std::string& identifier() const override { return id_; }
  std::variant<std::optional<MasterState>, MasterHookFailure> trigger_checkpoint(
      CheckpointId id, std::int64_t) override {
    journal_.note("hookTriggered", id, -1, id_, false);
    if (mode_ == "null") return std::optional<MasterState>();
    if (mode_ != "ok") return MasterHookFailure{};
    MasterState state{1, id_, {}};
    for (const char c : "state-" + id_) state.bytes.push_back(static_cast<std::byte>(c));
    return std::optional(std::move(state));
  }
  void restore_checkpoint(CheckpointId id, const MasterState* state) override {
    restored_data = Json();
    if (state != nullptr) {
      std::string text;
      for (const std::byte byte : state->bytes) text += static_cast<char>(byte);
      restored_data = text;
    }
    journal_.note("hookRestored", id, -1, id_, false);
  }
  void reset() override { journal_.note("hookReset", kNoCheckpoint, -1, id_, false); }
  void close() override { journal_.note("hookClosed", kNoCheckpoint, -1, id_, false); }

  Json restored_data;

 private:
  Journal& journal_;
  std::string id_;
  std::string mode_;
};

struct Difference : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect_equal(const std::string& where, const Json& expected, const Json& found) {
  if (expected == found) return;
  throw Difference(where + "\n  Flink: " + expected.dump() + "\n  ours:  " + found.dump());
}

SetupOptions options_of(const Json& config, ScheduleListener* listener) {
  SetupOptions options;
  options.sources = config.at("sources");
  options.others = config.at("others");
  options.tolerable = config.at("tolerable");
  options.retained = config.at("retained");
  auto& to = options.configuration;
  to.job = JobId{1};
  if (!config.at("interval").is_null()) to.interval = Duration::millis(config.at("interval"));
  to.timeout = Duration::millis(config.at("timeout"));
  to.min_pause = Duration::millis(config.at("minPause"));
  to.max_concurrent = config.at("maxConcurrent");
  to.retention = retention_of(config.value("retention", ""));
  to.prefer_checkpoint_for_recovery = config.value("preferCheckpoint", false);
  options.schedule_listener = listener;
  return options;
}

class Script final : private ScheduleListener {
 public:
  // `before`: the script whose savepoints this one may restore; may be null.
  explicit Script(const Json& config, const Script* before = nullptr)
      : setup_(options_of(config, this)) {
    if (before != nullptr) setup_.storage.adopt(before->setup_.storage);
    setup_.world.start_at(Time{} + Duration::millis(config.at("start")));
    setup_.journal.note = [this](const std::string& event, CheckpointId id, std::int64_t task,
                                 const std::string& detail,
                                 bool flag) { note(event, id, task, detail, flag); };
    // The draws are input: the delay of the event that comes next in the recording.
    setup_.draws.next = [this](std::int64_t low, std::int64_t high) { return draw(low, high); };
    const auto calls = [&config](const char* key, std::set<int>& failing) {
      if (!config.contains(key)) return;
      for (const auto& [call, kind] : config.at(key).items()) failing.insert(std::stoi(call));
    };
    calls("idFails", setup_.id_counter.failing_calls);
    calls("storeFails", setup_.store.failing_calls);
    for (const Json& id : config.value("metadataFails", Json::array())) {
      setup_.storage.failing.insert(id.get<CheckpointId>());
    }
    const Json hooks = config.value("hooks", Json::object());
    for (const auto& [id, mode] : hooks.items()) {
      hooks_.push_back(std::make_unique<Hook>(setup_.journal, id, mode.get<std::string>()));
      setup_.coordinator->add_master_hook(*hooks_.back());
    }
  }

  void run(const Json& steps) {
    int number = 0;
    for (const Json& step : steps) {
      const std::string where =
          "step " + std::to_string(number++) + " (" + step.at("op").get<std::string>() + "): ";
      expected_ = &step.at("out");
      out_ = Json::array();
      result_ = Json::object();
      bool threw = false;
      try {
        play(step);
        setup_.world.run_due();
      } catch (const base::InvariantViolation&) {
        if (!step.contains("exception")) throw;
        threw = true;
      }
      if (result_.value("finalizeFailed", false)) threw = true;
      if (result_.value("refused", false)) threw = true;
      expect_equal(where + "exception", step.contains("exception"), threw);
      if (step.contains("returned")) {
        expect_equal(where + "returned", step.at("returned"), result_.value("returned", Json()));
      }
      compare_events(where, step.at("out"));
      compare_state(where, step);
    }
  }

 private:
  [[nodiscard]] Json now() const { return setup_.world.now().millis_truncated(); }

  void note(const std::string& event, CheckpointId id, std::int64_t task, const std::string& detail,
            bool flag) {
    Json line{{"e", event}, {"t", now()}};
    if (id != kNoCheckpoint || event == "failed") line["cp"] = id;
    if (event == "trigger") {
      line["type"] = detail;
      line["advanceToEndOfTime"] = flag;
    }
    if (event == "trigger" || event == "notifyComplete" || event == "failJobDueToTaskFailure") {
      line["task"] = task;
    }
    if (event == "failed") {
      line["reason"] = detail;
      line["task"] = task == NotingFailureManager::kNoTask ? Json() : Json(task);
    }
    if (event == "syncSavepointFailed") line["reason"] = name_or_null(detail);
    if (event == "discardState") line["state"] = detail;
    if (event.starts_with("hook")) line["hook"] = detail;
    if (event == "hookRestored") {
      for (const auto& hook : hooks_) {
        if (hook->identifier() == detail) line["data"] = hook->restored_data;
      }
    }
    out_.push_back(std::move(line));
  }

  void on_schedule(ScheduledTaskKind kind, Duration delay,
                   std::optional<Duration> period) override {
    Json line{{"e", "schedule"},
              {"t", now()},
              {"what", name_of(kind)},
              {"delay", delay.millis_truncated()}};
    if (period.has_value()) {
      line["period"] = *period == Duration::max() ? Json() : Json(period->millis_truncated());
    }
    out_.push_back(std::move(line));
  }

  std::int64_t draw(std::int64_t low, std::int64_t high) const {
    const auto done = std::count_if(out_.begin(), out_.end(),
                                    [](const Json& event) { return !is_unordered(event); });
    std::int64_t at = 0;
    for (const Json& event : *expected_) {
      if (is_unordered(event) || at++ != done) continue;
      if (event.at("e") != "schedule" || event.at("what") != "ScheduledTrigger") break;
      const std::int64_t delay = event.at("delay");
      if (delay < low || delay > high) throw Difference("a delay out of the range of the draw");
      return delay;
    }
    throw Difference("a draw that Flink did not make; events so far: " + out_.dump());
  }

  CheckpointDone done_of(const Json& request) {
    return [this, number = request.get<std::int64_t>()](CheckpointResult result) {
      if (result.ok()) {
        out_.push_back(
            {{"e", "requestDone"}, {"t", now()}, {"request", number}, {"cp", result.value()->id}});
      } else {
        out_.push_back({{"e", "requestFailed"},
                        {"t", now()},
                        {"request", number},
                        {"reason", name_or_null(to_string(result.error()))}});
      }
    };
  }

  void request(const Json& step) {
    const auto& kind = step.at("kind").get_ref<const std::string&>();
    CheckpointDone done = done_of(step.at("request"));
    if (kind == "savepoint") {
      setup_.coordinator->trigger_savepoint("savepoints", SavepointFormatType::CANONICAL,
                                            std::move(done));
    } else if (kind == "stopWithSavepoint" || kind == "terminateWithSavepoint") {
      setup_.coordinator->trigger_synchronous_savepoint(
          "savepoints", kind == "terminateWithSavepoint", SavepointFormatType::CANONICAL,
          std::move(done));
    } else if (kind == "checkpoint" || kind == "periodic") {
      setup_.coordinator->trigger_checkpoint(kind == "periodic", std::move(done));
    } else {
      throw std::invalid_argument("unknown kind of request: " + kind);
    }
  }

  void acknowledge(const Json& step) {
    const std::int64_t task = step.at("task");
    AcknowledgeCheckpoint message;
    message.job = JobId{step.value("otherJob", false) ? 2U : 1U};
    message.attempt = setup_.attempt_of(task);
    message.checkpoint_id = step.at("cp");
    if (step.contains("state")) {
      const std::string name = step.at("state");
      const auto& vertex =
          setup_.vertices.at(static_cast<std::size_t>(std::max<std::int64_t>(task, 0)));
      message.state = name.empty() ? std::make_shared<TaskStateSnapshot>()
                                   : state_in_file(vertex->operator_ids().front(), name);
    }
    setup_.coordinator->receive_acknowledge_message(
        std::move(message), [this](AcknowledgeOutcome outcome) {
          result_["returned"] = outcome.known;
          result_["finalizeFailed"] = outcome.finalize_failed;
        });
  }

  void note_restored(const CompletedCheckpoint* checkpoint) {
    result_["returned"] = checkpoint != nullptr;
    if (checkpoint == nullptr) return;
    out_.push_back({{"e", "restored"}, {"t", now()}, {"cp", checkpoint->id}});
  }

  // Loading comes first and may fail on its own, before the coordinator hears of it.
  void restore_savepoint(const Json& step) {
    const CheckpointId id = step.at("cp");
    Checkpoints::OperatorToVertex operators;
    for (const auto& vertex : setup_.vertices) {
      for (const OperatorId& op : vertex->operator_ids()) {
        operators[op] = {vertex->max_parallelism(), true};
      }
    }
    const bool allow_non_restored = step.at("allowNonRestored");
    auto loaded = Checkpoints::load_and_validate_checkpoint(
        setup_.job, operators, setup_.storage.written_by_id.at(id), setup_.storage.directory_of(id),
        allow_non_restored);
    if (!loaded.ok()) {
      result_["refused"] = true;
      return;
    }
    setup_.coordinator->restore_savepoint(
        std::move(loaded).value(), ClaimMode::LEGACY, allow_non_restored,
        [this](CompletedCheckpointPtr checkpoint) { note_restored(checkpoint.get()); });
  }

  void change_task(const Json& step) {
    const std::int32_t task = step.at("task");
    NotingVertex& vertex = *setup_.vertices.at(static_cast<std::size_t>(task));
    const std::string state = step.at("state");
    vertex.has_attempt = state != "none";
    if (state == "newAttempt") {
      vertex.set_attempt(setup_.new_attempt(task));
      vertex.execution_state = ExecutionState::RUNNING;
    } else if (state != "none") {
      vertex.execution_state = execution_state_of(state);
    }
  }

  void play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    CheckpointCoordinator110& coordinator = *setup_.coordinator;
    if (op == "start") {
      coordinator.start_checkpoint_scheduler();
    } else if (op == "stop") {
      coordinator.stop_checkpoint_scheduler();
    } else if (op == "advance") {
      setup_.world.advance(Duration::millis(step.at("ms")));
    } else if (op == "request") {
      request(step);
    } else if (op == "requests") {
      for (const Json& one : step.at("requests")) request(one);
    } else if (op == "ack") {
      acknowledge(step);
    } else if (op == "decline") {
      coordinator.receive_decline_message({JobId{step.value("otherJob", false) ? 2U : 1U},
                                           setup_.attempt_of(step.at("task")), step.at("cp"),
                                           reason_of(step.at("reason"))});
    } else if (op == "taskFailure") {
      coordinator.fail_unacknowledged_pending_checkpoints_for(setup_.attempt_of(step.at("task")));
    } else if (op == "abortPending") {
      coordinator.abort_pending_checkpoints(reason_of(step.at("reason")));
    } else if (op == "taskState") {
      change_task(step);
    } else if (op == "restoreLatest") {
      coordinator.restore_latest_checkpointed_state(
          {.error_if_none = step.value("errorIfNone", false), .allow_non_restored = true},
          [this](CompletedCheckpointPtr checkpoint) { note_restored(checkpoint.get()); });
    } else if (op == "restoreSavepoint") {
      restore_savepoint(step);
    } else if (op == "shutdown") {
      coordinator.shutdown(job_status_of(step.value("status", "FINISHED")));
    } else if (op != "hookDone") {  // too late: the hook was not waited for
      throw std::invalid_argument("unknown step: " + op);
    }
  }

  void compare_events(const std::string& where, const Json& expected) const {
    const auto split = [](const Json& events) {
      std::pair<Json, std::vector<Json>> result{Json::array(), {}};
      for (const Json& event : events) {
        if (is_unordered(event)) {
          result.second.push_back(event);
        } else {
          result.first.push_back(event);
        }
      }
      std::sort(result.second.begin(), result.second.end());
      return result;
    };
    const auto [flink, flink_set] = split(expected);
    const auto [ours, ours_set] = split(out_);
    expect_equal(where + "events", flink, ours);
    expect_equal(where + "events in any order", flink_set, ours_set);
  }

  void compare_state(const std::string& where, const Json& step) const {
    const CheckpointCoordinator110& coordinator = *setup_.coordinator;
    Json pending = Json::array();
    for (const auto& [id, checkpoint] : coordinator.pending_checkpoints()) {
      pending.push_back(
          {{"cp", id}, {"acked", checkpoint->acknowledged()}, {"missing", checkpoint->missing()}});
    }
    Json retained = Json::array();
    for (const auto& checkpoint : setup_.store.checkpoints()) retained.push_back(checkpoint->id);
    Json timers = Json::array();
    for (const auto& waiting : coordinator.timer().waiting()) {
      timers.push_back({{"what", name_of(waiting.kind)}, {"at", waiting.due.millis_truncated()}});
    }
    const CheckpointStatsCounts& counts = setup_.stats_tracker.counts();
    expect_equal(where + "now", step.at("now"), now());
    expect_equal(where + "pending", step.at("pending"), pending);
    expect_equal(where + "retained", step.at("retained"), retained);
    expect_equal(where + "queued", step.at("queued"),
                 coordinator.is_trigger_request_queued() ? 1 : 0);
    expect_equal(where + "periodicOn", step.at("periodicOn"), coordinator.is_periodic_scheduling());
    expect_equal(where + "periodicTimer", step.at("periodicTimer"),
                 coordinator.has_current_periodic_trigger());
    expect_equal(where + "remembered", step.at("remembered"),
                 coordinator.recent_pending_checkpoints());
    expect_equal(where + "failureCount", step.at("failureCount"),
                 setup_.failure_manager.continuous_failures());
    expect_equal(where + "nextId", step.at("nextId"), setup_.id_counter.get());
    expect_equal(where + "counts", step.at("counts"),
                 {{"restored", counts.restored},
                  {"total", counts.total},
                  {"inProgress", counts.in_progress},
                  {"completed", counts.completed},
                  {"failed", counts.failed}});
    expect_equal(where + "timers", step.at("timers"), timers);
  }

  const Json* expected_ = nullptr;
  Json out_;
  Json result_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  CoordinatorSetup110 setup_;
};

}  // namespace

bool is_coordinator_script(const Json& line) {
  static const std::set<std::string> kKnown = {
      "start",         "stop",     "advance",     "request",         "requests",
      "ack",           "decline",  "taskFailure", "abortPending",    "taskState",
      "restoreLatest", "shutdown", "hookDone",    "restoreSavepoint"};
  if (!line.contains("config")) return false;
  const auto all_known = [](const Json& steps) {
    return std::all_of(steps.begin(), steps.end(), [](const Json& step) {
      return kKnown.contains(step.value("op", "")) && !step.contains("shared");
    });
  };
  return all_known(line.at("steps")) && all_known(line.value("steps2", Json::array()));
}

std::string replay_coordinator_script(const Json& line) {
  try {
    Script first(line.at("config"));
    first.run(line.at("steps"));
    if (line.contains("steps2")) Script(line.at("config2"), &first).run(line.at("steps2"));
    return {};
  } catch (const Difference& difference) {
    return difference.what();
  }
}

std::string replay_failure_manager(const Json& line) {
  Journal journal;
  const Json& settings = line.contains("config") ? line.at("config") : line;
  NotingFailureManager manager(journal, settings.at("tolerable"));
  manager.task_of = [](ExecutionAttemptId attempt) {
    return static_cast<std::int64_t>(attempt.value);
  };
  Json calls;
  journal.note = [&calls](const std::string& event, CheckpointId, std::int64_t task,
                          const std::string&, bool) {
    if (event == "failJob") calls.push_back({{"call", event}});
    if (event == "failJobDueToTaskFailure") calls.push_back({{"call", event}, {"task", task}});
  };
  int number = 0;
  for (const Json& step : line.at("steps")) {
    calls = Json::array();
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "success") {
      manager.handle_checkpoint_success(step.at("cp"));
    } else if (op == "syncSavepointFailure") {
      manager.handle_synchronous_savepoint_failure(
          step.at("reason").is_null() ? CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE
                                      : reason_of(step.at("reason")));
    } else if (step.value("task", Json()).is_null()) {
      manager.handle_job_level_checkpoint_exception(reason_of(step.at("reason")), step.at("cp"));
    } else {
      manager.handle_task_level_checkpoint_exception(
          reason_of(step.at("reason")), step.at("cp"),
          ExecutionAttemptId{step.at("task").get<std::uint64_t>()});
    }
    if (calls != step.at("calls")) {
      return "step " + std::to_string(number) + "\n  Flink: " + step.at("calls").dump() +
             "\n  ours:  " + calls.dump();
    }
    ++number;
  }
  return {};
}

bool is_store_script(const Json& line) {
  return line.contains("config") &&
         std::all_of(line.at("steps").begin(), line.at("steps").end(), [](const Json& step) {
           const std::string op = step.value("op", "");
           return (op == "add" && step.contains("stored")) || op == "latest";
         });
}

std::string replay_store(const Json& line) {
  Journal journal;
  ManualWorld world;
  NotingStorage storage(journal, world);
  Json deleted = Json::array();
  journal.note = [&deleted](const std::string& event, CheckpointId id, std::int64_t,
                            const std::string&, bool) {
    if (event == "completedDisposed") deleted.push_back(id);
  };
  StandaloneCompletedCheckpointStore store(line.at("config").at("retained"), storage);
  try {
    for (const Json& step : line.at("steps")) {
      if (step.at("op") == "latest") {
        const auto latest =
            store.latest_checkpoint(line.at("config").value("preferCheckpoint", false));
        expect_equal("latest", step.at("returned"), latest == nullptr ? Json() : Json(latest->id));
        continue;
      }
      auto checkpoint = std::make_shared<CompletedCheckpoint>();
      checkpoint->id = step.at("cp");
      checkpoint->location = *storage.initialize_location_for_checkpoint(checkpoint->id);
      checkpoint->properties = step.at("kind") == "checkpoint"
                                   ? CheckpointProperties::for_checkpoint(
                                         CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION)
                                   : CheckpointProperties::for_savepoint();
      store.add_checkpoint(std::move(checkpoint));
      Json stored = Json::array();
      for (const auto& one : store.checkpoints()) stored.push_back(one->id);
      expect_equal("stored", step.at("stored"), stored);
      expect_equal("deleted", step.at("deleted"), deleted);
    }
    return {};
  } catch (const Difference& difference) {
    return difference.what();
  }
}

}  // namespace tailrace::engine::test
