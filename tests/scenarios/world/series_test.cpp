// What --series reports agrees with what the run reports by other ways, and the run is the same.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "analysis/report.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

RunOutcome run_with_series(const Scenario& scenario, base::Duration every) {
  RunOptions options;
  options.series = every;
  return run_scenario(scenario, options);
}

std::int64_t served(const analysis::Series& series, const std::string& op) {
  std::int64_t total = 0;
  for (const analysis::ThroughputSeries& row : series.throughput) {
    if (row.op == op) total += row.total;
  }
  return total;
}

const analysis::MetricSeries* find_metric(const analysis::Series& series, const std::string& op,
                                          const std::string& name) {
  const auto found =
      std::find_if(series.metrics.begin(), series.metrics.end(), [&](const auto& metric) {
        return metric.op == op && metric.subtask == 0 && metric.name == name;
      });
  return found == series.metrics.end() ? nullptr : &*found;
}

// Crashes, rescales, both generations, windows that do and do not divide the run.
TEST(Series, ChangesNothingOfARun) {
  for (const char* name : {"wordcount-crash-rescale", "wordcount-crash-rescale-1.20", "keyed-state",
                           "unaligned", "at-least-once", "job-manager-failover-before-the-entry"}) {
    const Scenario scenario = library_scenario(name);
    const RunOutcome plain = run(scenario);
    for (const base::Duration every : {base::Duration::seconds(1), base::Duration::millis(37)}) {
      SCOPED_TRACE(name);
      RunOutcome watched = run_with_series(scenario, every);
      ASSERT_TRUE(watched.result.series);
      watched.result.series.reset();
      EXPECT_EQ(plain.result.trace_hash, watched.result.trace_hash);
      EXPECT_EQ(plain.result.events, watched.result.events);
      // Every other number, too.
      EXPECT_EQ(analysis::to_json(plain.result), analysis::to_json(watched.result));
    }
  }
}

TEST(Series, CountsEveryRecordOnceAndInItsWindow) {
  const Scenario scenario = library_scenario("wordcount-crash-rescale-1.20");
  const RunOutcome outcome = run_with_series(scenario, base::Duration::seconds(1));
  const analysis::Series& series = *outcome.result.series;

  // Offered lines are emitted once, and again if a restart makes the source read them again.
  std::int64_t replayed = 0;
  for (const analysis::RestartRow& row : outcome.result.restarts) replayed += row.records_replayed;
  ASSERT_GT(replayed, 0);
  EXPECT_EQ(served(series, "lines"), outcome.result.records_in + replayed);
  std::int64_t rows = 0;
  for (const analysis::ReplayRow& row : series.replays) rows += row.records;
  EXPECT_EQ(rows, replayed);

  for (const analysis::ThroughputSeries& row : series.throughput) {
    EXPECT_EQ(std::accumulate(row.records.begin(), row.records.end(), std::int64_t{0}), row.total);
    EXPECT_LE(row.records.size(), static_cast<std::size_t>(series.windows) + 1);
  }
  // While the job was down nobody served anything.
  for (const analysis::ThroughputSeries& row : series.throughput) {
    ASSERT_GT(row.records.size(), 3U) << row.op;
    EXPECT_EQ(row.records[3], 0) << row.op;
  }
}

TEST(Series, LatencyWindowsHoldEveryEffect) {
  const Scenario scenario = library_scenario("wordcount-crash-rescale-1.20");
  const RunOutcome outcome = run_with_series(scenario, base::Duration::seconds(1));
  const analysis::Series& series = *outcome.result.series;
  std::int64_t count = 0;
  std::int64_t longest = 0;
  for (const analysis::LatencySeries& sink : series.latency) {
    for (const analysis::LatencyWindow& window : sink.windows) {
      count += window.count;
      longest = std::max(longest, window.max_ns);
      EXPECT_LE(window.p50_ns, window.p99_ns);
      EXPECT_LE(window.p99_ns, window.max_ns);
      EXPECT_LE(window.mean_ns, window.max_ns);
    }
  }
  const std::vector<std::int64_t>& samples = outcome.result.latency_ns;
  EXPECT_EQ(count, static_cast<std::int64_t>(samples.size()));
  EXPECT_EQ(longest, *std::max_element(samples.begin(), samples.end()));
}

TEST(Series, StampsOfARescaleComeInOrder) {
  for (const char* name : {"wordcount-crash-rescale", "wordcount-crash-rescale-1.20"}) {
    SCOPED_TRACE(name);
    const RunOutcome outcome = run_with_series(library_scenario(name), base::Duration::seconds(1));
    ASSERT_EQ(outcome.result.rescales.size(), 2U);
    const analysis::Series& series = *outcome.result.series;
    ASSERT_EQ(series.submissions.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
      const analysis::RescaleRow& row = outcome.result.rescales[i];
      EXPECT_LT(row.requested, row.savepoint_ready.value());
      EXPECT_LE(row.savepoint_ready.value(), row.stopped.value());
      EXPECT_LE(row.stopped.value(), row.submitted.value());
      EXPECT_LT(row.submitted.value(), row.running.value());
      EXPECT_EQ(series.submissions[i + 1].submitted, row.submitted.value());
      EXPECT_EQ(series.submissions[i + 1].running, row.running);
    }
  }
}

