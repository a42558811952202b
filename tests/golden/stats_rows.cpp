#include "tests/golden/stats_rows.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/graph/max_parallelism.hpp"
#include "engine/rescale/state_assignment_operation.hpp"

namespace tailrace::golden {
namespace {

using namespace engine;

const std::string& op_of(const Json& step) {
  return step.at("op").get_ref<const std::string&>();
}

// A setting that a recording gives in its title alone: the last number there.
std::int64_t last_number(const std::string& about) {
  auto end = about.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(about[end - 1])) == 0) --end;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(about[begin - 1])) != 0) --begin;
  if (begin == end) throw MalformedCase("no number in: " + about);
  return std::stoll(about.substr(begin, end - begin));
}

// Compares what is claimed of the row with what we found, by the claim's words.
void compare_claims(const Json& line, const std::map<std::string, Json>& found) {
  for (const Json& check : line.at("checks")) {
    const std::string what = check.at("what");
    const auto ours = found.find(what);
    if (ours == found.end()) throw MalformedCase("an unknown claim: " + what);
    expect_equal(what, check.at("value"), ours->second);
  }
}

// C-114: one vertex with one operator, whose state is of another maximum parallelism.
void replay_restore(const Json& line) {
  const Json& step = line.at("steps").at(0);
  const OperatorId id{{1}};
  const Json configured = step.value("configuredMaxParallelism", Json());
  VertexToRestore vertex;
  vertex.id = id;
  vertex.parallelism = step.at("newParallelism");
  vertex.max_parallelism_auto = configured.is_null();
  vertex.max_parallelism = configured.is_null() ? default_max_parallelism(vertex.parallelism)
                                                : configured.get<std::int32_t>();
  vertex.operator_ids = {id};
  std::map<OperatorId, OperatorState> states;
  OperatorState& state = states[id];
  state.id = id;
  state.parallelism = step.at("storedMaxParallelism");
  state.max_parallelism = step.at("storedMaxParallelism");
  // Without a single subtask's state there would be nothing to deal out at another parallelism.
  for (std::int32_t subtask = 0; subtask < state.parallelism; ++subtask) {
    state.subtasks[subtask] = {};
  }
  std::vector<VertexToRestore> vertices{std::move(vertex)};
  const auto assigned =
      StateAssignmentOperation{.restore_checkpoint_id = 1, .operator_states = states}.assign_states(
          vertices);
  const Json max_parallelism = assigned.ok() ? Json(vertices[0].max_parallelism) : Json(-1);
  compare_claims(line, {{"illegal state", !assigned.ok()},
                        {"thrown", assigned.ok() ? Json() : Json("IllegalStateException")},
                        {"max parallelism of the vertex after it", max_parallelism}});
}

// C-116.
void replay_history(const Json& line, const CheckpointStatsTraits& traits) {
  CheckpointStatsTracker tracker(traits, static_cast<std::int32_t>(last_number(line.at("about"))));
  const std::vector<StatsVertex> vertices = {{OperatorId{{1}}, 1}};
  for (const Json& step : line.at("steps")) {
    if (op_of(step) != "begin") throw MalformedCase("unknown step: " + op_of(step));
    tracker.report_pending_checkpoint(step.at("cp"), 0, CheckpointProperties{}, vertices);
  }
  Json newest = Json::array();
  for (const auto& stats : tracker.create_snapshot()->history) newest.push_back(stats->id());
  compare_claims(line, {{"newest first", newest}});
}

void compare_summary(const std::string& where, const Json& expected, const StatsSummary& summary) {
  expect_equal(where + "count", expected.at("count"), summary.count());
  expect_equal(where + "min", expected.at("min"), summary.minimum());
  expect_equal(where + "max", expected.at("max"), summary.maximum());
  expect_equal(where + "sum", expected.at("sum"), summary.sum());
  expect_equal(where + "avg", expected.at("avg"), summary.average());
}

// C-118.
void replay_summary(const Json& line) {
  StatsSummary summary;
  for (const Json& step : line.at("steps")) {
    if (op_of(step) == "empty") {
      compare_summary("empty: ", step, StatsSummary());
      continue;
    }
    if (op_of(step) != "add") throw MalformedCase("unknown step: " + op_of(step));
    summary.add(step.at("value"));
    compare_summary("add " + step.at("value").dump() + ": ", step, summary);
  }
  compare_claims(line, {{"count", summary.count()},
                        {"min", summary.minimum()},
                        {"max", summary.maximum()},
                        {"avg", summary.average()}});
}

// C-119.
void replay_vertex(const Json& line) {
  const std::int64_t trigger_timestamp = last_number(line.at("about"));
  std::int32_t subtasks = 1;
  for (const Json& step : line.at("steps")) {
    subtasks = std::max(subtasks, step.at("subtask").get<std::int32_t>() + 1);
  }
  TaskStateStats vertex({OperatorId{{1}}, subtasks});
  std::string reports;
  for (const Json& step : line.at("steps")) {
    SubtaskStateStats stats;
    stats.ack_timestamp = step.at("at");
    if (op_of(step) == "ack") {
      stats.report = SubtaskReport::COMPLETE;
    } else if (op_of(step) == "incomplete") {
      stats.report = SubtaskReport::INCOMPLETE;
    } else {
      throw MalformedCase("unknown step: " + op_of(step));
    }
    if (!reports.empty()) reports += ' ';
    reports += vertex.report_subtask_stats(step.at("subtask"), stats) ? "true" : "false";
  }
  compare_claims(line, {{"vertex: end to end follows the last report, not the latest time",
                         vertex.end_to_end_duration(trigger_timestamp)},
                        {"reports", reports},
                        {"acked", vertex.number_of_acknowledged_subtasks()}});
}

}  // namespace

bool is_direct_row(const Json& line) {
  if (line.contains("config") || line.contains("plan") || line.at("steps").empty()) return false;
  const Json& step = line.at("steps").at(0);
  const std::string op = step.value("op", "");
  return op == "restore" || op == "begin" || (op == "add" && step.contains("value")) ||
         (op == "ack" && step.contains("subtask"));
}

void replay_direct_row(const Json& line, const CheckpointStatsTraits& traits) {
  const std::string& op = op_of(line.at("steps").at(0));
  if (op == "restore") return replay_restore(line);
  if (op == "begin") return replay_history(line, traits);
  if (op == "add") return replay_summary(line);
  return replay_vertex(line);
}

}  // namespace tailrace::golden
