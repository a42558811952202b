#include "tests/engine/checkpoint/coordinator_replay_120.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoints.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_setup_120.hpp"

namespace tailrace::engine::test {
namespace {

using Json = nlohmann::json;

struct Difference120 : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect_same(const std::string& where, const Json& expected, const Json& found) {
  if (expected == found) return;
  throw Difference120(where + "\n  Flink: " + expected.dump() + "\n  ours:  " + found.dump());
}

template <typename Enum>
Enum named(const std::string& name, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    if (name == to_string(value)) return value;
  }
  throw std::invalid_argument("unknown name: " + name);
}

CheckpointFailureReason reason_named(const std::string& name) {
  return named(name, CheckpointFailureReason::TRIGGER_CHECKPOINT_FAILURE);
}

// Of what Flink calls a raw error, which has no reason.
Json name_or_null(CheckpointFailureReason reason) {
  return reason == CheckpointFailureReason::FINALIZE_CHECKPOINT_FAILURE ? Json()
                                                                        : Json(to_string(reason));
}

CheckpointRetentionPolicy retention_named(const std::string& name) {
  if (name == "RETAIN_ON_FAILURE") return CheckpointRetentionPolicy::RETAIN_ON_FAILURE;
  if (name == "RETAIN_ON_CANCELLATION") return CheckpointRetentionPolicy::RETAIN_ON_CANCELLATION;
  return CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION;
}

// Flink's toString of a snapshot type.
const char* type_name(CheckpointType type) {
  switch (type) {
    case CheckpointType::CHECKPOINT:
      return "Checkpoint";
    case CheckpointType::FULL_CHECKPOINT:
      return "Full Checkpoint";
    case CheckpointType::SAVEPOINT:
      return "Savepoint";
    case CheckpointType::SAVEPOINT_SUSPEND:
      return "Suspend Savepoint";
    case CheckpointType::SAVEPOINT_TERMINATE:
      return "Terminate Savepoint";
    case CheckpointType::SYNC_SAVEPOINT:
      break;
  }
  return "?";
}

const char* timer_name(ScheduledTaskKind kind) {
  return kind == ScheduledTaskKind::ScheduledTrigger ? "ScheduledTrigger" : "CheckpointCanceller";
}

// In Flink another thread does it, or the order of a hash map decides.
bool in_any_order(const Json& event) {
  const auto& kind = event.at("e").get_ref<const std::string&>();
  return kind == "discardState" || kind == "discardShared" || kind == "locationDisposed" ||
         kind == "completedDisposed" || kind.starts_with("hook");
}

// What a script writes down, wherever it happens.
class Notes {
 public:
  explicit Notes(const Clock& clock) : clock_(clock) {}
  void add(Json event) {
    event["t"] = clock_.now().millis_truncated();
    out.push_back(std::move(event));
  }
  Json out = Json::array();

 private:
  const Clock& clock_;
};

class ScriptedHook final : public AsynchronousMasterHook {
 public:
  ScriptedHook(Notes& notes, std::string id, std::string mode)
      : notes_(notes), id_(std::move(id)), mode_(std::move(mode)) {}

  [[nodiscard]] const std::string& identifier() const override { return id_; }
  void trigger_checkpoint(CheckpointId id, std::int64_t,
                          base::InplaceFunction<void(Answer)> answered) override {
    notes_.add({{"e", "hookTriggered"}, {"cp", id}, {"hook", id_}});
    if (mode_ == "null") return answered(std::optional<MasterState>());
    if (mode_ == "never") {
      waiting_ = std::move(answered);
      return;
    }
    if (mode_ != "ok") return answered(MasterHookFailure{});
    answered(state());
  }
  void restore_checkpoint(CheckpointId id, const MasterState* state) override {
    Json data;
    if (state != nullptr) {
      std::string text;
      for (const std::byte byte : state->bytes) text += static_cast<char>(byte);
      data = text;
    }
    notes_.add({{"e", "hookRestored"}, {"cp", id}, {"hook", id_}, {"data", data}});
  }
  void reset() override { notes_.add({{"e", "hookReset"}, {"hook", id_}}); }
  void close() override { notes_.add({{"e", "hookClosed"}, {"hook", id_}}); }

