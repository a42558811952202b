#include "analysis/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/result_names.hpp"

namespace tailrace::analysis {
namespace {

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
  result.restarts.push_back({Time{3'500'000'000}, Time{5'000'000'001}, "lost", 2, 17});
  result.rescales.push_back({Time{30'000'000'000}, std::nullopt, "count 2 -> 3", 9, 4});
  result.latency_ns = {3'000'000, 1'000'000, 2'000'999};
  result.audit = Audit{0, 2};
  result.expectations.push_back({"exactly once", false, "{\"lost\": 0, \"duplicated\": 2}"});
  return result;
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
  "checkpoints": {"triggered": 3, "completed": 2, "failed": 1, "duration_ms": {"min": 1.500, "p50": 1.500, "p99": 3.001, "max": 3.001}, "not_started": 0, "acknowledged_late": 0},
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
  "restart_list": [
    {"failed_s": 3.500000000, "running_s": 5.000000001, "downtime_ms": 1500.000, "restored_checkpoint": 2, "records_replayed": 17, "cause": "lost"}
  ],
  "rescale_list": [
    {"requested_s": 30.000000000, "running_s": null, "downtime_ms": null, "what": "count 2 -> 3", "savepoint": 9, "records_in_flight": 4}
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
