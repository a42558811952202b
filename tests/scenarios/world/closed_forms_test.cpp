// Runs against closed forms, each computed from the scenario's own parameters.
#include "tests/scenarios/world/closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tailrace::scenarios {
namespace {

// Wire sizes of Flink 1.10 (spec barriers.md 6.6).
constexpr std::int64_t kFrameHeader = 9;
constexpr std::int64_t kBufferHeader = kFrameHeader + 30;
constexpr std::int64_t kCreditMessage = kFrameHeader + 52;

// --- credits -----------------------------------------------------------------------------------

// Bytes that have come out of the channel in a run of that length.
std::int64_t bytes_through(std::int32_t buffers, const char* duration) {
  const Scenario scenario = library_scenario(
      "credit-limited",
      {"flink.taskmanager.network.memory.buffers-per-channel=" + std::to_string(buffers - 1),
       "duration=" + std::string(duration), "expect=[progress]"});
  ScenarioRun run(scenario, RunOptions{});
  run.advance(Time{} + scenario.duration);
  return task_of(run, scenario, "out").bytes_consumed(0);
}

TEST(ClosedForms, ThroughputIsCreditsTimesSizeByRoundTripUntilTheLinkIsFull) {
  const Scenario scenario = library_scenario("credit-limited");
  const std::int64_t segment = scenario.flink.segment_bytes;
  const double buffer_time = wire_time(scenario, segment + kBufferHeader);
  const double round_trip = buffer_time + wire_time(scenario, kCreditMessage) +
                            2 * seconds(scenario.cluster.network.latency);
  std::int32_t limited_by_credit = 0;
  double before = 0;
  for (std::int32_t buffers = 2; buffers <= 20; ++buffers) {
    SCOPED_TRACE(std::to_string(buffers) + " buffers");
    const double by_credit = buffers * static_cast<double>(segment) / round_trip;
    const double by_link = static_cast<double>(segment) / buffer_time;
    const double measured =
        static_cast<double>(bytes_through(buffers, "15s") - bytes_through(buffers, "5s")) / 10;
    EXPECT_NEAR(measured, std::min(by_credit, by_link), 0.01 * std::min(by_credit, by_link));
    if (by_credit < by_link) {
      ++limited_by_credit;
      EXPECT_GT(measured, before * 1.05);  // every buffer counts
    }
    before = measured;
  }
  // The knee lies inside what was tried.
  EXPECT_GT(limited_by_credit, 4);
  EXPECT_LT(limited_by_credit, 15);
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
}

// --- buffers in flight -------------------------------------------------------------------------

TEST(ClosedForms, WhatIsInFlightFillsTheBuffersOfTheGateAndOfTheSendersPoolsAndNoMore) {
  for (const std::int32_t exclusive : {1, 2, 5}) {
    SCOPED_TRACE(std::to_string(exclusive) + " exclusive buffers");
    const Scenario scenario = library_scenario(
        "in-flight-bound",
        {"flink.taskmanager.network.memory.buffers-per-channel=" + std::to_string(exclusive)});
    const std::int64_t segment = scenario.flink.segment_bytes;
    const std::int64_t channels = operator_of(scenario, "numbers").parallelism;
    const std::int64_t floating = scenario.flink.floating_buffers_per_gate;
    const std::int64_t record = operator_of(scenario, "numbers").record_bytes;
    const std::int64_t at_receiver = channels * exclusive + floating;
    const std::int64_t at_each_sender = exclusive + floating;  // one subpartition
    // A sender that waits for a buffer does so inside a record.
    const std::int64_t bound =
        (at_receiver + channels * at_each_sender) * segment + channels * record;

    ScenarioRun run(scenario, RunOptions{});
    std::int64_t most = 0;
    std::int64_t most_at_receiver = 0;
    for (std::int64_t ms = 2000; ms <= 20'000; ms += 7) {
      run.advance(Time{} + Duration::millis(ms));
      const std::int64_t between =
          records_out(run, scenario, "numbers") - records_in(run, scenario, "out");
      most = std::max(most, between * record);
      const engine::StreamTask& out = task_of(run, scenario, "out");
      std::int64_t received = 0;
      for (engine::ChannelIndex channel = 0; channel < channels; ++channel) {
        received += out.gates()[0]->queued_bytes(channel);
      }
      most_at_receiver = std::max(most_at_receiver, received);
    }
    // One buffer is always being read; its bytes count until its last record is out.
    EXPECT_LE(most_at_receiver, at_receiver * segment);
    EXPECT_GE(most_at_receiver, (at_receiver - 1) * segment);
    EXPECT_LE(most, bound);
    EXPECT_GE(most, bound - 2 * segment);
  }
}

// --- aligned checkpoints -----------------------------------------------------------------------

TEST(ClosedForms, AnAlignedCheckpointTakesAsLongAsWhatIsUnderWayNeedsToDrain) {
  double one_exchange = 0;
  for (std::int32_t exchanges = 1; exchanges <= 3; ++exchanges) {
    SCOPED_TRACE(std::to_string(exchanges) + " exchanges");
    std::vector<std::string> sets = fewer_exchanges(exchanges);
    sets.push_back("expect=[checkpoints.completed >= 8]");
    const Scenario scenario = library_scenario("aligned-exchanges", sets);
    CheckpointWatch watch(scenario, {"busy", "calm"}, "out");
    EXPECT_EQ(not_held(scenario, watch.outcome()), "");

    std::vector<std::string> last_chain{"out"};
    if (exchanges < 3) last_chain.insert(last_chain.begin(), "second");
    if (exchanges < 2) last_chain.insert(last_chain.begin(), "first");
    const double service =
        service_time(scenario, last_chain, operator_of(scenario, "busy").record_bytes);
    std::int32_t completed = 0;
    double mean = 0;
    for (const auto& [id, checkpoint] : watch.checkpoints()) {
      if (!checkpoint.completed) continue;
      SCOPED_TRACE("checkpoint " + std::to_string(id));
      ++completed;
      const double closed_form = static_cast<double>(checkpoint.records_under_way()) * service;
      EXPECT_NEAR(seconds(checkpoint.end_to_end()), closed_form, 0.02 * closed_form);
      mean += seconds(checkpoint.end_to_end());

      // At each subtask: from the trigger to its first barrier, and from there to its last one.
      const auto& first = checkpoint.subtasks.at({watch.vertex_of("first"), 0});
      const auto& last = checkpoint.subtasks.at({watch.vertex_of("out"), 0});
      EXPECT_EQ(first.barriers, 2);
      EXPECT_GT(seconds(first.alignment()), 0.9 * closed_form / exchanges);
      const double start_delay = seconds(last.first_barrier - checkpoint.triggered);
      EXPECT_NEAR(start_delay + seconds(last.alignment()), closed_form, 0.02 * closed_form);
      if (exchanges == 1) {
        EXPECT_LT(start_delay, 0.1 * closed_form);
      } else {
        EXPECT_EQ(last.barriers, 1);
      }
    }
    EXPECT_GE(completed, 8);
    mean /= completed;
    // Each exchange brings about as many buffers.
    if (exchanges == 1) one_exchange = mean;
    EXPECT_NEAR(mean, exchanges * one_exchange, 0.25 * exchanges * one_exchange);
  }
}

// --- buffer timeout ----------------------------------------------------------------------------

double mean_latency(const Scenario& scenario) {
  const RunOutcome outcome = run(scenario);
  const std::vector<std::int64_t>& all = outcome.result.latency_ns;
  EXPECT_GT(all.size(), 2800u);
  return static_cast<double>(std::accumulate(all.begin(), all.end(), std::int64_t{0})) /
         static_cast<double>(all.size()) / 1e9;
}

TEST(ClosedForms, ABufferTimeoutAddsHalfItsPeriodAtEachHop) {
  const Scenario scenario = library_scenario("buffer-timeout");
  const double at_once =
      mean_latency(library_scenario("buffer-timeout", {"job.operators.numbers.buffer_timeout=0ms",
                                                       "job.operators.pass.buffer_timeout=0ms"}));
  const double first_hop = seconds(*operator_of(scenario, "numbers").buffer_timeout);
  const double second_hop = seconds(*operator_of(scenario, "pass").buffer_timeout);
  const double both = mean_latency(scenario) - at_once;
  EXPECT_NEAR(both, (first_hop + second_hop) / 2, 0.01 * (first_hop + second_hop) / 2);

  // One hop at a time.
  const double only_first =
      mean_latency(library_scenario("buffer-timeout", {"job.operators.pass.buffer_timeout=0ms"})) -
      at_once;
  EXPECT_NEAR(only_first, first_hop / 2, 0.01 * first_hop / 2);
  const double only_second = mean_latency(library_scenario(
                                 "buffer-timeout", {"job.operators.numbers.buffer_timeout=0ms"})) -
                             at_once;
  EXPECT_NEAR(only_second, second_hop / 2, 0.01 * second_hop / 2);

  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
}

// --- the shape of published measurements -------------------------------------------------------

TEST(ClosedForms, BehindASlowSinkAnAlignedCheckpointTakesSeconds) {
  const Scenario scenario = library_scenario("slow-sink");
  CheckpointWatch watch(scenario, {"numbers"}, "out");
  EXPECT_EQ(not_held(scenario, watch.outcome()), "");
  const double service = service_time(scenario, {"out"}, 29);
  const double sinks = operator_of(scenario, "out").parallelism;
  std::int32_t completed = 0;
  for (const auto& [id, checkpoint] : watch.checkpoints()) {
    if (!checkpoint.completed) continue;
    ++completed;
    SCOPED_TRACE("checkpoint " + std::to_string(id));
    EXPECT_GE(checkpoint.end_to_end(), Duration::millis(1800));
    const double mean_path = static_cast<double>(checkpoint.records_under_way()) * service / sinks;
    EXPECT_GE(seconds(checkpoint.end_to_end()), 0.98 * mean_path);  // the slowest path
  }
  EXPECT_GE(completed, 5);
}

}  // namespace
}  // namespace tailrace::scenarios
