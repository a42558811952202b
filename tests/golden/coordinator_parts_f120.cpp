// Replays golden/coordinator/{decider_f120,failure_manager,plan_f120}.jsonl and the rows of plans:
// what the coordinator of 1.20 is made of, each part alone.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "engine/checkpoint/f120/checkpoint_failure_manager_120.hpp"
#include "engine/checkpoint/f120/checkpoint_request_decider.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"
#include "engine/checkpoint/f120/default_checkpoint_plan_calculator.hpp"
#include "sim/base/assert.hpp"
#include "tests/engine/checkpoint/coordinator_replay_120.hpp"
#include "tests/golden/golden_registry.hpp"
#include "tests/golden/stats_rows.hpp"

namespace tailrace::golden {
namespace {

using engine::CheckpointFailureReason;
using engine::CheckpointProperties;
using engine::Duration;
using engine::Time;

CheckpointFailureReason reason_named(const std::string& name) {
  for (int i = 0; i < engine::kCheckpointFailureReasons; ++i) {
    const auto reason = static_cast<CheckpointFailureReason>(i);
    if (name == to_string(reason)) return reason;
  }
  throw MalformedCase("unknown reason: " + name);
}

CheckpointProperties properties_of(const std::string& kind) {
  constexpr auto kFormat = engine::SavepointFormatType::CANONICAL;
  if (kind == "savepoint") return CheckpointProperties::for_savepoint(true, kFormat);
  if (kind == "unforcedSavepoint") return CheckpointProperties::for_savepoint(false, kFormat);
  if (kind == "stop") return CheckpointProperties::for_sync_savepoint(true, false, kFormat);
  if (kind == "checkpoint" || kind == "periodic" || kind == "manual") {
    return CheckpointProperties::for_checkpoint(
        engine::CheckpointRetentionPolicy::NEVER_RETAIN_AFTER_TERMINATION);
  }
  throw MalformedCase("unknown kind: " + kind);
}

std::string step_name(std::size_t number) {
  return "step " + std::to_string(number);
}

void replay_decider(const Json& line) {
  const Json& config = line.at("config");
  Json rescheduled;
  engine::CheckpointRequestDecider decider(
      config.at("maxConcurrent").get<std::int32_t>(),
      Duration::millis(config.at("minPause").get<std::int64_t>()),
      [&rescheduled](Duration delay) { rescheduled = delay.millis_truncated(); },
      config.at("limit").get<std::size_t>());
  std::map<const engine::CheckpointTriggerRequest*, std::int64_t> numbers;  // only looked up
  Json failed;
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    failed = Json::array();
    rescheduled = Json();
    const engine::CheckpointRequestDecider::Situation situation{
        .triggering = step.at("triggering").get<bool>(),
        .pending = step.at("pending").get<std::size_t>(),
        .cleaning = step.at("cleaning").get<std::size_t>(),
        .now = Time{} + Duration::millis(step.at("now").get<std::int64_t>()),
        .last_completion =
            Time{} + Duration::millis(step.at("lastCompletion").get<std::int64_t>())};
    engine::CheckpointTriggerRequestPtr chosen;
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "submit") {
      const auto id = step.at("request").get<std::int64_t>();
      const auto& kind = step.at("kind").get_ref<const std::string&>();
      auto request = std::make_unique<engine::CheckpointTriggerRequest>();
      request->properties = properties_of(kind);
      request->periodic = kind == "periodic";
      request->created_ms = id;
      request->done = [&failed, id](engine::CheckpointResult result) {
        failed.push_back({{"request", id}, {"reason", to_string(result.error())}});
      };
      numbers[request.get()] = id;
      chosen = decider.choose_request_to_execute(std::move(request), situation);
    } else if (op == "drain") {
      chosen = decider.choose_queued_request_to_execute(situation);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    Json queue = Json::array();
    decider.for_each_queued([&](const engine::CheckpointTriggerRequest& request) {
      queue.push_back(numbers.at(&request));
    });
    const std::string where = step_name(number++);
    expect_equal(where + " chosen", step.at("chosen"),
                 chosen == nullptr ? Json() : Json(numbers.at(chosen.get())));
    expect_equal(where + " failed", step.at("failed"), failed);
    expect_equal(where + " rescheduled", step.at("rescheduled"), rescheduled);
    expect_equal(where + " queue", step.at("queue"), queue);
  }
}

class NotingFailJob final : public engine::FailJobCallback {
 public:
  void fail_job(std::string_view) override { calls.push_back({{"call", "failJob"}}); }
  void fail_job_due_to_task_failure(std::string_view, engine::ExecutionAttemptId attempt) override {
    calls.push_back({{"call", "failJobDueToTaskFailure"}, {"task", attempt.value}});
  }
  Json calls;
};

void replay_failure_manager(const Json& line) {
  const Json& settings = line.contains("config") ? line.at("config") : line;
  NotingFailJob job;
  engine::CheckpointFailureManager120 manager(settings.at("tolerable").get<std::int32_t>(), job);
  std::size_t number = 0;
  for (const Json& step : line.at("steps")) {
    job.calls = Json::array();
    const Json& cp = step.at("cp");
    const engine::CheckpointId id =
        cp.is_null() ? engine::kNoCheckpoint : cp.get<engine::CheckpointId>();
    const auto& op = step.at("op").get_ref<const std::string&>();
    if (op == "success") {
      manager.handle_checkpoint_success(id);
    } else if (op == "failure") {
      std::optional<engine::ExecutionAttemptId> attempt;
      if (!step.at("task").is_null()) {
        attempt = engine::ExecutionAttemptId{step.at("task").get<std::uint64_t>()};
      }
      manager.handle_checkpoint_exception(properties_of(step.at("kind")),
                                          reason_named(step.at("reason")), id, attempt);
    } else {
      throw MalformedCase("unknown step: " + op);
    }
    expect_equal(step_name(number++), step.at("calls"), job.calls);
  }
}

class FailureManagerReplayer final : public Replayer {
 public:
  // The second line lists the reasons.
  [[nodiscard]] bool is_preamble(const Json& line) override {
    return line.contains("meta") || line.contains("reasons");
  }
  void replay(const Json& line) override { replay_failure_manager(line); }
};

// A subtask that only has a state.
class PlannedTask final : public engine::ExecutionVertexAccess {
 public:
  PlannedTask(const engine::JobVertex& vertex, std::int32_t subtask, engine::ExecutionState state)
      : vertex_(vertex), subtask_(subtask), state_(state) {}

