// Sources of shards and keyed state in scenario files.
#include "scenarios/sections.hpp"
#include "tests/scenarios/scenario_files.hpp"

namespace tailrace::scenarios {
namespace {

// A source of shards (line 6), a map (7), an update (8) and a sink (9).
std::string shards(const std::string& rest = "") {
  return "name: load\n"
         "duration: 10s\n"
         "flink: {version: \"1.20\"}\n"
         "job:\n"
         "  operators:\n"
         "    - {id: numbers, kind: source, from: {shards: 12}, size: 512B, parallelism: 2, keys: "
         "{distribution: uniform, count: 1000}}\n"
         "    - {id: copy, kind: map, do: identity, input: numbers}\n"
         "    - {id: values, kind: keyed, do: update, input: copy, state: {per_key: 1KB}}\n"
         "    - {id: out, kind: sink, input: values}\n" +
         rest;
}

class ShardsLanguage : public ScenarioFiles {
 protected:
  // What is wrong, without where. Settings of operators go without "job.operators.".
  std::string wrong(std::vector<std::string> sets) {
    for (std::string& set : sets) {
      const bool of_an_operator =
          set.starts_with("numbers.") || set.starts_with("copy.") || set.starts_with("values.");
      if (of_an_operator) set = "job.operators." + set;
    }
    std::string message = mistakes(shards(), sets);
    for (const std::string& set : sets) {
      if (message.starts_with("--set " + set)) return message.substr(set.size() + 8);
    }
    return message.starts_with("s.yaml:") ? message.substr(message.find(": ") + 2) : message;
  }
};

TEST_F(ShardsLanguage, SourcesSayHowManyShardsHowLargeAndWhichKeys) {
  const Scenario scenario =
      load(shards(), {"job.operators.numbers.keys={distribution: zipf, count: 500, active: 100, "
                      "exponent: 0.75}"});
  const OperatorSpec& source = scenario.job.operators[0];
  EXPECT_EQ(source.shards, 12);
  EXPECT_EQ(source.record_bytes, 512);
  EXPECT_EQ(source.made_up_records, 0);
  EXPECT_EQ(source.keys.distribution, KeyDistribution::kZipf);
  EXPECT_EQ(source.keys.count, 500);
  EXPECT_EQ(source.keys.active, 100);
  EXPECT_EQ(source.keys.exponent_milli, 750);
  const OperatorSpec other = load(shards()).job.operators[0];
  EXPECT_EQ(other.keys.active, 1000);
  EXPECT_EQ(other.load.kind, OfferedLoad::Kind::kMax);
}

TEST_F(ShardsLanguage, UpdatesSayWhatTheyKeep) {
  const Scenario scenario =
      load(shards(), {"job.operators.values.state={per_key: 100B, preload: true, update: 12.5%}"});
  const OperatorSpec& op = scenario.job.operators[2];
  EXPECT_EQ(op.function, OperatorFunction::kUpdate);
  EXPECT_EQ(op.state.bytes_per_key, 100);
  EXPECT_TRUE(op.state.preload);
  EXPECT_EQ(op.state.update_ppm, 125'000);
  EXPECT_FALSE(load(shards()).job.operators[2].state.preload);
  EXPECT_EQ(load(shards()).job.operators[2].state.update_ppm, 1'000'000);
}

TEST_F(ShardsLanguage, AStepOfTheRateMaySayMax) {
  const OfferedLoad steps =
      load(shards(), {"job.operators.numbers.rate=[[0s, 0/s], [1s, max]]"}).job.operators[0].load;
  ASSERT_EQ(steps.steps.size(), 2u);
  EXPECT_FALSE(steps.steps[0].max);
  EXPECT_EQ(steps.steps[0].records, 0);
  EXPECT_TRUE(steps.steps[1].max);
  EXPECT_EQ(steps.steps[1].from, Time{1'000'000'000});
  EXPECT_EQ(mistakes(shards(), {"job.operators.numbers.rate=[[0s, max], [1s, 5/s]]"}),
            "--set job.operators.numbers.rate=[[0s, max], [1s, 5/s]]: job.operators.numbers.rate: "
            "max can only be the last step");
  EXPECT_EQ(
      mistakes(small(), {"job.operators.lines.rate=[[0s, max]]"}),
      "--set job.operators.lines.rate=[[0s, max]]: job.operators.lines.rate: only a source of "
      "shards has a step that says max");
}

TEST_F(ShardsLanguage, WhatASourceOfShardsNeedsIsSaid) {
  EXPECT_EQ(wrong({"numbers.size=~"}),
            "job.operators.numbers has shards and no \"size\" for their records, such as size: "
            "512B");
  EXPECT_EQ(wrong({"numbers.keys=~"}),
            "job.operators.numbers has shards and no \"keys\" for their records, such as keys: "
            "{distribution: uniform, count: 1000}");
  EXPECT_EQ(wrong({"numbers.keys={count: 5}"}),
            "job.operators.numbers.keys has no \"distribution\", which it needs");
  EXPECT_EQ(wrong({"numbers.keys.distribution=even"}),
            "job.operators.numbers.keys.distribution: \"even\" is not one of balanced, uniform or "
            "zipf");
  EXPECT_EQ(wrong({"numbers.keys.distribution=balanced"}),
            "job.operators.numbers.keys: balanced keys need the number of key groups: "
            "job.max_parallelism, such as 128");
  EXPECT_EQ(wrong({"numbers.keys.active=1001"}),
            "job.operators.numbers.keys.active: 1001 are more than the count of 1000");
  EXPECT_EQ(wrong({"numbers.keys.exponent=1"}),
            "job.operators.numbers.keys.exponent: only the distribution zipf has an exponent");
  EXPECT_EQ(
      wrong({"numbers.from={shards: 0}"}),
      "job.operators.numbers.from.shards: \"0\" is out of range; it must be from 1 to 100000");
  EXPECT_EQ(wrong({"numbers.from={shards: 2, records: 5}"}),
            "job.operators.numbers.from.records: a source reads a file, makes up records or has "
            "shards, one of them");
  EXPECT_EQ(wrong({"numbers.then=finish"}),
            "job.operators.numbers.then: shards have no last record");
  EXPECT_EQ(wrong({"numbers.rate={over: 5s}"}),
            "job.operators.numbers.rate: shards have no end, so there is no time for all records");
}

TEST_F(ShardsLanguage, TheSizeHasRoomForTheLargestKey) {
  EXPECT_EQ(wrong({"numbers.size=17B"}), "");  // 999
  EXPECT_EQ(wrong({"numbers.size=16B"}),
            "job.operators.numbers.size: the largest key, 999, does not fit; it takes 17B");
  // Keys of key groups are larger than their number.
  EXPECT_EQ(wrong({"job.max_parallelism=128", "numbers.size=17B",
                   "numbers.keys={distribution: balanced, count: 1000}"}),
            "job.operators.numbers.size: the largest key, 2654, does not fit; it takes 18B");
}

TEST_F(ShardsLanguage, ThereAreAtLeastAsManyShardsAsSubtasks) {
  EXPECT_EQ(wrong({"numbers.from.shards=1"}),
            "job.operators.numbers: 1 shards are not enough for 2 subtasks");
  EXPECT_EQ(mistakes(shards("timeline: [{at: 5s, rescale: {numbers: 13}}]\n")),
            "s.yaml:10:12: timeline: the source numbers has 12 shards, not enough for 13 subtasks");
}

TEST_F(ShardsLanguage, ARunNeedsAnEndThatComes) {
  EXPECT_EQ(wrong({"duration=~", "until=idle"}),
            "until: the shards of the source numbers have no last record; add a duration");
  EXPECT_EQ(wrong({"until=idle"}), "");
}

TEST_F(ShardsLanguage, StateIsForUpdatesAndUpdatesAreForKeyedOperators) {
  EXPECT_EQ(
      wrong({"values.state=~"}),
      "job.operators.values does update and has no \"state\", such as state: {per_key: 100B}");
  EXPECT_EQ(wrong({"values.do=count"}),
            "job.operators.values.state: only keyed operators that do: update have this key");
  EXPECT_EQ(wrong({"copy.do=update"}),
            "job.operators.copy.do: an operator of this kind can only do: identity");
  EXPECT_EQ(wrong({"values.do=identity", "values.state=~"}),
            "job.operators.values.do: an operator of this kind can only do: count or update");
  EXPECT_EQ(wrong({"values.state.per_key=0B"}),
            "job.operators.values.state.per_key: \"0B\" is out of range; it must be from 1B to "
            "16777216B");
  EXPECT_EQ(wrong({"copy.keys={distribution: uniform, count: 1}"}),
            "job.operators.copy.keys: only sources have this key");
  EXPECT_EQ(mistakes(small(), {"job.operators.lines.keys={distribution: uniform, count: 1}"}),
            "--set job.operators.lines.keys={distribution: uniform, count: 1}: "
            "job.operators.lines.keys: only a source of shards has keys to choose");
}

TEST_F(ShardsLanguage, PreloadNeedsKeysThatAreKnownBeforehand) {
  EXPECT_EQ(wrong({"values.state.preload=true"}), "");
  EXPECT_EQ(mistakes(small(), {"job.operators.count.do=update",
                               "job.operators.count.state={per_key: 1B, preload: true}"}),
            "s.yaml:8:7: job.operators.count.state: there are no keys to preload; only sources of "
            "shards know theirs beforehand");
}

TEST_F(ShardsLanguage, StateIsNoLargerThanMemory) {
  EXPECT_EQ(wrong({"values.state.per_key=4MiB"}), "");  // 1,000 of them
  EXPECT_EQ(
      wrong({"values.state.per_key=5MiB"}),
      "job.operators.values.state: 1000 keys of 5242880B are 5242880000B; a run keeps at most "
      "4294967296B of state");
  // Without preload only those that come.
  EXPECT_EQ(wrong({"values.state.per_key=5MiB", "numbers.keys.active=800"}), "");
  EXPECT_EQ(
      wrong({"values.state={per_key: 5MiB, preload: true}", "numbers.keys.active=800"}),
      "job.operators.values.state: 1000 keys of 5242880B are 5242880000B; a run keeps at most "
      "4294967296B of state");
}

// One mistake is one line, also if much depends on it.
TEST_F(ShardsLanguage, WhatFollowsFromAMistakeIsNotAMistake) {
  EXPECT_EQ(wrong({"numbers.from=12"}),
            "job.operators.numbers.from must be a mapping of keys to values, not \"12\"");
  EXPECT_EQ(wrong({"numbers.from={}"}),
            "job.operators.numbers.from needs a file or a number of records or shards");
  EXPECT_EQ(wrong({"copy.input=number"}),
            "job.operators.copy.input: there is no operator \"number\" (did you mean numbers?)");
  EXPECT_EQ(wrong({"copy.input=[number, numbers]", "copy.inputs=separate"}),
            "job.operators.copy.input: there is no operator \"number\" (did you mean numbers?)");
  EXPECT_EQ(wrong({"numbers.keys={distribution: uniform, count: many, active: 5}"}),
            "job.operators.numbers.keys.count: \"many\" is not a whole number");
  EXPECT_EQ(wrong({"numbers.keys={distribution: zip, count: 9, exponent: 2}"}),
            "job.operators.numbers.keys.distribution: \"zip\" is not one of balanced, uniform or "
            "zipf (did you mean zipf?)");
  EXPECT_EQ(mistakes(shards("timeline: [{at: 5s, slow: {operator: [copy], factor: 2}}]\n")),
            "s.yaml:10:38: timeline.0.slow.operator: needs one value, not a list");
}

TEST_F(ShardsLanguage, PinsAreOfSubtasksThatExist) {
  EXPECT_EQ(wrong({"pin={task_starts: {'numbers[1]': [1s, 2s]}, first_triggers: [3s]}"}), "");
  EXPECT_EQ(wrong({"pin={task_starts: {'numbers[2]': [1s]}}"}),
            "pin.task_starts: numbers has no subtask 2; they count from 0 to 1");
  EXPECT_EQ(mistakes(shards("pin: {task_starts: {'numbers[4]': [1s]}}\n"
                            "timeline: [{at: 5s, rescale: {numbers: 5}}]\n")),
            "");
  EXPECT_EQ(wrong({"pin={task_starts: {'copy[0]': [1s], 'copy[00]': [2s]}}"}),
            "pin.task_starts: \"copy[00]\" is a subtask that is there already");
  EXPECT_EQ(wrong({"pin={first_triggers: [[1s]]}"}), "pin.first_triggers: needs times, not a list");
}

TEST_F(ShardsLanguage, RecordsWithAndWithoutNumbersAreNotReadTogether) {
  const std::string text =
      "duration: 1s\n"
      "job:\n"
      "  operators:\n"
      "    - {id: numbers, kind: source, from: {shards: 1}, size: 50B, keys: {distribution: "
      "uniform, count: 1}}\n"
      "    - {id: words, kind: flat_map, do: tokenize, input: numbers}\n"
      "    - {id: count, kind: keyed, do: count, input: [words, numbers]}\n"
      "    - {id: out, kind: sink, input: [count, numbers]}\n";
  EXPECT_EQ(mistakes(text),
            "s.yaml:6:7: job.operators.count: records of numbers have a number as their key and "
            "those of words have none; they cannot be read together");
}

}  // namespace
}  // namespace tailrace::scenarios