  void keep_promise() {
    if (!waiting_) return;
    base::InplaceFunction<void(Answer)> once = std::move(waiting_);
    waiting_.reset();
    once(state());
  }

 private:
  [[nodiscard]] std::optional<MasterState> state() const {
    MasterState state{1, id_, {}};
    const std::string text = "state-" + id_;
    for (const char c : text) state.bytes.push_back(static_cast<std::byte>(c));
    return state;
  }

  Notes& notes_;
  std::string id_;
  std::string mode_;
  base::InplaceFunction<void(Answer)> waiting_;
};

class ScriptedCoordinator final : public OperatorCoordinatorCheckpointContext {
 public:
  ScriptedCoordinator(Notes& notes, std::int64_t number, OperatorId id, std::int32_t parallelism,
                      bool fails)
      : notes_(notes), number_(number), id_(id), parallelism_(parallelism), fails_(fails) {}

  [[nodiscard]] OperatorId operator_id() const override { return id_; }
  [[nodiscard]] std::int32_t current_parallelism() const override { return parallelism_; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return 32768; }
  void checkpoint_coordinator(CheckpointId id,
                              base::InplaceFunction<void(Snapshot)> done) override {
    note("coordinatorTriggered", id);
    done(fails_ ? Snapshot() : Snapshot(std::vector<std::byte>(1)));
  }
  void abort_current_triggering() override {
    notes_.add({{"e", "coordinatorAbandons"}, {"coordinator", number_}});
  }
  void notify_checkpoint_complete(CheckpointId id) override { note("coordinatorComplete", id); }
  void notify_checkpoint_aborted(CheckpointId id) override { note("coordinatorAborted", id); }
  void reset_to_checkpoint(CheckpointId id, const std::vector<std::byte>*) override {
    note("coordinatorReset", id);
  }

 private:
  void note(const char* event, CheckpointId id) {
    notes_.add({{"e", event}, {"coordinator", number_}, {"cp", id}});
  }

