// Runs as wholes: equal runs are equal, other seeds are others, large jobs and broken-off runs.
#include <algorithm>
#include <atomic>
#include <iomanip>
#include <map>
#include <regex>
#include <sstream>

#include "analysis/report.hpp"
#include "scenarios/library_folder.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : list_library(TAILRACE_LIBRARY)) names.push_back(entry.name);
  return names;
}

TEST(Trace, OfTwoRunsInOneProcessIsTheSameAndOfAnotherSeedAnother) {
  for (const std::string& name : library_names()) {
    SCOPED_TRACE(name);
    const Scenario scenario = library_scenario(name);
    const RunOutcome first = run(scenario);
    const RunOutcome second = run(scenario);
    EXPECT_EQ(first.result.trace_hash, second.result.trace_hash);
    EXPECT_EQ(first.result.events, second.result.events);
    // Without checkpoints nothing is drawn in some of them.
    if (!scenario.flink.checkpoint_interval) continue;
    const RunOutcome other =
        run(library_scenario(name, {"seed=" + std::to_string(scenario.seed + 1)}));
    EXPECT_NE(first.result.trace_hash, other.result.trace_hash);
  }
}

// Who watches changes nothing.
TEST(Trace, DoesNotDependOnWhatIsCollectedNorOnProgressReports) {
  const Scenario scenario = library_scenario("wordcount-crash-rescale");
  RunOptions watched;
  std::int64_t reports = 0;
  watched.progress = [&reports](const Progress&) { ++reports; };
  EXPECT_EQ(run(scenario).result.trace_hash, run_scenario(scenario, watched).result.trace_hash);
  EXPECT_GT(reports, 100);
}

// The README shows traces of the library: lines of the form `| wordcount | 42c902ec27391524 |`.
TEST(Trace, IsWhatTheReadmeShows) {
  const std::string readme = read_text(std::string(TAILRACE_LIBRARY) + "/../../README.md");
  const std::regex row(R"(\|\s*`?([a-z0-9.-]+)`?\s*\|\s*`?([0-9a-f]{16})`?\s*\|)");
  std::map<std::string, std::string> shown;
  for (std::sregex_iterator at(readme.begin(), readme.end(), row), end; at != end; ++at) {
    shown.emplace((*at)[1], (*at)[2]);
  }
  if (shown.empty()) GTEST_SKIP() << "README.md shows no traces yet";
  for (const std::string& name : library_names()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(shown.contains(name)) << "README.md does not show this scenario";
    std::ostringstream hash;
    hash << std::hex << std::setw(16) << std::setfill('0')
         << run(library_scenario(name)).result.trace_hash;
    EXPECT_EQ(shown[name], hash.str());
  }
}

