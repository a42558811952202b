// Both ends of every channel are added up in every run: what is right passes, what is lost or there
// twice stops it.
#include "scenarios/world/channel_cuts.hpp"

#include "engine/network/single_input_gate.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/task.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "sim/base/assert.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

using base::InvariantViolation;

constexpr engine::JobId kJob{1};
constexpr engine::ResultPartitionId kPartition{0, 0, {}};
constexpr engine::CheckpointId kId = 5;

ChannelCuts pending() {
  ChannelCuts cuts;
  cuts.on_triggered(kJob, kId);
  return cuts;
}

TEST(ChannelCuts, HoldWhenEveryByteIsThereOnce) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 1, {kId, 100, 0});
  cuts.on_input_state(kJob, kPartition, 1, kId, 30);  // before the snapshot as well as after it
  cuts.on_input_cut(kJob, kPartition, 1, {kId, 40, 0});
  cuts.on_input_state(kJob, kPartition, 1, kId, 10);
  cuts.on_output_cut(kJob, kPartition, 1, {kId, 100, 20});  // its barrier has timed out
  EXPECT_NO_THROW(cuts.on_completed(kJob, kId));
  EXPECT_EQ(cuts.channels_checked(), 1);
}

TEST(ChannelCuts, WhatWasRestoredCountsAsSent) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 0, {kId, 100, 0});
  cuts.on_input_cut(kJob, kPartition, 0, {kId, 107, 7});
  EXPECT_NO_THROW(cuts.on_completed(kJob, kId));
}

TEST(ChannelCuts, AMissingByteStopsTheRun) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 0, {kId, 100, 0});
  cuts.on_input_cut(kJob, kPartition, 0, {kId, 99, 0});
  EXPECT_THROW(cuts.on_completed(kJob, kId), InvariantViolation);
}

TEST(ChannelCuts, AByteThatIsThereTwiceStopsTheRun) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 0, {kId, 100, 50});
  cuts.on_input_cut(kJob, kPartition, 0, {kId, 50, 0});
  cuts.on_input_state(kJob, kPartition, 0, kId, 1);
  EXPECT_THROW(cuts.on_completed(kJob, kId), InvariantViolation);
}

TEST(ChannelCuts, ABarrierThatNobodyTookASnapshotForStopsTheRun) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 0, {kId, 0, 0});
  EXPECT_THROW(cuts.on_completed(kJob, kId), InvariantViolation);
}

TEST(ChannelCuts, AChannelThatHasEndedHasNoBarrier) {
  ChannelCuts cuts = pending();
  cuts.on_input_cut(kJob, kPartition, 0, {kId, 12, 0});
  EXPECT_NO_THROW(cuts.on_completed(kJob, kId));
  EXPECT_EQ(cuts.channels_checked(), 0);
}

TEST(ChannelCuts, WhatFailsIsForgotten) {
  ChannelCuts cuts = pending();
  cuts.on_output_cut(kJob, kPartition, 0, {kId, 100, 0});
  cuts.on_failed(kJob, kId);
  cuts.on_input_cut(kJob, kPartition, 0, {kId, 1, 0});  // late
  EXPECT_NO_THROW(cuts.on_completed(kJob, kId));
}

// --- in whole runs -------------------------------------------------------------------------------

// One seam: at the first barrier that the counter meets, `tamper` gets its task.
template <typename Tamper>
void play_and_tamper(const Scenario& scenario, Tamper tamper) {
  ScenarioRun run(scenario, RunOptions{});
  bool done = false;
  run.simulation().trace().set_sink([&](const sim::TraceRecord& record) {
    if (done || record.kind != trace_kind::kBarrierProcessed) return;
    const auto located = run.cluster().locate(scenario.find_operator("count"), 0);
    if (!located || located->task->descriptor().vertex != record.fields[1]) return;
    done = true;
    tamper(run, *located->task->invokable(), engine::CheckpointId{record.fields[0]});
  });
  run.play();
  EXPECT_TRUE(done);
  EXPECT_GT(run.recorder().channel_cuts().channels_checked(), 0);
}

