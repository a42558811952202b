// What the exactly-once audit says of runs that do not end with a savepoint.
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

analysis::Audit audit_of(const std::string& name, const std::vector<std::string>& sets) {
  const RunOutcome outcome = run(library_scenario(name, sets));
  EXPECT_TRUE(outcome.result.audit.has_value());
  return outcome.result.audit.value_or(analysis::Audit{-1, -1});
}

// What a sink without transactions has written since the last checkpoint was read, once: that is
// neither lost nor doubled.
TEST(AuditOfACut, EffectsBehindTheLastCheckpointAreNotDuplicates) {
  const RunOutcome outcome = run(library_scenario("backpressure-alignment"));
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
  // So it matters: there are such effects.
  const Time last_checkpoint = outcome.result.checkpoints.back().triggered;
  ASSERT_TRUE(outcome.result.last_progress.has_value());
  EXPECT_GT(*outcome.result.last_progress, last_checkpoint + Duration::seconds(1));
}

TEST(AuditOfACut, DuplicatesOfACrashStillShow) {
  const std::vector<std::string> cut = {"end=cut", "job.operators.out.guarantee=at_least_once"};
  const analysis::Audit crashed = audit_of("wordcount-crash", cut);
  EXPECT_EQ(crashed.lost, 0);
  EXPECT_GT(crashed.duplicated, 0);
  const analysis::Audit quiet = audit_of("wordcount", cut);
  EXPECT_EQ(quiet.lost, 0);
  EXPECT_EQ(quiet.duplicated, 0);
}

TEST(AuditOfACut, TransactionsThatWaitForACheckpointAreNotLost) {
  const analysis::Audit audit = audit_of("wordcount-crash", {"end=cut", "duration=30500ms"});
  EXPECT_EQ(audit.lost, 0);
  EXPECT_EQ(audit.duplicated, 0);
}

TEST(AuditOfACut, BeforeTheFirstCheckpointNothingIsCovered) {
  const std::vector<std::string> early = {"end=cut", "duration=10s",
                                          "flink.execution.checkpointing.interval=1h",
                                          "job.operators.out.guarantee=at_least_once"};
  const analysis::Audit audit = audit_of("wordcount", early);
  EXPECT_EQ(audit.lost, 0);
  EXPECT_EQ(audit.duplicated, 0);
}

// Data in flight is in the checkpoint: read, without an effect yet, and not lost.
TEST(AuditOfACut, BehindACheckpointWithDataInFlightThereIsNone) {
  const auto cut = [](const char* unaligned) {
    return run(library_scenario(
        "keyed-state",
        {"timeline=~", "expect=~", "end=cut", "job.operators.out.cost=1500us",
         std::string("flink={version: '1.20', execution.checkpointing.interval: 1 s, "
                     "execution.checkpointing.unaligned.enabled: ") +
             unaligned + '}'}));
  };
  EXPECT_FALSE(cut("true").result.audit.has_value());
  const RunOutcome aligned = cut("false");
  ASSERT_TRUE(aligned.result.audit.has_value());
  EXPECT_EQ(aligned.result.audit->lost, 0);
  EXPECT_EQ(aligned.result.audit->duplicated, 0);
}

// A job that could not be stopped refers to its checkpoints still: what they hold is no orphan. In
// 1.10 a job with a finished source takes no savepoint any more.
TEST(AuditOfACut, AJobThatCannotBeStoppedHasNoOrphans) {
  const RunOutcome outcome = run(library_scenario(
      "keyed-state",
      {"timeline=~", "expect=~", "end=stop", "duration=3s", "flink.version='1.10'",
       "job.operators=[{id: ends, kind: source, from: {records: 1500}, size: 100B, rate: 1k/s, "
       "then: finish}, {id: stays, kind: source, from: {records: 10}, size: 100B}, "
       "{id: out, kind: sink, input: [ends, stays]}]"}));
  EXPECT_GT(outcome.result.checkpoints.size(), 0u);
  EXPECT_FALSE(outcome.result.orphaned_blobs.has_value());
}

// Two receivers have two copies of each record to read.
TEST(RecordsInFlight, ABroadcastIsOneForEachReceiver) {
  const RunOutcome outcome = run(library_scenario(
      "keyed-state",
      {"expect=~", "end=stop", "cluster.task_managers.count=4", "job.operators.copy.by=broadcast",
       "job.operators.values.cost=1ms", "timeline=[{at: 3s, rescale: {out: 3}}]"}));
  ASSERT_EQ(outcome.result.rescales.size(), 1u);
  // 2,000 a second, each twice, and two subtasks that do 1,000 a second each.
  EXPECT_GT(outcome.result.rescales[0].records_in_flight, 1'000);
}

// A record that is broadcast to two subtasks has its effect twice, and that is not too often.
TEST(Audit, ABroadcastHasAsManyEffectsAsReceivers) {
  const RunOutcome outcome =
      run(library_scenario("wordcount", {"job.operators.words.by=broadcast", "expect=[progress]"}));
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
  const Counts counts = count_words(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"));
  std::int64_t words = 0;
  for (const auto& [word, count] : counts) words += count;
  EXPECT_EQ(outcome.result.records_out, 2 * words);
}

// How many receivers a record had depends on when it was sent.
TEST(Audit, OfABroadcastThatIsRescaledThereIsNone) {
  const RunOutcome outcome =
      run(library_scenario("wordcount", {"job.operators.words.by=broadcast", "expect=[progress]",
                                         "timeline=[{at: 20s, rescale: {words: 3}}]"}));
  EXPECT_FALSE(outcome.result.audit.has_value());
}

TEST(Audit, OfAJobWhoseSourcesEndEveryLineCounts) {
  const Scenario scenario = library_scenario(
      "wordcount", {"job.operators.lines.then=finish", "until=sources_finished",
                    "expect=[exactly once]", "job.operators.out.guarantee=at_least_once"});
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kSourcesFinished);
  EXPECT_EQ(not_held(scenario, outcome), "");
  EXPECT_GT(outcome.result.records_out, 3000);
}

// A job is submitted, accepted and RUNNING after three ways of 500 us; a request of that instant is
// older than its first RUNNING.
TEST(Client, ARequestOfTheInstantInWhichTheJobRunsIsAnswered) {
  for (const char* at : {"1499us", "1500us", "1501us"}) {
    SCOPED_TRACE(at);
    const RunOutcome outcome = run(library_scenario(
        "wordcount",
        {"timeline=[{at: " + std::string(at) + ", rescale: {words: 3}}]", "expect=[progress]"}));
    EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kDuration);
    ASSERT_TRUE(outcome.result.audit.has_value());
    EXPECT_EQ(outcome.result.audit->lost, 0);
  }
}

}  // namespace
}  // namespace tailrace::scenarios