// 64 subtasks on 64 machines: a crash inside a checkpoint, then 64 -> 48.
TEST(LargeJob, IsCountedExactlyOnceThroughACrashAndARescale) {
  const Scenario scenario =
      library_scenario("wordcount-crash-rescale",
                       {"cluster.task_managers.count=64", "job.operators.lines.parallelism=64",
                        "job.operators.words.parallelism=64", "job.operators.count.parallelism=64",
                        "job.operators.lines.from.repeat=10",
                        "timeline=[{when: {checkpoint: 3, acknowledged: 100}, "
                        "kill: {task_manager_of: 'count[5]'}, back_after: 8s}, "
                        "{at: 24s, slow: {operator: count, subtask: 1, factor: 100}, for: 2s}, "
                        "{at: 25s, rescale: {lines: 48, words: 48, count: 48}}]",
                        "expect=[exactly once, restarts == 1, rescales == 1]"});
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
  const analysis::RunResult& result = outcome.result;
  ASSERT_EQ(result.restarts.size(), 1u);
  EXPECT_GT(result.restarts[0].records_replayed, 0);
  ASSERT_EQ(result.rescales.size(), 1u);
  EXPECT_GT(result.rescales[0].records_in_flight, 0);
  const auto at_least = [&result](std::int32_t subtasks) {
    return std::any_of(result.checkpoints.begin(), result.checkpoints.end(),
                       [subtasks](const analysis::CheckpointRow& row) {
                         return row.status == analysis::CheckpointStatus::kCompleted &&
                                row.subtasks == subtasks;
                       });
  };
  EXPECT_TRUE(at_least(3 * 64));
  EXPECT_TRUE(at_least(3 * 48));

  Counts counts = count_words(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"));
  for (auto& [word, count] : counts) count *= 10;
  Counts state;
  for (const DumpRow& row : outcome.state) state[row.text] += row.number;
  EXPECT_EQ(state, counts);
}

// A rescale that comes while another one is under way waits for it: both happen, in order.
TEST(Rescale, OfAJobThatIsBeingRescaledComesAfterwards) {
  const Scenario scenario = library_scenario(
      "wordcount", {"timeline=[{at: 10s, slow: {subtask: 'count[1]', factor: 100}, for: 3s}, "
                    "{at: 12s, rescale: {count: 3}}, {at: 12010ms, rescale: {words: 1}}, "
                    "{at: 12020ms, rescale: {lines: 1, count: 1}}]",
                    "expect=[exactly once, progress, rescales == 3, restarts == 0]"});
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
  EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kDuration);
  ASSERT_EQ(outcome.result.rescales.size(), 3u);
  const auto& rescales = outcome.result.rescales;
  EXPECT_EQ(rescales[0].what, "count 2 -> 3, out 2 -> 3");
  EXPECT_EQ(rescales[1].what, "words 2 -> 1");
  EXPECT_EQ(rescales[2].what, "lines 2 -> 1, count 3 -> 1, out 3 -> 1");
  for (const analysis::RescaleRow& rescale : rescales) EXPECT_GE(rescale.savepoint, 0);
  EXPECT_LT(rescales[0].savepoint, rescales[1].savepoint);
  EXPECT_LT(rescales[1].savepoint, rescales[2].savepoint);
}

// Whoever asks for a rescale or for the end while the sources run out gets neither: the job is over.
TEST(Rescale, OfAJobWhoseSourcesEndMeanwhileIsGivenUp) {
  for (std::int64_t ms = 8'000; ms <= 12'000; ms += 50) {
    SCOPED_TRACE(ms);
    const Scenario scenario = library_scenario(
        "wordcount",
        {"job.operators.lines.rate={over: 10s}", "job.operators.lines.then=finish",
         // 1.10 takes no checkpoint at the end: a last transaction would stay open.
         "job.operators.out.guarantee=at_least_once", "until=sources_finished",
         "timeline=[{at: " + std::to_string(ms) + "ms, rescale: {count: 3}, optional: true}]",
         "expect=[exactly once]"});
    RunOutcome outcome = run(scenario);
    EXPECT_EQ(not_held(scenario, outcome), "");
    EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kSourcesFinished);
    EXPECT_LT(outcome.result.virtual_time, Duration::seconds(20));
    if (HasFailure()) return;
  }
}

TEST(Interrupted, ARunEndsBetweenTwoEventsAndSaysThatItIsIncomplete) {
  std::atomic<bool> interrupted = false;
  RunOptions options;
  options.interrupted = &interrupted;
  options.progress = [&interrupted](const Progress& progress) {
    if (progress.now >= Time{} + Duration::seconds(10)) interrupted = true;
  };
  RunOutcome outcome = run_scenario(library_scenario("wordcount-crash"), options);
  EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kInterrupted);
  EXPECT_TRUE(outcome.result.incomplete());
  EXPECT_GE(outcome.result.virtual_time, Duration::seconds(10));
  EXPECT_LT(outcome.result.virtual_time, Duration::seconds(20));  // looked at every so many events
  EXPECT_EQ(outcome.result.restarts.size(), 1u);                  // what has happened is told
  EXPECT_FALSE(outcome.result.audit.has_value());
  EXPECT_NE(analysis::to_text(outcome.result).find("INCOMPLETE"), std::string::npos);
}

TEST(Interrupted, BeforeItBeginsARunIsEmpty) {
  const std::atomic<bool> interrupted = true;
  RunOptions options;
  options.interrupted = &interrupted;
  const RunOutcome outcome = run_scenario(library_scenario("wordcount"), options);
  EXPECT_TRUE(outcome.result.incomplete());
  EXPECT_EQ(outcome.result.records_out, 0);
}

}  // namespace
}  // namespace tailrace::scenarios