  Notes& notes_;
  std::int64_t number_;
  OperatorId id_;
  std::int32_t parallelism_;
  bool fails_;
};

SetupOptions120 options_of_120(const Json& config, ScheduleListener* listener) {
  SetupOptions120 options;
  options.sources = config.at("sources");
  options.others = config.at("others");
  options.tolerable = config.at("tolerable");
  options.retained = config.at("retained");
  options.after_finish = config.at("afterFinish");
  auto& to = options.configuration;
  to.job = JobId{1};
  if (!config.at("interval").is_null()) to.interval = Duration::millis(config.at("interval"));
  if (config.contains("backlogInterval") && !config.at("backlogInterval").is_null()) {
    to.interval_during_backlog = Duration::millis(config.at("backlogInterval"));
  }
  to.timeout = Duration::millis(config.at("timeout"));
  to.min_pause = Duration::millis(config.at("minPause"));
  to.max_concurrent = config.at("maxConcurrent");
  to.exactly_once = config.at("exactlyOnce");
  to.unaligned = config.at("unaligned");
  to.aligned_timeout = Duration::millis(config.at("alignmentTimeout"));
  to.retention = retention_named(config.value("retention", ""));
  options.schedule_listener = listener;
  return options;
}

// What a coordinator leaves to a later one of the same row.
struct Legacy {
  std::map<CheckpointId, std::vector<std::byte>> written;  // `_metadata` files by id
  std::deque<CompletedCheckpointPtr> stored;               // oldest first
};

class Script120 final : private ScheduleListener,
                        private NotingVertex120::Listener,
                        private NotingFailureManager120::Listener {
 public:
  Script120(const Json& config, Legacy& legacy)
      : legacy_(legacy), notes_(clock_), setup_(make_setup(config)) {
    setup_->world.start_at(Time{} + Duration::millis(config.at("start")));
    clock_.world = &setup_->world;
    setup_->journal.note = [this](const std::string& event, CheckpointId id, std::int64_t,
                                  const std::string& detail, bool) {
      Json line{{"e", event}};
      if (id != kNoCheckpoint) line["cp"] = id;
      if (event == "discardState") line["state"] = detail;
      if (event == "discardShared") line["file"] = detail;
      notes_.add(std::move(line));
    };
    // Flink tells the statistics before it restores anything: what follows may fail.
    setup_->stats_tracker.on_restored = [this](CheckpointId id) {
      notes_.add({{"e", "restored"}, {"cp", id}});
    };
    setup_->draws.next = [this](std::int64_t low, std::int64_t high) { return draw(low, high); };
    const Json id_fails = config.value("idFails", Json::object());
    for (const auto& [call, kind] : id_fails.items()) {
      setup_->id_counter.failing_calls[std::stoi(call)] = kind == "io";
    }
    const Json store_fails = config.value("storeFails", Json::object());
    for (const auto& [call, kind] : store_fails.items()) {
      setup_->store.failing_calls[std::stoi(call)] =
          kind == "uncertain" ? CompletedCheckpointStore120::Added::UNCERTAIN
                              : CompletedCheckpointStore120::Added::FAILED;
    }
    for (const Json& id : config.value("metadataFails", Json::array())) {
      setup_->storage.failing.insert(id.get<CheckpointId>());
    }
    for (const Json& task : config.value("rpcFails", Json::array())) {
      setup_->vertices.at(task.get<std::size_t>())->trigger_fails = true;
    }
    for (const CompletedCheckpointPtr& checkpoint : legacy_.stored) {
      setup_->storage.initialize_location_for_checkpoint(checkpoint->id);
      setup_->store.add(
          checkpoint, [] { return CheckpointsCleaner::PostCleanup{}; },
          [](const CompletedCheckpointStore120::Outcome&) {});
    }
    const Json hooks = config.value("hooks", Json::object());
    for (const auto& [id, mode] : hooks.items()) {
      hooks_.push_back(std::make_unique<ScriptedHook>(notes_, id, mode.get<std::string>()));
      setup_->coordinator->add_master_hook(*hooks_.back());
    }
  }

  void run(const Json& steps) {
    int number = 0;
    for (const Json& step : steps) {
      const std::string where =
          "step " + std::to_string(number++) + " (" + step.at("op").get<std::string>() + "): ";
      expected_ = &step.at("out");
      notes_.out = Json::array();
      result_ = Json::object();
      bool threw = false;
      const auto attempt = [&step, &threw](const auto& action) {
        try {
          action();
        } catch (const base::InvariantViolation&) {
          if (!step.contains("exception")) throw;
          threw = true;
        }
      };
      // What is due runs after a call that threw as well.
      attempt([this, &step] { play(step); });
      attempt([this] { setup_->world.run_due(); });
      if (result_.value("threw", false)) threw = true;
      expect_same(where + "exception", step.contains("exception"), threw);
      if (step.contains("returned")) {
        expect_same(where + "returned", step.at("returned"), result_.value("returned", Json()));
      }
      // Recordings without these members say nothing of discarding either.
      compare_events(where, step.at("out"), step.contains("counts"));
      compare_state(where, step);
    }
  }

  // What was written and stored outlives this coordinator.
  void leave_behind() {
    keep_written();
    legacy_.stored = setup_->store.checkpoints();
  }

  // Claims about the statistics of the checkpoint that the last step acknowledged (C-120).
  void compare_statistics(const Json& checks, const Json& last) const {
    const auto claimed = [&checks](const char* what) {
      const auto found = std::find_if(checks.begin(), checks.end(), [what](const Json& check) {
        return check.at("what") == what;
      });
      return found == checks.end() ? Json() : *found;
    };
    if (claimed("the entry is there").is_null()) return;
    const CheckpointStatsPtr stats =
        setup_->stats_tracker.history().checkpoint_by_id(last.at("cp"));
    const NotingVertex120& task = *setup_->vertices.at(last.at("task").get<std::size_t>());
    const TaskStateStats& vertex = stats->tasks()[static_cast<std::size_t>(task.vertex_index())];
    const SubtaskStateStats& entry = vertex.subtasks()[static_cast<std::size_t>(task.subtask())];
    expect_same("the entry is there", true, entry.report == SubtaskReport::INCOMPLETE);
    expect_same("acked count unchanged", claimed("acked count unchanged").at("value"),
                stats->number_of_acknowledged_subtasks());
    expect_same("status", claimed("status").at("value"), to_string(stats->status()));
  }

 private:
  void keep_written() {
    for (const auto& [id, bytes] : setup_->storage.written_by_id) legacy_.written[id] = bytes;
  }

  struct LateClock final : Clock {
    [[nodiscard]] Time now() const override { return world->now(); }
    const ManualWorld* world = nullptr;
  };

  std::unique_ptr<CoordinatorSetup120> make_setup(const Json& config) {
    std::vector<OperatorCoordinatorCheckpointContext*> contexts;
    std::int64_t number = 0;
    for (const Json& kind : config.value("coordinators", Json::array())) {
      OperatorId id;
      const bool of_source = kind == "ok@v";
      id.bytes[15] = static_cast<std::uint8_t>(of_source ? 1 : 100 + number);
      const std::int32_t parallelism = of_source ? config.at("sources").get<std::int32_t>() : 1;
      coordinators_.push_back(std::make_unique<ScriptedCoordinator>(notes_, number++, id,
                                                                    parallelism, kind == "fails"));
      contexts.push_back(coordinators_.back().get());
    }
    NotingVertex120::Listener& tasks = *this;
    NotingFailureManager120::Listener& failures = *this;
    return std::make_unique<CoordinatorSetup120>(options_of_120(config, this), tasks, failures,
                                                 std::move(contexts));
  }

  // ScheduleListener
  void on_schedule(ScheduledTaskKind kind, Duration delay, std::optional<Duration>) override {
    notes_.add(
        {{"e", "schedule"}, {"what", timer_name(kind)}, {"delay", delay.millis_truncated()}});
  }
  // NotingVertex120::Listener
  void on_trigger(std::int32_t task, const CheckpointMetaData& meta,
                  const CheckpointOptions& options) override {
    const bool times_out = options.aligned_checkpoint_timeout < Duration::max();
    notes_.add(
        {{"e", "trigger"},
         {"cp", meta.id},
         {"task", task},
         {"type", type_name(options.type)},
         {"alignment", to_string(options.alignment)},
         {"alignmentTimeout",
          times_out ? Json(options.aligned_checkpoint_timeout.millis_truncated()) : Json()}});
  }
  void on_complete(std::int32_t task, CheckpointId id, CheckpointId last_subsumed) override {
    notes_.add(
        {{"e", "notifyComplete"}, {"cp", id}, {"task", task}, {"lastSubsumed", last_subsumed}});
  }
  void on_aborted(std::int32_t task, CheckpointId id, CheckpointId latest) override {
    notes_.add({{"e", "notifyAborted"}, {"cp", id}, {"task", task}, {"latestCompleted", latest}});
  }
  // NotingFailureManager120::Listener
  void on_completed(CheckpointId id) override { notes_.add({{"e", "completed"}, {"cp", id}}); }
  void on_failed(const CheckpointProperties& properties, CheckpointFailureReason reason,
                 CheckpointId id, std::optional<ExecutionAttemptId> attempt) override {
    notes_.add({{"e", "failed"},
                {"cp", id == kNoCheckpoint ? Json() : Json(id)},
                {"reason", to_string(reason)},
                {"task", attempt.has_value() ? Json(setup_->task_of(*attempt)) : Json()},
                {"savepoint", properties.is_savepoint()}});
  }
  void on_fail_job() override { notes_.add({{"e", "failJob"}}); }
  void on_fail_job_due_to_task_failure(ExecutionAttemptId attempt) override {
    notes_.add({{"e", "failJobDueToTaskFailure"}, {"task", setup_->task_of(attempt)}});
  }

  // The draws are input: the delay of the event that comes next in the recording.
  std::int64_t draw(std::int64_t low, std::int64_t high) const {
    const auto done = std::count_if(notes_.out.begin(), notes_.out.end(),
                                    [](const Json& event) { return !in_any_order(event); });
    std::int64_t at = 0;
    for (const Json& event : *expected_) {
      if (in_any_order(event) || at++ != done) continue;
      if (event.at("e") != "schedule" || event.at("what") != "ScheduledTrigger") break;
      const std::int64_t delay = event.at("delay");
      if (delay < low || delay > high) throw Difference120("a delay out of the range of the draw");
      return delay;
    }
    throw Difference120("a draw that Flink did not make; events so far: " + notes_.out.dump());
  }

  CheckpointDone done_of(const Json& request) {
    return [this, number = request.get<std::int64_t>()](CheckpointResult result) {
      if (result.ok()) {
        notes_.add({{"e", "requestDone"}, {"request", number}, {"cp", result.value()->id}});
      } else {
        notes_.add({{"e", "requestFailed"},
                    {"request", number},
                    {"reason", name_or_null(result.error())}});
      }
    };
  }

  void request(const Json& step) {
    const auto& kind = step.at("kind").get_ref<const std::string&>();
    CheckpointDone done = done_of(step.at("request"));
    CheckpointCoordinator120& coordinator = *setup_->coordinator;
    constexpr auto kFormat = SavepointFormatType::CANONICAL;
    if (kind == "savepoint") {
      coordinator.trigger_savepoint("savepoints", kFormat, std::move(done));
    } else if (kind == "stopWithSavepoint" || kind == "terminateWithSavepoint") {
      coordinator.trigger_synchronous_savepoint("savepoints", kind == "terminateWithSavepoint",
                                                kFormat, std::move(done));
    } else if (kind == "checkpoint" || kind == "periodic") {
      coordinator.trigger_checkpoint(kind == "periodic", std::move(done));
    } else if (kind == "CONFIGURED") {
      coordinator.trigger_checkpoint_of_type(RequestedCheckpointType::CONFIGURED, std::move(done));
    } else if (kind == "FULL") {
      coordinator.trigger_checkpoint_of_type(RequestedCheckpointType::FULL, std::move(done));
    } else if (kind == "INCREMENTAL") {
      coordinator.trigger_checkpoint_of_type(RequestedCheckpointType::INCREMENTAL, std::move(done));
    } else if (kind == "null") {
      result_["threw"] = true;  // our type has no null
    } else {
      throw std::invalid_argument("unknown kind of request: " + kind);
    }
  }

  void acknowledge(const Json& step) {
    const std::int64_t task = step.at("task");
    AcknowledgeCheckpoint message;
    message.job = JobId{step.value("otherJob", false) ? 2U : 1U};
    message.attempt = setup_->attempt_of(task);
    message.checkpoint_id = step.at("cp");
    const OperatorId op =
        setup_->vertices.at(static_cast<std::size_t>(std::max<std::int64_t>(task, 0)))
            ->operator_ids()
            .front();
    if (step.contains("state")) {
      const std::string name = step.at("state");
      if (name.empty()) {
        auto snapshot = std::make_shared<TaskStateSnapshot>();
        snapshot->operators[op];
        message.state = snapshot;
      } else {
        auto snapshot = std::make_shared<TaskStateSnapshot>(*state_in_file(op, name));
        if (step.value("union", false)) {
          snapshot->operators[op].managed_operator.front().states.front().second.mode =
              DistributionMode::UNION;
        }
        message.state = snapshot;
      }
    }
    if (step.contains("shared")) {
      auto snapshot = message.state == nullptr
                          ? std::make_shared<TaskStateSnapshot>()
                          : std::make_shared<TaskStateSnapshot>(*message.state);
      std::vector<SharedFile> files;
      for (const Json& file : step.at("shared")) {
        files.push_back({file.at("file"), file.value("placeholder", false)});
      }
      add_shared_state(*snapshot, op, task, message.checkpoint_id, files);
      message.state = std::move(snapshot);
    }
    setup_->coordinator->receive_acknowledge_message(
        std::move(message), [this](AcknowledgeOutcome outcome) {
          result_["returned"] = outcome.known;
          result_["threw"] = outcome.finalize_failed || outcome.registration_failed;
        });
  }

  void change_task(std::int32_t task, const std::string& state) {
    NotingVertex120& vertex = *setup_->vertices.at(static_cast<std::size_t>(task));
    vertex.has_attempt = state != "none";
    if (state == "newAttempt") {
      vertex.set_attempt(setup_->new_attempt(task));
      vertex.execution_state = ExecutionState::RUNNING;
    } else if (state != "none") {
      vertex.execution_state = named(state, ExecutionState::INITIALIZING);
    }
  }

  void restored(const CompletedCheckpointPtr& checkpoint) {
    result_["returned"] = checkpoint != nullptr;
  }

  void restore_savepoint(const Json& step) {
    const CheckpointId id = step.at("cp");
    keep_written();
    Checkpoints::OperatorToVertex operators;
    for (const auto& vertex : setup_->vertices) {
      for (const OperatorId& op : vertex->operator_ids()) operators[op] = {32768, false};
    }
    const bool allow = step.at("allowNonRestored");
    auto loaded = Checkpoints::load_and_validate_checkpoint(
        JobId{1}, operators, legacy_.written.at(id), "chk-" + std::to_string(id), allow);
    if (!loaded.ok()) {
      result_["threw"] = true;
      return;
    }
    setup_->storage.initialize_location_for_checkpoint(id);
    const std::string mode = step.value("mode", "NO_CLAIM");
    setup_->coordinator->restore_savepoint(
        loaded.value(),
        mode == "CLAIM"    ? ClaimMode::CLAIM
        : mode == "LEGACY" ? ClaimMode::LEGACY
                           : ClaimMode::NO_CLAIM,
        allow, [this](CompletedCheckpointPtr checkpoint) { restored(checkpoint); });
  }

  void restore_latest(RestoreScope scope) {
    setup_->coordinator->restore_latest_checkpointed_state(
        {.scope = scope, .error_if_none = false, .allow_non_restored = scope == RestoreScope::ALL},
        [this](CompletedCheckpointPtr checkpoint) { restored(checkpoint); });
  }

  void play(const Json& step) {
    const auto& op = step.at("op").get_ref<const std::string&>();
    CheckpointCoordinator120& coordinator = *setup_->coordinator;
    if (op == "start") {
      coordinator.start_checkpoint_scheduler();
    } else if (op == "stop") {
      coordinator.stop_checkpoint_scheduler();
    } else if (op == "advance") {
      setup_->world.advance(Duration::millis(step.at("ms")));
    } else if (op == "request") {
      request(step);
    } else if (op == "requests") {
      for (const Json& one : step.at("requests")) request(one);
    } else if (op == "ack") {
      acknowledge(step);
    } else if (op == "decline") {
      coordinator.receive_decline_message({JobId{step.value("otherJob", false) ? 2U : 1U},
                                           setup_->attempt_of(step.at("task")), step.at("cp"),
                                           reason_named(step.at("reason"))});
    } else if (op == "taskFailure") {
      coordinator.fail_unacknowledged_pending_checkpoints_for(setup_->attempt_of(step.at("task")));
    } else if (op == "abortPending") {
      coordinator.abort_pending_checkpoints(reason_named(step.at("reason")));
    } else if (op == "abortObject") {
      coordinator.abort_object(coordinator.pending_checkpoints().at(step.at("cp")),
                               reason_named(step.at("reason")));
    } else if (op == "taskState") {
      change_task(step.at("task"), step.at("state"));
    } else if (op == "finishTask") {
      change_task(step.at("task"), "FINISHED");
    } else if (op == "hookDone") {
      for (const auto& hook : hooks_) {
        if (step.at("hook") == hook->identifier()) hook->keep_promise();
      }
    } else if (op == "backlog") {
      OperatorId id;
      id.bytes[0] = static_cast<std::uint8_t>(
          step.at("operator").is_number() ? step.at("operator").get<int>() : 1);
      coordinator.set_is_processing_backlog(id, step.at("on"));
    } else if (op == "restoreLatest") {
      restore_latest(RestoreScope::ALL);
    } else if (op == "restoreInitial") {
      restore_latest(RestoreScope::INITIAL);
    } else if (op == "restoreSavepoint") {
      restore_savepoint(step);
    } else if (op == "shutdown") {
      coordinator.shutdown(JobStatus::FINISHED);
    } else if (op == "shutdownStore") {
      setup_->store.shutdown(named(step.at("status"), JobStatus::SUSPENDED));
    } else {
      throw std::invalid_argument("unknown step: " + op);
    }
  }

  void compare_events(const std::string& where, const Json& expected, bool has_discards) const {
    const auto split = [](const Json& events) {
      std::pair<Json, std::vector<Json>> result{Json::array(), {}};
      for (const Json& event : events) {
        if (in_any_order(event)) {
          result.second.push_back(event);
        } else {
          result.first.push_back(event);
        }
      }
      std::sort(result.second.begin(), result.second.end());
      return result;
    };
    const auto [flink, flink_set] = split(expected);
    const auto [ours, ours_set] = split(notes_.out);
    expect_same(where + "events", flink, ours);
    if (has_discards) expect_same(where + "events in any order", flink_set, ours_set);
  }

  void compare_state(const std::string& where, const Json& step) const {
    const CheckpointCoordinator120& coordinator = *setup_->coordinator;
    Json pending = Json::array();
    for (const auto& [id, checkpoint] : coordinator.pending_checkpoints()) {
      pending.push_back(
          {{"cp", id}, {"acked", checkpoint->acknowledged()}, {"missing", checkpoint->missing()}});
    }
    Json retained = Json::array();
    for (const auto& checkpoint : setup_->store.checkpoints()) retained.push_back(checkpoint->id);
    expect_same(where + "now", step.at("now"), setup_->world.now().millis_truncated());
    expect_same(where + "pending", step.at("pending"), pending);
    expect_same(where + "retained", step.at("retained"), retained);
    expect_same(where + "queued", step.at("queued"), coordinator.queued_requests());
    expect_same(where + "triggering", step.at("triggering"), coordinator.is_triggering());
    expect_same(where + "periodicOn", step.at("periodicOn"), coordinator.is_periodic_scheduling());
    expect_same(where + "recentExpired", step.at("recentExpired"),
                coordinator.recent_expired_checkpoints());
    if (!step.contains("counts")) return;
    Json timers = Json::array();
    for (const auto& waiting : coordinator.timer().waiting()) {
      timers.push_back(
          {{"what", timer_name(waiting.kind)}, {"at", waiting.due.millis_truncated()}});
    }
    expect_same(where + "timers", step.at("timers"), timers);
    expect_same(where + "periodicTimer", step.at("periodicTimer"),
                coordinator.has_current_periodic_trigger());
    expect_same(where + "failureCount", step.at("failureCount"),
                setup_->failure_manager.continuous_failures());
    expect_same(where + "nextId", step.at("nextId"), setup_->id_counter.get());
    const CheckpointStatsCounts& counts = setup_->stats_tracker.counts();
    expect_same(where + "counts", step.at("counts"),
                {{"restored", counts.restored},
                 {"total", counts.total},
                 {"inProgress", counts.in_progress},
                 {"completed", counts.completed},
                 {"failed", counts.failed}});
  }

  Legacy& legacy_;
  LateClock clock_;
  Notes notes_;
  const Json* expected_ = nullptr;
  Json result_;
  std::vector<std::unique_ptr<ScriptedHook>> hooks_;
  std::vector<std::unique_ptr<ScriptedCoordinator>> coordinators_;
  std::unique_ptr<CoordinatorSetup120> setup_;
};

}  // namespace

