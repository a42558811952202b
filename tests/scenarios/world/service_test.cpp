// Records that take time, threads that are late, pins, and what a checkpoint costs a task's thread.
#include <algorithm>

#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

RunOutcome run_with(std::vector<std::string> sets) {
  sets.push_back("expect=~");
  return run(library_scenario("minicluster", sets));
}

// At so few records that a checkpoint has nothing to wait for.
std::vector<std::string> lightly(std::vector<std::string> sets) {
  sets.insert(sets.end(), {"job.operators.source.rate=20/s", "flink.execution.buffer-timeout=1 ms",
                           "duration=5s", "pin=~", "job.operators.sink.service=1us"});
  return sets;
}

// Of the completed checkpoints but the first, of all subtasks of the last vertex, in ms.
template <typename F>
std::vector<std::int64_t> at_the_sink(const RunOutcome& outcome, F value) {
  std::vector<std::int64_t> values;
  for (const auto& checkpoint : outcome.result.checkpoint_history) {
    if (checkpoint.tasks.empty()) continue;
    for (const auto& subtask : checkpoint.tasks.back().subtasks) {
      if (subtask.reported) values.push_back(value(subtask));
    }
  }
  return values;
}

Duration latency(const RunOutcome& outcome, std::size_t percent) {
  std::vector<std::int64_t> all = outcome.result.latency_ns;
  std::sort(all.begin(), all.end());
  return Duration{all[all.size() * percent / 100]};
}

