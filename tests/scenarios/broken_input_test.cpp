#include <unistd.h>

#include "tests/scenarios/scenario_files.hpp"

namespace tailrace::scenarios {
namespace {

using BrokenInput = ScenarioFiles;

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST_F(BrokenInput, AMissingFileIsSaidToBeMissing) {
  EXPECT_EQ(mistakes_of(path("none.yaml")),
            "none.yaml: cannot be opened: No such file or directory");
}

TEST_F(BrokenInput, ADirectoryIsNoFile) {
  std::filesystem::create_directory(path("d.yaml"));
  EXPECT_EQ(mistakes_of(path("d.yaml")), "d.yaml: is a directory, not a file");
}

TEST_F(BrokenInput, ADanglingLinkIsCalledOne) {
  std::filesystem::create_symlink("nowhere", path("l.yaml"));
  EXPECT_EQ(mistakes_of(path("l.yaml")), "l.yaml: is a link to a file that does not exist");
}

TEST_F(BrokenInput, AnEmptyFileIsEmpty) {
  EXPECT_EQ(mistakes(""), "s.yaml: is empty");
  EXPECT_EQ(mistakes("# nothing\n"), "s.yaml: holds no YAML document, only blanks and comments");
  EXPECT_EQ(mistakes("~\n"), "s.yaml: holds nothing");
}

TEST_F(BrokenInput, ADeviceIsNoRegularFile) {
  EXPECT_EQ(mistakes_of("/dev/zero"), "/dev/zero: is not a regular file");
}

TEST_F(BrokenInput, ABinaryFileIsRefusedAtItsFirstStrangeByte) {
  EXPECT_EQ(mistakes(std::string("name: x\nab\0c", 12)),
            "s.yaml:2:3: the byte 0x00 is no text: is this a binary file?");
  EXPECT_EQ(mistakes("\x7f"
                     "ELF\x02"),
            "s.yaml:1:1: the byte 0x7f is no text: is this a binary file?");
  EXPECT_EQ(mistakes("name: caf\xe9\n"),
            "s.yaml:1:10: the byte 0xe9 is not valid UTF-8: is this a binary file?");
  EXPECT_EQ(mistakes("\xff\xfe"
                     "n"),
            "s.yaml:1:1: the byte 0xff is not valid UTF-8: is this a binary file?");
  EXPECT_EQ(mistakes("a: \xed\xa0\x80"),
            "s.yaml:1:4: the byte 0xed is not valid UTF-8: is this a binary file?");
}

TEST_F(BrokenInput, AHundredMegabytesAreNotRead) {
  write("big.yaml", "name: x\n");
  ASSERT_EQ(::truncate(path("big.yaml").c_str(), 100'000'000), 0);
  EXPECT_EQ(mistakes_of(path("big.yaml")),
            "big.yaml: has 100000000 bytes; at most 1048576 are allowed");
}

TEST_F(BrokenInput, DeepNestingOfAnyStyleStopsAtTheLimit) {
  EXPECT_EQ(mistakes(repeated("[", 100'000)), "s.yaml:1:17: nested more than 32 levels deep");
  EXPECT_EQ(mistakes(repeated("{", 100'000)), "s.yaml:1:32: nested more than 32 levels deep");
  EXPECT_EQ(mistakes(repeated("- ", 100'000)), "s.yaml:1:65: nested more than 32 levels deep");
  EXPECT_EQ(mistakes(repeated("? ", 100'000)), "s.yaml:1:65: nested more than 32 levels deep");
  std::string indented;
  for (std::size_t depth = 0; depth < 1000; ++depth) indented += std::string(depth, ' ') + "a:\n";
  EXPECT_EQ(mistakes(indented), "s.yaml:33:33: nested more than 32 levels deep");
}

TEST_F(BrokenInput, AnAliasBombIsDefusedWhereItGrowsTooLarge) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name <= 'i'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    bomb +=
        std::string(1, name) + ": &" + name + " [" + before + repeated(", " + before, 9) + "]\n";
  }
  EXPECT_EQ(mistakes(bomb), "s.yaml:5:20: more than 50000 values, counting what aliases stand for");
}

TEST_F(BrokenInput, AnAliasInsideItselfIsAnError) {
  EXPECT_EQ(mistakes("a: &a [*a]\n"), "s.yaml:1:8: this alias is inside what it stands for");
}

TEST_F(BrokenInput, ASecondDocumentIsRefused) {
  EXPECT_EQ(mistakes("name: x\n---\nname: y\n"),
            "s.yaml:2:1: a second document begins here; one file is one scenario");
}

TEST_F(BrokenInput, DuplicateKeysNameBothLines) {
  EXPECT_EQ(mistakes("name: again\n" + small()),
            "s.yaml:2:1: the key \"name\" is here twice; the first one is in line 1");
}

TEST_F(BrokenInput, BrokenSyntaxHasAPosition) {
  EXPECT_EQ(mistakes("name: [x\n").substr(0, 31), "s.yaml:2:1: not valid YAML: end");
}

TEST_F(BrokenInput, TagsThatWouldBuildObjectsAreRefused) {
  EXPECT_EQ(mistakes(small("about: !!python/object:os.system x\n")),
            "s.yaml:10:8: the tag \"tag:yaml.org,2002:python/object:os.system\" is not allowed: "
            "values are plain text");
}

TEST_F(BrokenInput, AnOverrideThatCannotBeReadTakesNothingAway) {
  EXPECT_EQ(mistakes(small(), {"duration=[a"}),
            "--set duration=[a:1:1: not valid YAML: end of sequence flow not found");
}

TEST_F(BrokenInput, AListIsNoScenario) {
  EXPECT_EQ(mistakes("- a\n"),
            "s.yaml:1:1: a scenario must be a mapping of keys to values, not a list");
}

TEST_F(BrokenInput, UnknownKeysNameTheNearestOne) {
  EXPECT_EQ(mistakes(small("cluster: {network: {bandwith: 1Gbps}}\n")),
            "s.yaml:10:21: unknown key \"bandwith\" in cluster.network (did you mean bandwidth?)");
  EXPECT_EQ(mistakes(small("colour: red\n")).substr(0, 55),
            "s.yaml:10:1: unknown key \"colour\"; the keys here are ta");
}

TEST_F(BrokenInput, WrongUnitsShowTheRightOnes) {
  EXPECT_EQ(mistakes(small("cluster: {network: {latency: 5}}\n")),
            "s.yaml:10:30: cluster.network.latency: \"5\" has no unit; write it as 5ns, 5us, 5ms, "
            "5s, 5min, 5h or 5d");
}

TEST_F(BrokenInput, NegativeTimesAreErrors) {
  EXPECT_EQ(mistakes(small("timeline:\n  - {at: -3s, checkpoint}\n")),
            "s.yaml:11:10: timeline.0.at: \"-3s\" is negative, and a duration cannot be");
}

TEST_F(BrokenInput, AParallelismAboveTheMaxParallelismIsAnError) {
  EXPECT_EQ(mistakes(small(), {"job.max_parallelism=1", "job.operators.lines.parallelism=1",
                               "job.operators.words.parallelism=1"}),
            "s.yaml:8:70: job.operators.count.parallelism: 2 is above the max parallelism of 1");
  EXPECT_EQ(
      mistakes(small("timeline: [{at: 1s, rescale: {count: 200}}]\n"), {"job.max_parallelism=64"}),
      "s.yaml:10:30: timeline.0.rescale: count would have a parallelism of 200, above the max "
      "parallelism of 64");
  EXPECT_EQ(mistakes(small("timeline: [{at: 1s, rescale: {count: 200}}]\n"),
                     {"job.operators.out.max_parallelism=64"}),
            "s.yaml:10:30: timeline.0.rescale: out would have a parallelism of 200, above the max "
            "parallelism of 64");
}

TEST_F(BrokenInput, ACyclicJobGraphShowsTheCycle) {
  EXPECT_EQ(mistakes(small(), {"job.operators.words.input=[lines, count]"}),
            "s.yaml:7:7: job.operators: the job graph has a cycle: words -> count -> words");
}

TEST_F(BrokenInput, AllMistakesOfAFileComeOutTogetherInItsOrder) {
  EXPECT_EQ(
      mistakes("duration: 10\n"
               "sede: 3\n"
               "flink: {version: \"1.10\", heartbeat.intervall: 500}\n"
               "job:\n"
               "  operators:\n"
               "    - {id: lines, kind: source, from: {file: gone.txt}}\n"
               "    - {id: out, kind: sink, input: line, cost: 5}\n"
               "expect: [latency.p98 < 5s]\n"),
      "s.yaml:1:11: duration: \"10\" has no unit; write it as 5ns, 5us, 5ms, 5s, 5min, 5h or "
      "5d\n"
      "s.yaml:2:1: unknown key \"sede\" (did you mean seed?)\n"
      "s.yaml:3:26: flink: \"heartbeat.intervall\" is not a key of Flink; the nearest one is "
      "heartbeat.interval\n"
      "s.yaml:6:46: job.operators.lines.from.file: \"gone.txt\" cannot be opened: No such file "
      "or directory\n"
      "s.yaml:7:36: job.operators.out.input: there is no operator \"line\" (did you mean "
      "lines?)\n"
      "s.yaml:7:48: job.operators.out.cost: \"5\" has no unit; write it as 5ns, 5us, 5ms, 5s, "
      "5min, 5h or 5d\n"
      "s.yaml:8:10: expect: there is no result \"latency.p98\" (did you mean latency.p90?)");
}

TEST_F(BrokenInput, ValuesAreShownOnOneLineAndCut) {
  EXPECT_EQ(in_quotes("a\nb"), "\"a?b\"");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), '"' + std::string(60, 'x') + "...\"");
}

}  // namespace
}  // namespace tailrace::scenarios