bool is_coordinator_script_120(const Json& line) {
  static const std::set<std::string> kKnown = {
      "start",      "stop",          "advance",          "request",       "requests",
      "ack",        "decline",       "taskFailure",      "abortPending",  "taskState",
      "finishTask", "hookDone",      "backlog",          "restoreLatest", "restoreInitial",
      "shutdown",   "shutdownStore", "restoreSavepoint", "abortObject"};
  const auto all_known = [](const Json& steps) {
    return std::all_of(steps.begin(), steps.end(), [](const Json& step) {
      return kKnown.contains(step.value("op", "")) && step.contains("out");
    });
  };
  return line.contains("config") && line.at("config").contains("sources") &&
         all_known(line.at("steps")) && (!line.contains("steps2") || all_known(line.at("steps2")));
}

std::string replay_coordinator_script_120(const Json& line) {
  try {
    Legacy legacy;
    {
      Script120 first(line.at("config"), legacy);
      first.run(line.at("steps"));
      first.compare_statistics(line.value("checks", Json::array()), line.at("steps").back());
      first.leave_behind();
    }
    if (line.contains("steps2")) Script120(line.at("config2"), legacy).run(line.at("steps2"));
    return {};
  } catch (const Difference120& difference) {
    return difference.what();
  }
}

bool is_store_script_120(const Json& line) {
  const Json& steps = line.at("steps");
  return !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const Json& step) {
    return step.value("op", "") == "add" && step.contains("stored");
  });
}