TEST(Service, ASaturatedThreadServesAtOneOverItsTimeHoweverLateItWakesUp) {
  for (const char* late : {"0s", "90us"}) {
    const RunOutcome outcome = run_with({std::string("costs.threads.wake_up=") + late,
                                         "flink.execution.checkpointing.interval=1 h", "pin=~"});
    // Two sinks, 500 a second each, for 30.7 s.
    EXPECT_NEAR(static_cast<double>(outcome.result.records_out), 30'700.0, 60.0) << late;
  }
}

TEST(Service, NeedsNoCore) {
  // One core, which the map keeps busy: the served source goes on at its own time all the same.
  for (const char* service : {"100us", "400us"}) {
    const RunOutcome outcome = run_with(
        {"cluster.task_managers={count: 1, slots: 1, cores: 1}", "duration=10s", "pin=~",
         std::string(
             "job.operators=[{id: source, kind: source, from: {shards: 2}, size: 100B, rate: "
             "1000/s, keys: {distribution: uniform, count: 10}, service: ") +
             service +
             "}, {id: busy, kind: source, from: {records: 1000000}, size: 100B, rate: 300/s, cost: "
             "3ms, slot_sharing_group: default}, {id: sink, kind: sink, input: source, guarantee: "
             "at_least_once, service: 1us}, {id: other, kind: sink, input: busy, guarantee: "
             "at_least_once}]"});
    EXPECT_NEAR(static_cast<double>(outcome.result.records_out), 10'000 + 3000, 400.0) << service;
  }
}

TEST(Service, WhatComesBeforeTheBarrierDelaysTheNextTaskAndIsNoSynchronousPart) {
  const auto start_delay = [](const auto& subtask) { return subtask.start_delay; };
  const auto sync = [](const auto& subtask) { return subtask.sync; };
  const RunOutcome cheap = run_with(lightly({"costs.checkpoint_start=0s"}));
  const RunOutcome dear = run_with(lightly({"costs.checkpoint_start=100ms"}));
  const std::vector<std::int64_t> before = at_the_sink(cheap, start_delay);
  const std::vector<std::int64_t> after = at_the_sink(dear, start_delay);
  ASSERT_FALSE(before.empty());
  ASSERT_FALSE(after.empty());
  for (const std::int64_t ms : before) EXPECT_LE(ms, 5);
  for (const std::int64_t ms : after) {  // the source's 100 ms; its own come behind its start delay
    EXPECT_GE(ms, 100);
    EXPECT_LE(ms, 106);
  }
  for (const std::int64_t ms : at_the_sink(dear, sync)) EXPECT_EQ(ms, 0);
}

TEST(Service, SlowStretchesItAndNothingElse) {
  const auto end_to_end = [](const auto& subtask) { return subtask.end_to_end_duration; };
  const RunOutcome outcome = run_with(lightly(
      {"costs.checkpoint_start=20ms", "timeline=[{at: 0s, slow: {operator: sink, factor: 5}}]"}));
  for (const std::int64_t ms : at_the_sink(outcome, end_to_end)) {
    EXPECT_GE(ms, 40);  // twice 20 ms
    EXPECT_LE(ms, 48);
  }
}

TEST(Service, SlowWithoutASubtaskMeansAllOfThem) {
  const RunOutcome outcome = run_with({"timeline=[{at: 0s, slow: {operator: sink, factor: 2}}]",
                                       "pin=~", "flink.execution.checkpointing.interval=1 h"});
  EXPECT_NEAR(static_cast<double>(outcome.result.records_out), 15'350.0, 60.0);
}

TEST(Service, ACancelledTaskDoesNotFinishItsRecord) {
  const RunOutcome outcome = run_with({"job.operators.sink.service=6s", "duration=30s", "pin=~",
                                       "timeline=[{at: 20500ms, fail: {subtask: 'source[0]'}}]",
                                       "flink.restart-strategy.type=fixed-delay",
                                       "flink.restart-strategy.fixed-delay.delay=1 s"});
  ASSERT_EQ(outcome.result.restarts.size(), 1u);
  ASSERT_TRUE(outcome.result.restarts[0].running.has_value());
  EXPECT_LT(*outcome.result.restarts[0].running - outcome.result.restarts[0].failed,
            Duration::millis(1200));
}

TEST(Storage, TheEndOfAReplacedTroubleEndsNothing) {
  const RunOutcome outcome =
      run_with({"job.operators.source.rate=20/s", "flink.execution.buffer-timeout=1 ms",
                "duration=7s", "pin.first_triggers=[500ms]", "job.operators.sink.service=1us",
                "timeline=[{at: 1s, storage: {latency: 100ms}, for: 2s}, "
                "{at: 3s, storage: {latency: 400ms}, for: 2s}]"});
  std::vector<std::int64_t>
      ms;  // of the checkpoints of each second, with the file of their metadata
  for (const analysis::CheckpointRow& row : outcome.result.checkpoints) {
    ms.push_back(row.duration.value_or(Duration{}).millis_truncated());
  }
  ASSERT_GE(ms.size(), 6u);
  EXPECT_LT(ms[0], 50);
  for (const std::size_t i : {1u, 2u}) EXPECT_NEAR(static_cast<double>(ms[i]), 105, 15) << i;
  for (const std::size_t i : {3u, 4u}) EXPECT_NEAR(static_cast<double>(ms[i]), 405, 15) << i;
  EXPECT_LT(ms[5], 50);
}

TEST(Pins, FirstTriggersAreMadeToTheNanosecond) {
  const RunOutcome outcome = run_with({"pin.first_triggers=[1234567891ns]", "duration=3s"});
  ASSERT_FALSE(outcome.result.checkpoints.empty());
  EXPECT_EQ(outcome.result.checkpoints[0].triggered, Time{1'234'567'891});
}

TEST(Pins, TaskStartsAreThePhaseOfTheFlushTimerAndNothingElse) {
  // A record each 100 ms from 0 on, at both sources; flushed 30 ms after, whenever the start was.
  for (const char* start : {"30ms", "20030ms"}) {
    const RunOutcome outcome =
        run_with({"job.operators.source.rate=20/s", "job.operators.source.from.shards=2",
                  "job.operators.sink.service=1us", "costs.threads.timer_lateness=0s",
                  "costs.threads.hiccup_share=0%", "flink.execution.checkpointing.interval=1 h",
                  std::string("pin={task_starts: {'source[0]': [") + start + "], 'source[1]': [" +
                      start + "]}}"});
    ASSERT_GT(outcome.result.latency_ns.size(), 500u) << start;
    // Shard 1 is due 50 ms later, so the two sources wait 30 and 80 ms.
    EXPECT_NEAR(static_cast<double>(latency(outcome, 25).ns), 30e6, 1e6) << start;
    EXPECT_NEAR(static_cast<double>(latency(outcome, 75).ns), 80e6, 1e6) << start;
  }
}

TEST(Pins, WithoutThemChanceDecides) {
  const RunOutcome one = run_with({"pin=~", "duration=3s", "seed=1"});
  const RunOutcome other = run_with({"pin=~", "duration=3s", "seed=2"});
  EXPECT_NE(one.result.checkpoints.at(0).triggered, other.result.checkpoints.at(0).triggered);
}

TEST(Threads, HiccupsAreDrawnFromTheSeed) {
  const std::vector<std::string> late = {"costs.threads.hiccup_share=20%",
                                         "costs.threads.hiccup=5ms", "duration=5s", "pin=~"};
  std::vector<std::string> other = late;
  other.push_back("seed=2");
  EXPECT_EQ(run_with(late).result.trace_hash, run_with(late).result.trace_hash);
  EXPECT_NE(run_with(late).result.trace_hash, run_with(other).result.trace_hash);
}

}  // namespace
}  // namespace tailrace::scenarios
