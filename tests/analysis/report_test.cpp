#include "analysis/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/result_names.hpp"

namespace tailrace::analysis {
namespace {

CheckpointStatistics completed_statistics() {
  CheckpointStatistics completed;
  completed.id = 2;
  completed.status = "COMPLETED";
  completed.trigger_timestamp = 2000;
  completed.latest_ack_timestamp = 2003;
  completed.end_to_end_duration = 3;
  completed.state_size = 2000;
  completed.alignment_buffered = 5;
  completed.num_subtasks = 1;
  completed.num_acknowledged_subtasks = 1;
  completed.external_path = "chk-2";
  completed.discarded = true;
  TaskStatistics task;
  task.id = "00ff";
  task.latest_ack_timestamp = 2003;
  task.end_to_end_duration = 3;
  task.num_subtasks = 1;
  task.num_acknowledged_subtasks = 1;
  task.state_size = {2000, 2000, 2000};
  task.state_size_sum = 2000;
  task.alignment_buffered_sum = 5;
  SubtaskStatistics subtask;
  subtask.reported = true;
  subtask.ack_timestamp = 2003;
  subtask.end_to_end_duration = 3;
  subtask.state_size = 2000;
  subtask.sync = 1;
  subtask.async = 2;
  subtask.alignment_buffered = 5;
  subtask.alignment_duration = 4;
  task.subtasks.push_back(subtask);
  completed.tasks.push_back(task);
  return completed;
}

CheckpointStatistics failed_statistics() {
  CheckpointStatistics failed;
  failed.id = 3;
  failed.status = "FAILED";
  failed.trigger_timestamp = 3000;
  failed.end_to_end_duration = 9;
  failed.num_subtasks = 1;
  failed.failure_timestamp = 3009;
  failed.failure_reason = "CHECKPOINT_EXPIRED";
  failed.failure_counted = true;
  TaskStatistics task;
  task.id = "00ff";
  task.num_subtasks = 1;
  task.subtasks.emplace_back();
  failed.tasks.push_back(task);
  return failed;
}

CheckpointingStatistics checkpointing_statistics() {
  CheckpointingStatistics statistics;
  statistics.restored = 1;
  statistics.total = 3;
  statistics.completed = 2;
  statistics.failed = 1;
  statistics.summary = {{"state_size", {1000, 2000, 1500}}};
  statistics.gauges = {{"totalNumberOfCheckpoints", 3}};
  statistics.last_checkpoint_external_path = "chk-2";
  statistics.latest_completed = 2;
  statistics.latest_failed = 3;
  statistics.latest_restored = {.id = 2, .restore_timestamp = 4000, .external_path = "chk-2"};
  statistics.history = {3, 2, 1};
  return statistics;
}

RunResult sample() {
  RunResult result;
  result.name = "a \"quoted\" name";
  result.seed = 7;
  result.version = "1.10";
  result.trace_hash = 0x0123456789abcdefULL;
  result.finished = FinishReason::kDuration;
  result.virtual_time = Duration::seconds(60);
  result.events = 12345;
  result.wall = Duration::nanos(5);
  result.records_in = 249;
  result.records_out = 3500;
  for (std::int64_t id = 1; id <= 3; ++id) {
    CheckpointRow row;
    row.id = id;
    row.triggered = Time{id * 1'000'000'000};
    row.status = id == 3 ? CheckpointStatus::kFailed : CheckpointStatus::kCompleted;
    row.duration = Duration::nanos(id * 1'500'500);
    row.acknowledged = 6;
    row.subtasks = 6;
    row.state_bytes = 1000 * id;
    if (id == 3) row.failure = "Checkpoint expired before completing.";
    result.checkpoints.push_back(row);
  }
  result.checkpoint_history = {completed_statistics(), failed_statistics()};
  result.checkpointing = checkpointing_statistics();
  result.restarts.push_back({Time{3'500'000'000}, Time{5'000'000'001}, "lost", 2, 17});
  result.rescales.push_back({Time{30'000'000'000}, Time{30'250'000'000}, std::nullopt, std::nullopt,
                             std::nullopt, "count 2 -> 3", 9, 4});
  result.latency_ns = {3'000'000, 1'000'000, 2'000'999};
  result.audit = Audit{0, 2};
  result.expectations.push_back({"exactly once", false, "{\"lost\": 0, \"duplicated\": 2}"});
  return result;
}

TEST(JsonReport, SaysOfNewerVersionsWhatOnlyTheyKnow) {
  RunResult result = sample();
  result.statistics_schema = {.checkpointed_size = true,
                              .data_of_alignment = true,
                              .start_delay = true,
                              .checkpoint_type = true,
                              .aborted = true,
                              .quantiles = true};
  result.checkpointing.summary[0].second.quantiles = {{1500'000, 2000'000, 2000'000, 1, 1999'500}};
  CheckpointStatistics& savepoint = result.checkpoint_history[0];
  savepoint.is_savepoint = true;
  savepoint.savepoint_format = "NATIVE";
  savepoint.checkpoint_type = "SAVEPOINT";
  savepoint.checkpointed_size = 700;
  savepoint.tasks[0].subtasks[0].aborted = true;
  savepoint.tasks[0].subtasks[0].start_delay = 6;
  result.checkpointing.summary.emplace_back("end_to_end_duration", SummaryStatistics{});
  const nlohmann::json document = nlohmann::json::parse(to_json(result));

  const nlohmann::json& summary = document["checkpoint_statistics"]["summary"];
  EXPECT_EQ(summary["state_size"]["p50"], 1500.0);
  EXPECT_EQ(summary["state_size"]["p99"], 0.001);
  EXPECT_EQ(summary["state_size"]["p999"], 1999.5);
  EXPECT_TRUE(summary["end_to_end_duration"]["p50"].is_null());
  const nlohmann::json& first = document["checkpoint_history"][0];
  EXPECT_EQ(first["savepointFormat"], "NATIVE");
  EXPECT_EQ(first["checkpoint_type"], "SAVEPOINT");
  EXPECT_EQ(first["checkpointed_size"], 700);
  EXPECT_EQ(first["processed_data"], 0);
  const nlohmann::json& subtask = first["tasks"]["00ff"]["subtasks"][0];
  EXPECT_EQ(subtask["aborted"], true);
  EXPECT_EQ(subtask["start_delay"], 6);
  EXPECT_EQ(subtask["unaligned_checkpoint"], false);
  EXPECT_EQ(subtask["alignment"].size(), 4);
  EXPECT_TRUE(document["checkpoint_history"][1]["savepointFormat"].is_null());
}

TEST(JsonReport, PrintsTheDocumentToTheLetter) {
  EXPECT_EQ(to_json(sample()), R"({
  "name": "a \"quoted\" name",
  "seed": 7,
  "version": "1.10",
  "trace_hash": "0123456789abcdef",
  "finished": "duration",
  "virtual_time_s": 60.000000000,
  "events": 12345,
  "wall_s": 0.000000005,
  "records": {"in": 249, "out": 3500},
  "checkpoints": {"triggered": 3, "completed": 2, "failed": 1, "failures_counted": 1, "duration_ms": {"min": 1.500, "p50": 1.500, "p99": 3.001, "max": 3.001}, "not_started": 0, "acknowledged_late": 0},
  "restarts": 1,
  "rescales": 1,
  "latency_ms": {"count": 3, "p50": 2.000, "p90": 3.000, "p99": 3.000, "p999": 3.000, "max": 3.000},
  "exactly_once": {"lost": 0, "duplicated": 2},
  "expectations": [
    {"text": "exactly once", "held": false, "value": {"lost": 0, "duplicated": 2}}
  ],
  "checkpoint_list": [
    {"id": 1, "kind": "checkpoint", "status": "completed", "triggered_s": 1.000000000, "duration_ms": 1.500, "acknowledged": 6, "subtasks": 6, "state_bytes": 1000, "alignment_max_ms": 0.000, "start_delay_max_ms": 0.000, "failure": null},
    {"id": 2, "kind": "checkpoint", "status": "completed", "triggered_s": 2.000000000, "duration_ms": 3.001, "acknowledged": 6, "subtasks": 6, "state_bytes": 2000, "alignment_max_ms": 0.000, "start_delay_max_ms": 0.000, "failure": null},
    {"id": 3, "kind": "checkpoint", "status": "failed", "triggered_s": 3.000000000, "duration_ms": 4.501, "acknowledged": 6, "subtasks": 6, "state_bytes": 3000, "alignment_max_ms": 0.000, "start_delay_max_ms": 0.000, "failure": "Checkpoint expired before completing."}
  ],
  "checkpoint_statistics": {"counts": {"restored": 1, "total": 3, "in_progress": 0, "completed": 2, "failed": 1}, "summary": {"state_size": {"min": 1000, "max": 2000, "avg": 1500}}, "latest": {"completed": 2, "savepoint": null, "failed": 3, "restored": {"id": 2, "restore_timestamp": 4000, "is_savepoint": false, "external_path": "chk-2"}}, "history": [3, 2, 1], "metrics": {"totalNumberOfCheckpoints": 3, "lastCheckpointExternalPath": "chk-2"}},
  "checkpoint_history": [
    {"id": 2, "status": "COMPLETED", "is_savepoint": false, "trigger_timestamp": 2000, "latest_ack_timestamp": 2003, "state_size": 2000, "end_to_end_duration": 3, "alignment_buffered": 5, "num_subtasks": 1, "num_acknowledged_subtasks": 1, "external_path": "chk-2", "discarded": true, "tasks": {"00ff": {"id": 2, "status": "COMPLETED", "latest_ack_timestamp": 2003, "state_size": 2000, "end_to_end_duration": 3, "alignment_buffered": 5, "num_subtasks": 1, "num_acknowledged_subtasks": 1, "summary": {"state_size": {"min": 2000, "max": 2000, "avg": 2000}, "end_to_end_duration": {"min": 0, "max": 0, "avg": 0}, "checkpoint_duration": {"sync": {"min": 0, "max": 0, "avg": 0}, "async": {"min": 0, "max": 0, "avg": 0}}, "alignment": {"buffered": {"min": 0, "max": 0, "avg": 0}, "duration": {"min": 0, "max": 0, "avg": 0}}}, "subtasks": [{"index": 0, "status": "completed", "ack_timestamp": 2003, "end_to_end_duration": 3, "state_size": 2000, "checkpoint": {"sync": 1, "async": 2}, "alignment": {"buffered": 5, "duration": 4}}]}}},
    {"id": 3, "status": "FAILED", "is_savepoint": false, "trigger_timestamp": 3000, "latest_ack_timestamp": -1, "state_size": 0, "end_to_end_duration": 9, "alignment_buffered": 0, "num_subtasks": 1, "num_acknowledged_subtasks": 0, "failure_timestamp": 3009, "failure_reason": "CHECKPOINT_EXPIRED", "failure_counted": true, "tasks": {"00ff": {"id": 3, "status": "FAILED", "latest_ack_timestamp": -1, "state_size": 0, "end_to_end_duration": -1, "alignment_buffered": 0, "num_subtasks": 1, "num_acknowledged_subtasks": 0, "summary": {"state_size": {"min": 0, "max": 0, "avg": 0}, "end_to_end_duration": {"min": 0, "max": 0, "avg": 0}, "checkpoint_duration": {"sync": {"min": 0, "max": 0, "avg": 0}, "async": {"min": 0, "max": 0, "avg": 0}}, "alignment": {"buffered": {"min": 0, "max": 0, "avg": 0}, "duration": {"min": 0, "max": 0, "avg": 0}}}, "subtasks": [{"index": 0, "status": "pending_or_failed"}]}}}
  ],
  "restart_list": [
    {"failed_s": 3.500000000, "running_s": 5.000000001, "downtime_ms": 1500.000, "restored_checkpoint": 2, "records_replayed": 17, "cause": "lost"}
  ],
  "rescale_list": [
    {"requested_s": 30.000000000, "savepoint_ready_s": 30.250000000, "stopped_s": null, "submitted_s": null, "running_s": null, "downtime_ms": null, "what": "count 2 -> 3", "savepoint": 9, "records_in_flight": 4}
  ]
}
)");
}

TEST(JsonReport, IsJsonWithNullWhereThereWasNoSample) {
  RunResult empty;
  empty.name = "broken \xff utf-8";
  const nlohmann::json document = nlohmann::json::parse(to_json(empty));
  EXPECT_TRUE(document["latency_ms"]["p50"].is_null());
  EXPECT_EQ(document["latency_ms"]["count"], 0);
  EXPECT_TRUE(document["checkpoints"]["duration_ms"]["max"].is_null());
  EXPECT_TRUE(document["exactly_once"]["lost"].is_null());
  EXPECT_TRUE(document["checkpoint_list"].empty());
  EXPECT_TRUE(document["checkpoint_history"].empty());
}

TEST(JsonReport, EveryResultNameIsAPathOfTheDocument) {
  const nlohmann::json document = nlohmann::json::parse(to_json(sample()));
  for (const ResultName& name : result_names()) {
    const nlohmann::json* at = &document;
    std::string rest(name.name);
    while (!rest.empty()) {
      const std::string key = rest.substr(0, rest.find('.'));
      rest = rest.size() > key.size() ? rest.substr(key.size() + 1) : "";
      const nlohmann::json* next = nullptr;
      for (const char* unit : {"", "_ms", "_s"}) {
        if (at->contains(key + unit)) next = &(*at)[key + unit];
      }
      ASSERT_NE(next, nullptr) << name.name;
      at = next;
    }
    EXPECT_TRUE(at->is_primitive()) << name.name;
  }
}

TEST(TextReport, HasALinePerCheckpointRestartAndRescaleAndEndsWithTheTrace) {
  const std::string text = to_text(sample());
  EXPECT_NE(text.find("  checkpoint    2  at     2.000 s  completed after 3.001 ms, 6 of 6"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("from checkpoint 2, running again after 1500.000 ms, 17 records replayed"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("count 2 -> 3, not running again, 4 records in flight, savepoint 9"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("NOT HELD     exactly once"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\ntrace 0123456789abcdef\n")) << text;
  EXPECT_EQ(text.find("INCOMPLETE"), std::string::npos);
}

TEST(TextReport, SaysThatAnInterruptedRunIsIncomplete) {
  RunResult result = sample();
  result.finished = FinishReason::kInterrupted;
  const std::string text = to_text(result);
  EXPECT_NE(text.find("INCOMPLETE"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\ntrace 0123456789abcdef\n"));
}

Expectation comparison(const std::string& name, Comparison how, std::int64_t bound) {
  Expectation expectation;
  expectation.text = name;
  expectation.name = name;
  expectation.comparison = how;
  expectation.bound = bound;
  return expectation;
}

TEST(Expectations, CompareWholeNanosecondsAndNotWhatIsPrinted) {
  const RunResult result = sample();
  // p50 is 2.000999 ms and prints as 2.000.
  EXPECT_FALSE(evaluate(comparison("latency.p50", Comparison::kLessEqual, 2'000'000), result).held);
  EXPECT_TRUE(evaluate(comparison("latency.p50", Comparison::kLess, 2'001'000), result).held);
  EXPECT_EQ(evaluate(comparison("latency.p50", Comparison::kLess, 0), result).value, "2.000");
  EXPECT_TRUE(evaluate(comparison("restarts", Comparison::kEqual, 1), result).held);
  EXPECT_FALSE(evaluate(comparison("restarts", Comparison::kNotEqual, 1), result).held);
  EXPECT_TRUE(evaluate(comparison("events", Comparison::kGreaterEqual, 12345), result).held);
  EXPECT_FALSE(evaluate(comparison("events", Comparison::kGreater, 12345), result).held);
}

TEST(Expectations, HoldNothingOfWhatWasNeverMeasured) {
  RunResult empty;
  EXPECT_FALSE(evaluate(comparison("latency.p99", Comparison::kLess, 1'000'000), empty).held);
  Expectation once;
  once.kind = ExpectationKind::kExactlyOnce;
  EXPECT_FALSE(evaluate(once, empty).held);
}

TEST(Expectations, JudgeTheSentences) {
  RunResult result = sample();
  Expectation sentence;
  sentence.kind = ExpectationKind::kAtLeastOnce;
  EXPECT_TRUE(evaluate(sentence, result).held);
  sentence.kind = ExpectationKind::kExactlyOnce;
  EXPECT_FALSE(evaluate(sentence, result).held);
  sentence.kind = ExpectationKind::kProgress;
  result.last_fault = Time{5};
  result.last_progress = Time{5};
  EXPECT_FALSE(evaluate(sentence, result).held);
  result.last_progress = Time{6};
  EXPECT_TRUE(evaluate(sentence, result).held);
  sentence.kind = ExpectationKind::kNoOrphanedState;
  EXPECT_FALSE(evaluate(sentence, result).held);
  result.orphaned_blobs = 0;
  EXPECT_TRUE(evaluate(sentence, result).held);
}

}  // namespace
}  // namespace tailrace::analysis