  [[nodiscard]] engine::JobVertexId job_vertex_id() const override { return vertex_.id; }
  [[nodiscard]] std::int32_t vertex_index() const override { return vertex_.index; }
  [[nodiscard]] std::int32_t subtask() const override { return subtask_; }
  [[nodiscard]] std::int32_t parallelism() const override { return vertex_.parallelism; }
  [[nodiscard]] std::int32_t max_parallelism() const override { return vertex_.max_parallelism; }
  [[nodiscard]] const std::vector<engine::OperatorId>& operator_ids() const override {
    return vertex_.operator_ids_tail_first;
  }
  [[nodiscard]] std::optional<engine::ExecutionAttemptId> current_attempt() const override {
    return engine::ExecutionAttemptId{1};
  }
  [[nodiscard]] std::int32_t attempt_number() const override { return 0; }
  [[nodiscard]] engine::ExecutionState state() const override { return state_; }
  void trigger_checkpoint(const engine::CheckpointMetaData&, const engine::CheckpointOptions&, bool,
                          engine::TriggerAnswered) override {}
  void notify_checkpoint_complete(const engine::CheckpointMetaData&,
                                  engine::CheckpointId) override {}
  void notify_checkpoint_aborted(const engine::CheckpointMetaData&, engine::CheckpointId) override {
  }

 private:
  const engine::JobVertex& vertex_;
  std::int32_t subtask_;
  engine::ExecutionState state_;
};

engine::ExecutionState state_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(engine::ExecutionState::INITIALIZING); ++i) {
    const auto state = static_cast<engine::ExecutionState>(i);
    if (name == to_string(state)) return state;
  }
  throw MalformedCase("unknown state: " + name);
}

void replay_plan(const Json& line) {
  const Json& plan = line.at("plan");
  const Json& vertices = plan.at("vertices");
  // The graph has its vertices in Flink's order; `numbers` leads back to the recording's.
  const auto numbers = plan.at("topological").get<std::vector<std::int32_t>>();
  std::vector<std::int32_t> index(numbers.size());
  engine::JobGraph graph;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    engine::JobVertex vertex;
    vertex.index = static_cast<std::int32_t>(i);
    vertex.parallelism =
        vertices.at(static_cast<std::size_t>(numbers[i])).at("parallelism").get<std::int32_t>();
    index.at(static_cast<std::size_t>(numbers[i])) = vertex.index;
    graph.vertices.push_back(std::move(vertex));
  }
  for (const Json& edge : plan.at("edges")) {
    engine::JobEdge made;
    made.source_vertex = index.at(edge.at("from").get<std::size_t>());
    made.target_vertex = index.at(edge.at("to").get<std::size_t>());
    made.pattern = edge.at("pattern") == "POINTWISE" ? engine::DistributionPattern::POINTWISE
                                                     : engine::DistributionPattern::ALL_TO_ALL;
    graph.vertices[static_cast<std::size_t>(made.target_vertex)].inputs.push_back(made);
  }
  std::vector<std::unique_ptr<PlannedTask>> owned;
  std::vector<engine::ExecutionVertexAccess*> tasks;
  for (const engine::JobVertex& vertex : graph.vertices) {
    const Json& recorded =
        vertices.at(static_cast<std::size_t>(numbers[static_cast<std::size_t>(vertex.index)]));
    const auto finished = recorded.at("finished").get<std::vector<std::int32_t>>();
    for (std::int32_t i = 0; i < vertex.parallelism; ++i) {
      auto state = engine::ExecutionState::RUNNING;
      for (const std::int32_t subtask : finished) {
        if (subtask == i) state = engine::ExecutionState::FINISHED;
      }
      const std::string key = "state" + std::to_string(i);
      if (recorded.contains(key)) state = state_named(recorded.at(key));
      owned.push_back(std::make_unique<PlannedTask>(vertex, i, state));
      tasks.push_back(owned.back().get());
    }
  }
  const engine::DefaultCheckpointPlanCalculator calculator(graph, tasks,
                                                           plan.at("afterFinish").get<bool>());
  const auto result = calculator.calculate_checkpoint_plan();
  if (!result.ok() || plan.contains("error")) {
    expect_equal("error", plan.value("error", Json()),
                 result.ok() ? Json() : Json(to_string(result.error())));
    return;
  }
  const auto number_of = [&numbers](std::int32_t vertex) {
    return numbers[static_cast<std::size_t>(vertex)];
  };
  const auto names = [&](const std::vector<engine::ExecutionVertexAccess*>& list) {
    Json found = Json::array();
    for (const engine::ExecutionVertexAccess* task : list) {
      found.push_back(std::to_string(number_of(task->vertex_index())) + "." +
                      std::to_string(task->subtask()));
    }
    return found;
  };
  const engine::CheckpointPlan& found = result.value();
  expect_equal("trigger", plan.at("trigger"), names(found.tasks_to_trigger));
  expect_equal("wait", plan.at("wait"), names(found.tasks_to_wait_for));
  expect_equal("commit", plan.at("commit"), names(found.tasks_to_commit_to));
  expect_equal("finished", plan.at("finished"), names(found.finished_tasks));
  Json fully = Json::array();
  for (const std::int32_t vertex : found.fully_finished_vertices)
    fully.push_back(number_of(vertex));
  expect_equal("fullyFinished", plan.at("fullyFinished"), fully);
}