std::string replay_store_120(const Json& line) {
  const auto properties_of = [](const std::string& kind) {
    constexpr auto kFormat = SavepointFormatType::CANONICAL;
    if (kind == "savepoint") return CheckpointProperties::for_savepoint(true, kFormat);
    if (kind == "stop") return CheckpointProperties::for_sync_savepoint(true, false, kFormat);
    if (kind == "checkpoint") {
      return CheckpointProperties::for_checkpoint(
          CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION);
    }
    throw std::invalid_argument("unknown kind: " + kind);
  };
  Json deleted = Json::array();
  CheckpointsCleaner cleaner([&deleted](CompletedCheckpointPtr checkpoint, auto done) {
    deleted.push_back(checkpoint->id);
    done();
  });
  SharedStateRegistry120 registry([](const StreamStateHandle&) {});
  StandaloneCompletedCheckpointStore120 store(line.at("config").at("retained"), registry, cleaner);
  const auto stored = [&store] {
    Json ids = Json::array();
    for (const CompletedCheckpointPtr& one : store.checkpoints()) ids.push_back(one->id);
    return ids;
  };
  try {
    int number = 0;
    for (const Json& step : line.at("steps")) {
      const std::string where = "step " + std::to_string(number++) + ": ";
      auto checkpoint = std::make_shared<CompletedCheckpoint>();
      checkpoint->id = step.at("cp");
      checkpoint->properties = properties_of(step.at("kind"));
      Json removed = stored();
      const CompletedCheckpointPtr last = store.add_checkpoint_and_subsume_oldest(
          std::move(checkpoint), [] { return CheckpointsCleaner::PostCleanup{}; });
      const Json left = stored();
      removed.erase(std::remove_if(removed.begin(), removed.end(),
                                   [&left](const Json& id) {
                                     return std::find(left.begin(), left.end(), id) != left.end();
                                   }),
                    removed.end());
      expect_same(where + "stored", step.at("stored"), left);
      expect_same(where + "removed", step.at("removed"), removed);
      expect_same(where + "returned", step.at("returned"),
                  last == nullptr ? Json() : Json(last->id));
      expect_same(where + "deleted", step.at("deleted"), deleted);
      expect_same(where + "being cleaned", 0, cleaner.checkpoints_to_clean());
    }
    return {};
  } catch (const Difference120& difference) {
    return difference.what();
  }
}

}  // namespace tailrace::engine::test
