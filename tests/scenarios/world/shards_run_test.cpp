// Whole runs of jobs with sources of shards and keyed state of a known size.
#include <map>

#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr const char* kName = "keyed-state";

RunOutcome run_with(const std::vector<std::string>& sets) {
  return run(library_scenario(kName, sets));
}

std::int64_t total(const std::vector<DumpRow>& rows) {
  std::int64_t sum = 0;
  for (const DumpRow& row : rows) sum += row.number;
  return sum;
}

void expect_exactly_once(const RunOutcome& outcome) {
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
}

TEST(Shards, OfferTheirRateAndEveryRecordHasItsEffectOnce) {
  const RunOutcome outcome = run_with({"timeline=~", "expect=~", "end=stop"});
  expect_exactly_once(outcome);
  // 2,000 a second from 0 on; the run goes on a little for its savepoint.
  EXPECT_GE(outcome.result.records_in, 12'001);
  EXPECT_LT(outcome.result.records_in, 12'400);
  EXPECT_GE(outcome.result.records_out, 12'001);
  // In a snapshot at the end each of them has updated a value.
  EXPECT_EQ(outcome.state.size(), 1024u);
  EXPECT_EQ(total(outcome.state), outcome.result.records_out);
  for (const DumpRow& row : outcome.state) {
    EXPECT_NEAR(static_cast<double>(row.number), 12.0, 1.1) << row.text;  // the keys come in turn
  }
}

TEST(Shards, AreReadAgainAfterAFailureInBothVersions) {
  for (const char* version : {"\"1.10\"", "\"1.20\""}) {
    const std::string flink = std::string("flink.version=") + version;
    const RunOutcome outcome = run_with({flink, "end=stop"});
    expect_exactly_once(outcome);
    EXPECT_EQ(outcome.result.restarts.size(), 1u) << version;
    EXPECT_EQ(outcome.state.size(), 1024u);
    EXPECT_EQ(total(outcome.state), outcome.result.records_out) << version;
  }
}

TEST(Shards, AreDealtOutAgainWhenTheJobIsRescaled) {
  for (const char* version : {"\"1.10\"", "\"1.20\""}) {
    const RunOutcome outcome = run_with(
        {std::string("flink.version=") + version, "end=stop", "cluster.task_managers.count=4",
         "timeline=[{at: 2500ms, rescale: {numbers: 4, values: 3, out: 1}}]", "expect=~"});
    expect_exactly_once(outcome);
    EXPECT_EQ(outcome.result.rescales.size(), 1u) << version;
    EXPECT_EQ(outcome.state.size(), 1024u);
    EXPECT_EQ(total(outcome.state), outcome.result.records_out) << version;
  }
}

TEST(Shards, KeepTheirKeysInBuffersThatAreInFlight) {
  // A slow sink fills the buffers; a failure then restores them with checkpoints that overtake.
  const RunOutcome outcome = run_with(
      {"flink={version: \"1.20\", execution.checkpointing.interval: 500 ms, "
       "execution.checkpointing.unaligned.enabled: true, restart-strategy.type: fixed-delay, "
       "restart-strategy.fixed-delay.delay: 100 ms}",
       "job.operators.out.cost=1500us", "end=stop", "cluster.task_managers.count=4",
       "timeline=[{at: 2200ms, fail: {subtask: \"values[1]\"}}, {at: 4s, rescale: {values: 3}}]",
       "expect=~"});
  expect_exactly_once(outcome);
  EXPECT_EQ(total(outcome.state), outcome.result.records_out);
  EXPECT_EQ(outcome.result.rescales.size(), 1u);
}

TEST(Shards, AtMaxGoAsFastAsTheSlowestOperator) {
  const RunOutcome outcome = run_with(
      {"job.operators.numbers.rate=[[0s, 0/s], [1s, max]]", "job.operators.values.cost=1ms",
       "job.operators.out.guarantee=at_least_once", "timeline=~", "expect=~", "end=cut"});
  expect_exactly_once(outcome);
  // Two subtasks that need 1 ms and share their cores with the others, for 5 s.
  EXPECT_GT(outcome.result.records_out, 9'000);
  EXPECT_LE(outcome.result.records_out, 10'000);
  // The rest that was read is in the buffers.
  EXPECT_GT(outcome.result.records_in, outcome.result.records_out + 1'000);
}

TEST(Shards, StateGrowsWithTheKeysThatHaveCome) {
  const RunOutcome outcome =
      run_with({"job.operators.values.state.preload=false", "job.operators.numbers.rate=100/s",
                "timeline=~", "expect=~", "end=cut"});
  ASSERT_GE(outcome.result.checkpoints.size(), 4u);
  EXPECT_LT(outcome.result.checkpoints[0].state_bytes, outcome.result.checkpoints[1].state_bytes);
  EXPECT_LT(outcome.result.checkpoints[1].state_bytes, outcome.result.checkpoints[2].state_bytes);
}

// Of the values 2 * (400 + 10 * 64) + 1024 * 1013 bytes, of the sources 2 * (234 + 2 * 32).
TEST(Shards, CheckpointsHaveTheSizesOfFlink) {
  const RunOutcome outcome =
      run_with({"job.operators.out.guarantee=at_least_once", "timeline=~", "expect=~", "end=cut"});
  ASSERT_GE(outcome.result.checkpoints.size(), 4u);
  for (const auto& checkpoint : outcome.result.checkpoints) {
    EXPECT_EQ(checkpoint.state_bytes, 2 * (400 + 640) + 1024 * 1013 + 2 * (234 + 64));
  }
}

TEST(Shards, CountedRecordsGoByTheirNumberToo) {
  const RunOutcome outcome =
      run_with({"job.operators.values.do=count", "job.operators.values.state=~", "end=stop"});
  expect_exactly_once(outcome);
  EXPECT_EQ(outcome.state.size(), 1024u);
  EXPECT_EQ(total(outcome.state), outcome.result.records_out);
}

TEST(Shards, PartOfTheRecordsUpdatesAsOften) {
  const RunOutcome outcome =
      run_with({"job.operators.values.state.update=25%", "timeline=~", "expect=~", "end=stop"});
  expect_exactly_once(outcome);
  EXPECT_NEAR(static_cast<double>(total(outcome.state)),
              static_cast<double>(outcome.result.records_out) / 4, 2.0);
}

}  // namespace
}  // namespace tailrace::scenarios
