// The main case: whatever happens to the job, the words come out as often as they are in the text.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::uint64_t kSeeds = 50;

struct Case {
  const char* scenario;
  bool crashes;
  std::size_t rescales;
};
constexpr Case kCases[] = {
    {"wordcount", false, 0}, {"wordcount-crash", true, 0}, {"wordcount-crash-rescale", true, 2}};

// Every word's final count is in the counter's state, once.
void expect_state(const RunOutcome& outcome, const Counts& counts) {
  Counts state;
  for (const DumpRow& row : outcome.state) {
    ASSERT_EQ(row.origin, "count");
    ASSERT_TRUE(state.emplace(row.text, row.number).second) << row.text << " is there twice";
  }
  EXPECT_EQ(state, counts);
}

// Every word has been committed with the numbers 1 to its count, each of them once.
void expect_effects(const RunOutcome& outcome, const Counts& counts) {
  std::vector<std::pair<std::string, std::int64_t>> wanted;
  for (const auto& [word, count] : counts) {
    for (std::int64_t number = 1; number <= count; ++number) wanted.emplace_back(word, number);
  }
  std::vector<std::pair<std::string, std::int64_t>> committed;
  for (const DumpRow& row : outcome.sink) committed.emplace_back(row.text, row.number);
  std::sort(committed.begin(), committed.end());
  EXPECT_EQ(committed, wanted);
}

void expect_tested_something(const Case& test, const analysis::RunResult& result) {
  ASSERT_EQ(result.restarts.size(), test.crashes ? 1u : 0u);
  for (const analysis::RestartRow& restart : result.restarts) {
    EXPECT_GT(restart.records_replayed, 0);
  }
  ASSERT_EQ(result.rescales.size(), test.rescales);
  for (const analysis::RescaleRow& rescale : result.rescales) {
    EXPECT_GT(rescale.records_in_flight, 0) << rescale.what;
    EXPECT_TRUE(rescale.running.has_value()) << rescale.what;
  }
}

void expect_exactly_once(const Case& test, const std::vector<std::string>& sets,
                         const Counts& counts) {
  SCOPED_TRACE(test.scenario);
  const Scenario scenario = library_scenario(test.scenario, sets);
  RunOutcome outcome = run(scenario);
  expect_state(outcome, counts);
  expect_effects(outcome, counts);
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
  EXPECT_EQ(not_held(scenario, outcome), "");
  expect_tested_something(test, outcome.result);
}

// The same crash where the sink does not wait for checkpoints: it must show, or the audit of the
// others says nothing.
void expect_duplicates(const Case& test, std::vector<std::string> sets) {
  SCOPED_TRACE(std::string(test.scenario) + " with the at-least-once sink");
  sets.emplace_back("job.operators.out.guarantee=at_least_once");
  const RunOutcome outcome = run(library_scenario(test.scenario, sets));
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_GT(outcome.result.audit->duplicated, 0);
}

void count_a_text(const std::string& path) {
  const Counts counts = count_words(read_text(path));
  ASSERT_GT(counts.size(), 100u);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<std::string> sets = {"seed=" + std::to_string(seed),
                                           "job.operators.lines.from.file=" + path};
    for (const Case& test : kCases) {
      expect_exactly_once(test, sets, counts);
      if (test.crashes) expect_duplicates(test, sets);
    }
    if (testing::Test::HasFailure()) return;  // one seed's story is long enough
  }
}

TEST(WordCount, TheLibrarysTextIsCountedExactlyOnce) {
  count_a_text(std::string(TAILRACE_LIBRARY) + "/text.txt");
}

TEST(WordCount, ALongLicenceIsCountedExactlyOnce) {
  const std::string path = "/usr/share/common-licenses/GPL-3";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not on this machine";
  count_a_text(path);
}

// Barriers that are tracked and not aligned let records between them into the snapshot: they are
// counted, and read again after the crash. A sink that commits with checkpoints does not help.
TEST(AtLeastOnce, DuplicatesComeFromTheTrackerNotFromTheSink) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string with_seed = "seed=" + std::to_string(seed);

    const Scenario tracking = library_scenario("at-least-once", {with_seed});
    ASSERT_EQ(tracking.job.operators.back().guarantee, Guarantee::kExactlyOnce);
    RunOutcome tracked = run(tracking);
    EXPECT_EQ(not_held(tracking, tracked), "");
    ASSERT_TRUE(tracked.result.audit.has_value());
    EXPECT_EQ(tracked.result.audit->lost, 0);
    EXPECT_GT(tracked.result.audit->duplicated, 0);

    const RunOutcome aligned = run(library_scenario(
        "at-least-once", {with_seed, "flink.execution.checkpointing.mode=EXACTLY_ONCE"}));
    ASSERT_TRUE(aligned.result.audit.has_value());
    EXPECT_EQ(aligned.result.audit->lost, 0);
    EXPECT_EQ(aligned.result.audit->duplicated, 0);
    EXPECT_GT(aligned.result.restarts.at(0).records_replayed, 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tailrace::scenarios
