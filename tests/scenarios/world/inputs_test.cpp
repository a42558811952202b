// Operators with two inputs of their own, and sources that have nothing to say.
#include "scenarios/world/scenario_run.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::int64_t kBusyTimes = 4;  // how often the busy source reads the text
const std::vector<std::string> kGenerations = {"1.10", "1.20"};

std::vector<std::string> with(const std::string& version, std::vector<std::string> sets = {}) {
  sets.push_back("flink.version=\"" + version + "\"");
  return sets;
}

// Every word is counted as often as it was offered, to both inputs together.
void expect_counted(const std::vector<std::string>& sets, std::int64_t quiet_times = 1) {
  const Scenario scenario = library_scenario("two-inputs", sets);
  RunOutcome outcome = run(scenario);
  EXPECT_EQ(not_held(scenario, outcome), "");
  ASSERT_TRUE(outcome.result.audit.has_value());
  EXPECT_EQ(outcome.result.audit->lost, 0);
  EXPECT_EQ(outcome.result.audit->duplicated, 0);
  ASSERT_EQ(outcome.result.restarts.size(), 1u);
  EXPECT_GT(outcome.result.restarts[0].records_replayed, 0);
  Counts wanted = count_words(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"));
  for (auto& [word, count] : wanted) count *= kBusyTimes + quiet_times;
  Counts state;
  for (const DumpRow& row : outcome.state) state.emplace(row.text, row.number);
  EXPECT_EQ(state, wanted);
}

TEST(TwoInputs, AreCountedExactlyOnceThroughACrash) {
  for (const std::string& version : kGenerations) {
    for (int seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(version + ", seed " + std::to_string(seed));
      expect_counted(with(version, {"seed=" + std::to_string(seed)}));
    }
  }
}

TEST(TwoInputs, ComeBackWithWhatUnalignedBarriersOvertook) {
  for (int seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_counted(with("1.20", {"seed=" + std::to_string(seed), "job.operators.lines.rate=max",
                                 "flink.execution.checkpointing.unaligned.enabled=true"}));
  }
}

// Checkpoints go on, without barriers from the input that has ended.
TEST(TwoInputs, OneOfThemMayFinishAndTheOtherGoesOn) {
  expect_counted(with("1.20", {"job.operators.quiet_lines.then=finish"}));
}

TEST(TwoInputs, EndWithTheLastOfThem) {
  for (const std::string& version : kGenerations) {
    SCOPED_TRACE(version);
    const Scenario scenario = library_scenario(
        "two-inputs",
        with(version, {"job.operators.quiet_lines.then=finish", "job.operators.lines.then=finish",
                       "timeline=~", "until=sources_finished", "duration=10min",
                       "job.operators.out.guarantee=at_least_once",
                       "expect=[finished == sources_finished]"}));
    RunOutcome outcome = run(scenario);
    EXPECT_EQ(not_held(scenario, outcome), "");
    ASSERT_TRUE(outcome.result.audit.has_value());
    EXPECT_EQ(outcome.result.audit->lost, 0);
    EXPECT_EQ(outcome.result.audit->duplicated, 0);
  }
}

// A union and two inputs of their own: the same job graph but for the inputs of one task.
TEST(TwoInputs, AreNotAUnion) {
  for (const std::string& version : kGenerations) {
    SCOPED_TRACE(version);
    RunOutcome separate = run(library_scenario("two-inputs", with(version)));
    RunOutcome together =
        run(library_scenario("two-inputs", with(version, {"job.operators.count.inputs=union"})));
    EXPECT_NE(separate.result.trace_hash, together.result.trace_hash);
  }
}

TEST(TwoInputs, AreTwo) {
  EXPECT_THROW(library_scenario("two-inputs", {"job.operators.count.input=words"}), ScenarioError);
}

// Barriers are made by the sources on the coordinator's word, so one that has nothing to read hands
// them on as fast as any. It is the idle source of event time that Flink users mark; checkpoints know
// no such thing.
TEST(IdleSource, HoldsUpNeitherCheckpointsNorAlignment) {
  for (const std::string& version : kGenerations) {
    for (const std::string inputs : {"union", "separate"}) {
      SCOPED_TRACE(version + ", " + inputs);
      const auto durations = [&](const std::string& quiet_rate) {
        const Scenario scenario = library_scenario(
            "two-inputs",
            with(version,
                 {"job.operators.count.inputs=" + inputs, "timeline=~",
                  "job.operators.lines.rate=20/s", "job.operators.lines.from.repeat=1",
                  "job.operators.count.cost=10us", "job.operators.quiet_lines.rate=" + quiet_rate,
                  "duration=10s", "end=cut", "expect=[checkpoints.completed >= 8]"}));
        RunOutcome outcome = run(scenario);
        EXPECT_EQ(not_held(scenario, outcome), "");
        std::vector<Duration> taken;
        Duration alignment;
        for (const analysis::CheckpointRow& row : outcome.result.checkpoints) {
          if (row.status != analysis::CheckpointStatus::kCompleted) continue;
          taken.push_back(*row.duration);
          alignment = std::max(alignment, row.alignment_max);
        }
        EXPECT_LT(alignment, Duration::millis(5));
        EXPECT_LT(*std::max_element(taken.begin(), taken.end()), Duration::millis(250));
        return taken.size();
      };
      // Nothing in the whole run, or as much as the other.
      EXPECT_EQ(durations("0/s"), durations("20/s"));
    }
  }
}

}  // namespace
}  // namespace tailrace::scenarios
