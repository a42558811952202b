// What 1.20 does about full queues, against closed forms: debloating, unaligned checkpoints, and
// aligned ones that time out.
#include <algorithm>
#include <cmath>

#include "tests/scenarios/world/closed_forms.hpp"

namespace tailrace::scenarios {
namespace {

constexpr const char* kUnaligned = "flink.execution.checkpointing.unaligned.enabled=true";

// Durations of the completed checkpoints, without the first ones: queues and sizes settle meanwhile.
std::vector<Duration> settled_durations(const std::string& name, std::vector<std::string> sets) {
  sets.push_back("expect=[progress]");
  const Scenario scenario = library_scenario(name, sets);
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
  std::vector<Duration> durations;
  for (const analysis::CheckpointRow& row : outcome.result.checkpoints) {
    if (row.status == analysis::CheckpointStatus::kCompleted) durations.push_back(*row.duration);
  }
  EXPECT_GE(durations.size(), 4u);
  durations.erase(durations.begin(),
                  durations.begin() + std::min<std::ptrdiff_t>(2, std::ssize(durations)));
  return durations;
}

double mean_seconds(const std::vector<Duration>& durations) {
  double sum = 0;
  for (const Duration duration : durations) sum += seconds(duration);
  return sum / static_cast<double>(durations.size());
}

std::vector<std::string> debloating() {
  const std::string key = "flink.taskmanager.network.memory.buffer-debloat.";
  return {key + "enabled=true", key + "target=300ms", key + "period=200ms", key + "samples=5",
          "flink.taskmanager.memory.min-segment-size=256b"};
}

TEST(ClosedForms120, DebloatingSettlesAtItsTargetForEachExchange) {
  for (std::int32_t exchanges = 1; exchanges <= 3; ++exchanges) {
    SCOPED_TRACE(std::to_string(exchanges) + " exchanges");
    std::vector<std::string> sets = debloating();
    for (const std::string& set : fewer_exchanges(exchanges)) sets.push_back(set);
    // Small records, so that their size sets no limit to how small a buffer may become.
    sets.insert(sets.end(),
                {"job.operators.busy.size=29B", "job.operators.calm.size=29B",
                 "job.operators.busy.from.records=10000000", "job.operators.out.cost=200us"});
    const std::vector<Duration> durations = settled_durations("aligned-exchanges", sets);
    const double target = exchanges * 0.3;
    EXPECT_GE(mean_seconds(durations), target);
    EXPECT_LE(mean_seconds(durations), 1.5 * target);
    // A change of less than a quarter is not announced, so single checkpoints lie on both sides.
    for (const Duration duration : durations) {
      EXPECT_GE(seconds(duration), 0.75 * target);
      EXPECT_LE(seconds(duration), 1.5 * target);
    }
  }
}

// The shape of published measurements (slow-sink): a sink that needs 200 us for each record behind two
// exchanges. Without debloating it takes more than three seconds (closed_forms_test.cpp).
TEST(ClosedForms120, DebloatingBringsASlowSinkBelowASecond) {
  for (const Duration duration : settled_durations("slow-sink", debloating())) {
    EXPECT_GE(duration, Duration::millis(450));
    EXPECT_LE(duration, Duration::millis(900));
  }
}

TEST(ClosedForms120, UnalignedBehindASlowSinkTakesLessThanATenthOfASecond) {
  for (const Duration duration : settled_durations(
           "slow-sink", {kUnaligned, "job.operators.numbers.size=1KiB", "duration=30s"})) {
    EXPECT_LT(duration, Duration::millis(100));
  }
}

// Barriers overtake whatever is queued: how much it is only shows in what has to be written.
TEST(ClosedForms120, UnalignedBarriersDoNotCareHowMuchIsQueued) {
  std::int64_t fewest = 0;
  for (const char* buffers : {"2", "8", "20"}) {
    SCOPED_TRACE(std::string(buffers) + " buffers for each channel");
    const Scenario scenario = library_scenario(
        "slow-sink",
        {kUnaligned, "job.operators.numbers.size=1KiB", "expect=[progress]", "duration=25s",
         "flink.taskmanager.network.memory.buffers-per-channel=" + std::string(buffers)});
    CheckpointWatch watch(scenario, {"numbers"}, "out");
    std::int64_t queued = 0;
    std::int32_t completed = 0;
    for (const auto& [id, checkpoint] : watch.checkpoints()) {
      if (!checkpoint.completed) continue;
      SCOPED_TRACE("checkpoint " + std::to_string(id));
      if (++completed <= 2) continue;
      queued = std::max(queued, checkpoint.records_under_way());
      for (const auto& [subtask, moments] : checkpoint.subtasks) {
        // A trigger, two hops, and the slices of work that are under way when a barrier comes.
        const Duration bound = scenario.cluster.rpc_latency +
                               (scenario.cluster.network.latency + scenario.costs.slice) * 3;
        EXPECT_LE(moments.last_barrier - checkpoint.triggered, bound);
      }
      // Every subtask writes its own share at once; one connection carries that of five at most.
      const double to_write =
          static_cast<double>(checkpoint.records_under_way()) * 1024 /
          static_cast<double>(scenario.cluster.checkpoint_storage.per_connection.value);
      EXPECT_LE(seconds(checkpoint.end_to_end()), 0.06 + to_write);
    }
    EXPECT_GE(completed, 4);
    if (fewest == 0) {
      fewest = queued;
    } else {
      EXPECT_GT(queued, fewest * 3 / 2);
    }
  }
}

TEST(ClosedForms120, AnAlignedCheckpointThatTimesOutTakesTheTimeoutAndTheUnalignedRest) {
  const double aligned = mean_seconds(settled_durations("slow-sink", {"duration=45s"}));
  const double unaligned =
      mean_seconds(settled_durations("slow-sink", {kUnaligned, "duration=30s"}));
  ASSERT_GT(aligned, 10 * unaligned);
  for (const double timeout : {0.1, 0.5, 1.0, 2.0, 10.0}) {
    SCOPED_TRACE("timeout " + std::to_string(timeout) + " s");
    const auto ms = static_cast<std::int64_t>(std::lround(timeout * 1000));
    const double hybrid = mean_seconds(settled_durations(
        "slow-sink", {kUnaligned, "duration=45s",
                      "flink.execution.checkpointing.aligned-checkpoint-timeout=" +
                          std::to_string(ms) + " ms"}));
    const double closed_form = std::min(aligned, timeout + unaligned);
    EXPECT_NEAR(hybrid, closed_form, 0.02 * closed_form);
  }
}

}  // namespace
}  // namespace tailrace::scenarios