TEST(Series, AttemptsTellWhenASinkSawItsFirstRecordAfterAFailure) {
  const RunOutcome outcome =
      run_with_series(library_scenario("wordcount-crash-rescale-1.20"), base::Duration::seconds(1));
  const analysis::Series& series = *outcome.result.series;
  ASSERT_FALSE(series.failures.empty());
  ASSERT_EQ(outcome.result.restarts.size(), 1U);
  const analysis::RestartRow& restart = outcome.result.restarts.front();
  EXPECT_LT(series.failures.front().at, restart.failed);
  std::optional<base::Time> first;
  std::optional<base::Time> caught_up;
  for (const analysis::AttemptRow& row : series.attempts) {
    EXPECT_LE(row.initialised, row.opened.value_or(base::Time::max()));
    if (row.initialised < restart.failed) continue;
    if (row.op == "out" && row.first_record && (!first || *row.first_record < *first)) {
      first = row.first_record;
    }
    if (row.op == "lines" && row.caught_up && !caught_up) caught_up = row.caught_up;
  }
  ASSERT_TRUE(first && caught_up);
  EXPECT_GT(*first, restart.failed);
  EXPECT_GT(*caught_up, restart.failed);
}

// 1.20 measures what its tasks do; 1.10 does not (engine/task/task_io_metrics.hpp).
TEST(Series, HasTheGaugesOfItsGeneration) {
  const RunOutcome old_run =
      run_with_series(library_scenario("wordcount-crash-rescale"), base::Duration::seconds(1));
  EXPECT_EQ(find_metric(*old_run.result.series, "lines", "accumulateBusyTimeMs"), nullptr);
  EXPECT_NE(find_metric(*old_run.result.series, "lines", "outPoolUsage"), nullptr);

  const RunOutcome outcome =
      run_with_series(library_scenario("wordcount-crash-rescale-1.20"), base::Duration::seconds(1));
  const analysis::Series& series = *outcome.result.series;
  for (const char* name :
       {"accumulateBusyTimeMs", "accumulateIdleTimeMs", "accumulateBackPressuredTimeMs",
        "busyTimeMsPerSecond", "idleTimeMsPerSecond", "softBackPressuredTimeMsPerSecond",
        "hardBackPressuredTimeMsPerSecond", "inPoolUsage", "inputQueueLength",
        "checkpointAlignmentTime", "checkpointStartDelayNanos"}) {
    const analysis::MetricSeries* metric = find_metric(series, "count", name);
    ASSERT_NE(metric, nullptr) << name;
    EXPECT_EQ(metric->values.size(), static_cast<std::size_t>(series.windows)) << name;
    // At 3 s the job was down.
    EXPECT_FALSE(metric->values[2].has_value()) << name;
    EXPECT_TRUE(metric->values[10].has_value()) << name;
  }
  // Busy, idle and backpressured are all of the time.
  const auto at = [&](const char* name) {
    return find_metric(series, "count", name)->values[20].value();
  };
  EXPECT_EQ(
      at("busyTimeMsPerSecond") + at("idleTimeMsPerSecond") + at("backPressuredTimeMsPerSecond"),
      1000);
}

TEST(Series, IsAMemberOfTheDocument) {
  const RunOutcome outcome = run_with_series(library_scenario("wordcount-crash-rescale-1.20"),
                                             base::Duration::millis(500));
  const nlohmann::json document = nlohmann::json::parse(analysis::to_json(outcome.result));
  const nlohmann::json& series = document.at("series");
  EXPECT_EQ(series.at("every_ms"), 500.0);
  EXPECT_EQ(series.at("windows"), outcome.result.series->windows);
  EXPECT_EQ(series.at("submissions").size(), 3U);
  const nlohmann::json& vertex = series.at("submissions")[0].at("vertices")[0];
  EXPECT_TRUE(document.at("checkpoint_history")[0].at("tasks").contains(vertex.at("id")));
  EXPECT_EQ(series.at("throughput")[0].at("operator"), "lines");
  EXPECT_EQ(series.at("latency")[0].at("operator"), "out");
}

TEST(Series, IsAbsentUnlessAskedFor) {
  const RunOutcome outcome = run(library_scenario("wordcount"));
  EXPECT_FALSE(outcome.result.series);
  EXPECT_FALSE(nlohmann::json::parse(analysis::to_json(outcome.result)).contains("series"));
}

}  // namespace
}  // namespace tailrace::scenarios