void replay_coordinator(const Json& line) {
  if (!engine::test::is_coordinator_script_120(line)) throw MalformedCase("not read yet");
  const std::string difference = engine::test::replay_coordinator_script_120(line);
  if (!difference.empty()) throw Difference("case", "no difference", difference);
}

// A setting that the coordinator's configuration accepts or not.
void replay_configuration(const Json& line) {
  const Json& step = line.at("steps").front();
  const auto value = step.at("value").get<std::int64_t>();
  const auto& what = step.at("what").get_ref<const std::string&>();
  engine::CheckpointCoordinatorConfiguration120 configuration;
  bool rejected = false;
  if (what == "interval") {
    configuration.interval = Duration::millis(value);
  } else if (what == "timeout") {
    configuration.timeout = Duration::millis(value);
  } else if (what == "minPause") {
    configuration.min_pause = Duration::millis(value);
  } else if (what == "maxConcurrent") {
    configuration.max_concurrent = static_cast<std::int32_t>(value);
  } else if (what == "unalignedConcurrent") {
    configuration.unaligned = true;
    configuration.max_concurrent = static_cast<std::int32_t>(value);
  } else if (what == "backlogInterval") {
    configuration.interval_during_backlog = Duration::millis(value);
  } else if (what == "tolerable") {
    NotingFailJob job;
    try {
      const engine::CheckpointFailureManager120 manager(static_cast<std::int32_t>(value), job);
    } catch (const base::InvariantViolation&) {
      rejected = true;
    }
  } else {
    throw MalformedCase("unknown setting: " + what);
  }
  rejected = rejected || configuration.problem().has_value();
  for (const Json& check : line.at("checks")) {
    if (check.at("what") == "thrown") {
      expect_equal("thrown", !check.at("value").is_null(), rejected);
    }
  }
}

// Rows of a table are scripts of several kinds.
void replay_row(const Json& line) {
  if (line.contains("plan")) return replay_plan(line);
  if (is_direct_row(line)) return replay_direct_row(line, engine::kCheckpointStats120);
  const Json& steps = line.at("steps");
  if (!steps.empty() && steps.front().value("op", "") == "configure") {
    replay_configuration(line);
  } else if (!steps.empty() && steps.front().contains("calls")) {
    replay_failure_manager(line);
  } else if (!steps.empty() &&
             (steps.front().at("op") == "submit" || steps.front().at("op") == "drain")) {
    replay_decider(line);
  } else {
    replay_coordinator(line);
  }
}

const Registration kRows1("rows_coordinator/rows_10_1_f120.jsonl", &replay_row);
const Registration kRows2("rows_coordinator/rows_10_2_f120.jsonl", &replay_row);
const Registration kRows4("rows_coordinator/rows_10_4_f120.jsonl", &replay_row);
const Registration kRows6("rows_coordinator/rows_10_6_f120.jsonl", &replay_row);
const Registration kRows8("rows_coordinator/rows_10_8_f120.jsonl", &replay_row);
const Registration kCoordinator("coordinator/coordinator.jsonl", &replay_coordinator);
const Registration kDecider("coordinator/decider_f120.jsonl", &replay_decider);
const Registration kPlan("coordinator/plan_f120.jsonl", &replay_plan);
const Registration kFailureManager120("coordinator/failure_manager.jsonl", [] {
  return std::unique_ptr<Replayer>(std::make_unique<FailureManagerReplayer>());
});

}  // namespace
}  // namespace tailrace::golden
