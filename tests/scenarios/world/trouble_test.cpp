// Random jobs and random trouble: whatever happens, every word is counted once.
#include <algorithm>

#include "sim/random.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::uint64_t kStories = 60;

// Draws the settings of one story: parallelisms, the cluster, and a timeline of one to six entries.
class Story {
 public:
  explicit Story(std::uint64_t seed) : draws_(seed, "trouble"), seed_(seed) {
    task_managers_ = draw(2, 5);
    slots_ = draw(1, 2);
    // Of the slots one stays free, so that the job can go on without a task manager now and then.
    largest_ = std::clamp<std::int64_t>(task_managers_ * slots_ - 1, 1, 6);
    for (Op& op : ops_) op.parallelism = draw(1, largest_);
  }

  std::vector<std::string> settings() {
    std::string timeline;
    for (std::int64_t left = draw(1, 6); left > 0; --left) {
      timeline += timeline.empty() ? "timeline=[" : ", ";
      timeline += "{" + moment() + ", " + trouble() + ", optional: true}";
    }
    std::vector<std::string> settings = {
        "seed=" + std::to_string(seed_),
        "duration=90s",
        "expect=[exactly once]",
        "cluster.task_managers.count=" + std::to_string(task_managers_),
        "cluster.task_managers.slots=" + std::to_string(slots_),
        "flink.restart-strategy.fixed-delay.attempts=1000000",
        "flink.execution.checkpointing.tolerable-failed-checkpoints=1000000",
        timeline + "]"};
    for (const Op& op : ops_) {
      settings.push_back("job.operators." + op.id +
                         ".parallelism=" + std::to_string(op.parallelism));
    }
    return settings;
  }

 private:
  struct Op {
    std::string id;
    std::int64_t parallelism = 1;
  };

  std::int64_t draw(std::int64_t low, std::int64_t high) { return draws_.uniform(low, high); }
  std::string ms(std::int64_t low, std::int64_t high) {
    return std::to_string(draw(low, high)) + "ms";
  }
  const Op& some_op() { return ops_[static_cast<std::size_t>(draw(0, 2))]; }
  std::string some_subtask() {
    const Op& op = some_op();
    return "'" + op.id + '[' + std::to_string(draw(0, op.parallelism - 1)) + "]'";
  }
  std::string some_task_manager() { return std::to_string(draw(0, task_managers_ - 1)); }

  std::string moment() {
    if (draw(0, 1) == 0) return "at: " + ms(100, 44'000);
    std::string checkpoint = "when: {checkpoint: " + std::to_string(draw(1, 40)) + ", ";
    const std::int64_t kind = draw(0, 2);
    if (kind == 0) return checkpoint + "triggered}";
    if (kind == 1) return checkpoint + "completed}";
    std::int64_t subtasks = 0;
    for (const Op& op : ops_) subtasks += op.parallelism;
    return checkpoint + "acknowledged: " + std::to_string(draw(1, subtasks)) + "}";
  }

  std::string trouble() {
    switch (draw(0, 7)) {
      case 0: {
        const std::string victim = some_subtask();
        return "kill: {task_manager_of: " + victim + "}, back_after: " + ms(0, 6000);
      }
      case 1: {
        const std::string victim = some_task_manager();
        return "vanish: {task_manager: " + victim + "}, back_after: " + ms(0, 6000);
      }
      case 2:
        return "fail: {subtask: " + some_subtask() + "}";
      case 3: {
        const std::string victim = some_subtask();
        const std::string factor = std::to_string(draw(2, 200));
        return "slow: {subtask: " + victim + ", factor: " + factor + "}, for: " + ms(100, 4000);
      }
      case 4: {
        const std::string victim = some_task_manager();
        return "pause: {task_manager: " + victim + "}, for: " + ms(100, 4000);
      }
      case 5: {
        const std::string rate = std::to_string(draw(1, 60));
        const std::string latency = ms(0, 500);
        return "storage: {error_rate: " + rate + "%, latency: " + latency +
               "}, for: " + ms(100, 4000);
      }
      case 6:
        return "savepoint";
      default: {
        const std::string op = some_op().id;
        return "rescale: {" + op + ": " + std::to_string(draw(1, largest_)) + "}";
      }
    }
  }

  sim::RandomStream draws_;
  std::uint64_t seed_;
  std::int64_t task_managers_ = 2;
  std::int64_t slots_ = 1;
  std::int64_t largest_ = 1;
  std::vector<Op> ops_ = {{"lines"}, {"words"}, {"count"}};
};

TEST(Trouble, WhateverHappensEveryWordIsCountedOnce) {
  const Counts counts = count_words(read_text(std::string(TAILRACE_LIBRARY) + "/text.txt"));
  std::size_t restarts = 0;
  std::size_t rescales = 0;
  for (std::uint64_t seed = 1; seed <= kStories; ++seed) {
    const std::vector<std::string> settings = Story(seed).settings();
    std::string told;
    for (const std::string& setting : settings) told += " --set '" + setting + "'";
    SCOPED_TRACE("tailrace run wordcount-crash.yaml" + told);

    const Scenario scenario = library_scenario("wordcount-crash", settings);
    RunOutcome outcome = run(scenario);
    EXPECT_EQ(not_held(scenario, outcome), "");
    EXPECT_EQ(outcome.result.finished, analysis::FinishReason::kDuration);
    Counts state;
    for (const DumpRow& row : outcome.state) state[row.text] += row.number;
    EXPECT_EQ(state, counts);
    EXPECT_EQ(outcome.result.orphaned_blobs.value_or(0), 0);
    restarts += outcome.result.restarts.size();
    rescales += outcome.result.rescales.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(restarts, kStories / 2);
  EXPECT_GT(rescales, kStories / 4);
}

}  // namespace
}  // namespace tailrace::scenarios