const std::vector<std::vector<std::string>> kSettings = {
    {"flink.version=\"1.10\"", "duration=5s", "timeline=~", "end=cut"},
    {"flink.version=\"1.20\"", "duration=5s", "timeline=~", "end=cut"},
    {"flink.version=\"1.20\"", "duration=5s", "timeline=~", "end=cut",
     "flink.execution.checkpointing.unaligned.enabled=true"}};

TEST(ChannelCutsOfARun, HoldInBothGenerations) {
  for (const auto& sets : kSettings) {
    const Scenario scenario = library_scenario("two-inputs", sets);
    EXPECT_NO_THROW(play_and_tamper(
        scenario, [](ScenarioRun&, const engine::StreamTask&, engine::CheckpointId) {}));
  }
}

TEST(ChannelCutsOfARun, AByteMoreOnOneEndStopsIt) {
  for (const auto& sets : kSettings) {
    const Scenario scenario = library_scenario("two-inputs", sets);
    EXPECT_THROW(play_and_tamper(
                     scenario,
                     [](ScenarioRun& run, const engine::StreamTask& task, engine::CheckpointId id) {
                       const auto& from = task.descriptor().gates[0].channels[0];
                       run.recorder().on_input_state(task.descriptor().job, from.partition,
                                                     from.subpartition, id, 1);
                     }),
                 InvariantViolation);
  }
}

// N2: somebody lets the sender of a blocked channel go on, and its records come before the snapshot.
TEST(ChannelCutsOfARun, ARecordFromBehindABarrierStopsIt) {
  const Scenario scenario = library_scenario(
      "two-inputs",
      {"duration=60s", "timeline=~", "end=cut", "job.operators.lines.rate=max",
       "job.operators.lines.from.repeat=40", "job.operators.quiet_lines.from.repeat=40",
       "job.operators.quiet_lines.rate=max"});
  ScenarioRun run(scenario, RunOptions{});
  bool resumed = false;
  run.simulation().trace().set_sink([&](const sim::TraceRecord& record) {
    if (resumed || record.kind != trace_kind::kBarrierProcessed) return;
    const auto located = run.cluster().locate(scenario.find_operator("count"),
                                              static_cast<std::int32_t>(record.fields[2]));
    if (!located || located->task->descriptor().vertex != record.fields[1]) return;
    resumed = true;
    auto channel = static_cast<engine::ChannelIndex>(record.fields[3]);
    const auto& gates = located->task->invokable()->gates();
    const auto first = gates[0]->channel_count();
    gates[channel < first ? 0 : 1]->resume_consumption(channel < first ? channel : channel - first);
  });
  try {
    run.play();
    ADD_FAILURE() << "nothing stopped the run";
  } catch (const InvariantViolation& violation) {
    EXPECT_NE(std::string(violation.what()).find("N2"), std::string::npos) << violation.what();
  }
  EXPECT_TRUE(resumed);
}

// N1: the task misses a buffer that somebody else has taken out of its gate.
TEST(ChannelCutsOfARun, ABufferThatIsStolenOnTheWayStopsIt) {
  for (const auto& sets : kSettings) {
    const Scenario scenario = library_scenario("two-inputs", sets);
    ScenarioRun run(scenario, RunOptions{});
    run.advance(Time{} + Duration::millis(2500));
    bool stolen = false;
    for (std::int32_t subtask = 0; subtask < 2 && !stolen; ++subtask) {
      const auto located = run.cluster().locate(scenario.find_operator("count"), subtask);
      ASSERT_TRUE(located.has_value());
      const auto item = located->task->invokable()->gates()[0]->poll_next();
      stolen = item.has_value() && item->is_buffer();
    }
    ASSERT_TRUE(stolen);
    EXPECT_THROW(run.play(), InvariantViolation);
  }
}

}  // namespace
}  // namespace tailrace::scenarios
