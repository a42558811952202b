#include "scenarios/cli.hpp"

#include <sstream>

#include <nlohmann/json.hpp>

#include "scenarios/dump.hpp"
#include "scenarios/run_scenario.hpp"
#include "sim/base/assert.hpp"
#include "tests/scenarios/scenario_files.hpp"

namespace tailrace::scenarios {
namespace {

// What the stand-in for the world answers to the next run.
RunOutcome next_outcome;
bool world_breaks = false;
RunOptions last_options;

}  // namespace

RunOutcome run_scenario(const Scenario& scenario, const RunOptions& options) {
  last_options = options;
  TAILRACE_ASSERT(!world_breaks);
  RunOutcome outcome = next_outcome;
  outcome.result.name = scenario.name;
  outcome.result.seed = scenario.seed;
  if (*options.interrupted) outcome.result.finished = analysis::FinishReason::kInterrupted;
  return outcome;
}

namespace {

class CommandLine : public ScenarioFiles {
 protected:
  CommandLine() {
    next_outcome = {};
    next_outcome.result.audit = analysis::Audit{};
    next_outcome.result.trace_hash = 0xfeed;
    world_breaks = false;
    write("s.yaml", small("timeline:\n  - {at: 1s, checkpoint}\nexpect:\n  - exactly once\n"));
  }

  int run(std::vector<std::string> arguments) {
    out_.str({});
    err_.str({});
    Console console;
    console.out = &out_;
    console.err = &err_;
    console.program_folder = folder_ + "/bin";
    console.interrupted = &interrupted_;
    return run_command_line(arguments, console);
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      names.push_back(file.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  std::ostringstream out_;
  std::ostringstream err_;
  std::atomic<bool> interrupted_{false};
};

TEST_F(CommandLine, ARunWhoseExpectationsHoldExitsWithZero) {
  EXPECT_EQ(run({"run", path("s.yaml")}), kExitDone);
  EXPECT_TRUE(out_.str().ends_with("\ntrace 000000000000feed\n")) << out_.str();
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLine, AnExpectationThatDoesNotHoldExitsWithOne) {
  next_outcome.result.audit->duplicated = 1;
  EXPECT_EQ(run({"run", path("s.yaml"), "--quiet"}), kExitNotHeld);
  EXPECT_EQ(out_.str(), "trace 000000000000feed\n");
  EXPECT_EQ(err_.str(), "not held: exactly once ({\"lost\": 0, \"duplicated\": 1})\n");
}

TEST_F(CommandLine, AnEntryOfTheTimelineThatDoesNotHappenExitsWithOne) {
  next_outcome.timeline_misses = {0};
  EXPECT_EQ(run({"run", path("s.yaml")}), kExitNotHeld);
  EXPECT_EQ(err_.str(), "not held: timeline happens: checkpoint (" + path("s.yaml") + ":11:5)\n");
}

TEST_F(CommandLine, AJobThatFailsExitsWithOneUnlessThatIsExpected) {
  next_outcome.result.finished = analysis::FinishReason::kJobFailed;
  EXPECT_EQ(run({"run", path("s.yaml")}), kExitNotHeld);
  EXPECT_EQ(run({"run", path("s.yaml"), "--set", "expect=[finished == job_failed]"}), kExitDone);
}

TEST_F(CommandLine, JsonIsOneDocumentOnStandardOutput) {
  EXPECT_EQ(run({"run", path("s.yaml"), "--json", "--seed", "42"}), kExitDone);
  const nlohmann::json document = nlohmann::json::parse(out_.str());
  EXPECT_EQ(document["seed"], 42);
  EXPECT_EQ(document["expectations"][0]["held"], true);
}

TEST_F(CommandLine, ASeriesIsAskedForWithTheLengthOfItsWindowsAndWithJson) {
  EXPECT_EQ(run({"run", path("s.yaml"), "--json", "--series", "1s"}), kExitDone) << err_.str();
  EXPECT_EQ(run({"run", path("s.yaml"), "--series", "1s"}), kExitBadInput);
  EXPECT_EQ(err_.str(), "--series is a member of the document that --json prints; add --json\n");
  EXPECT_EQ(run({"run", path("s.yaml"), "--json", "--series", "1"}), kExitBadInput);
  EXPECT_EQ(err_.str(),
            "--series: \"1\" has no unit; write it as 5ns, 5us, 5ms, 5s, 5min, 5h or 5d\n");
  EXPECT_EQ(run({"run", path("s.yaml"), "--json", "--series", "999us"}), kExitBadInput);
  EXPECT_EQ(err_.str(), "--series: \"999us\" is too short; a window has at least 1ms\n");
}

TEST_F(CommandLine, UntilOverridesTheEndOfTheRun) {
  EXPECT_EQ(run({"check", path("s.yaml"), "--until", "idle"}), kExitDone) << err_.str();
  EXPECT_EQ(
      run({"check", path("s.yaml"), "--until", "5s", "--set", "job.operators.lines.then=finish"}),
      kExitDone)
      << err_.str();
  EXPECT_EQ(run({"check", path("s.yaml"), "--until", "5"}), kExitBadInput);
  EXPECT_EQ(
      err_.str(),
      "--until 5: duration: \"5\" has no unit; write it as 5ns, 5us, 5ms, 5s, 5min, 5h or 5d\n");
}

TEST_F(CommandLine, BadUsageAndBadInputExitWithTwoAndPrintNoResult) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"fly"},
                                                {"run"},
                                                {"run", path("s.yaml"), "--sed", "7"},
                                                {"run", path("none.yaml")},
                                                {"run", path("s.yaml"), "--seed", "x"}}) {
    EXPECT_EQ(run(words), kExitBadInput);
    EXPECT_EQ(out_.str(), "");
    EXPECT_NE(err_.str(), "");
  }
}

TEST_F(CommandLine, HelpAndVersionAreResults) {
  EXPECT_EQ(run({"--version"}), kExitDone);
  EXPECT_EQ(out_.str(), "tailrace 0.1.0\n");
  EXPECT_EQ(run({"--help"}), kExitDone);
  EXPECT_NE(out_.str().find("Exit status: 0 done"), std::string::npos);
  EXPECT_EQ(run({"run", "--help"}), kExitDone);
  EXPECT_NE(out_.str().find("--dump-state"), std::string::npos);
}

TEST_F(CommandLine, AnInterruptedRunIsMarkedAndWritesNoDump) {
  interrupted_ = true;
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-state", path("state.tsv")}), kExitInterrupted);
  EXPECT_NE(out_.str().find("INCOMPLETE"), std::string::npos);
  EXPECT_EQ(files(), (std::vector<std::string>{"s.yaml", "text.txt"}));
}

TEST_F(CommandLine, ABrokenInvariantExitsWithThreeAndSaysHowToSeeItAgain) {
  world_breaks = true;
  EXPECT_EQ(run({"run", path("s.yaml"), "--seed", "5", "--dump-sink", path("sink.tsv")}),
            kExitInternal);
  EXPECT_EQ(out_.str(), "");
  EXPECT_NE(err_.str().find("replay with: tailrace run " + path("s.yaml") + " --seed 5"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(files(), (std::vector<std::string>{"s.yaml", "text.txt"}));
}

TEST_F(CommandLine, DumpsAreSortedByBytesAndWhole) {
  next_outcome.state = {{"b", 2, "count"}, {"a\tb\\", 10, "count"}, {"B", 1, "count"}};
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-state", path("state.tsv")}), kExitDone);
  EXPECT_TRUE(last_options.collect_state);
  EXPECT_FALSE(last_options.collect_sink);
  EXPECT_EQ(read("state.tsv"), "B\t1\tcount\na\\tb\\\\\t10\tcount\nb\t2\tcount\n");
  EXPECT_EQ(files(), (std::vector<std::string>{"s.yaml", "state.tsv", "text.txt"}));
}

TEST_F(CommandLine, ADumpThatCannotBeWrittenIsAnErrorBeforeTheRun) {
  world_breaks = true;  // it must not come to that
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-sink", path("no/such/folder.tsv")}), kExitBadInput);
  EXPECT_EQ(err_.str(),
            path("no/such/folder.tsv") + ": cannot be written: No such file or directory\n");
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-sink", folder_}), kExitBadInput);
}

TEST_F(CommandLine, TheTwoDumpsNeedAFileEachAndAName) {
  world_breaks = true;
  std::filesystem::create_directory(path("d"));
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-state", path("a.tsv"), "--dump-sink",
                 path("d/../a.tsv")}),
            kExitBadInput);
  EXPECT_EQ(err_.str(),
            path("d/../a.tsv") + ": cannot be written: the state and the sink need a file each\n");
  EXPECT_EQ(run({"run", path("s.yaml"), "--dump-state", ""}), kExitBadInput);
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "s.yaml", "text.txt"}));
}

TEST_F(CommandLine, AMisspeltCommandOrScenarioNamesTheNearestOne) {
  EXPECT_EQ(run({"chek", path("s.yaml")}), kExitBadInput);
  EXPECT_EQ(err_.str(), "tailrace: there is no command \"chek\" (did you mean check?)\n");
  EXPECT_EQ(run({"fly"}), kExitBadInput);
  EXPECT_EQ(err_.str(),
            "tailrace: there is no command \"fly\"; the commands are run, check, list\n");
  std::filesystem::create_directories(path("scenarios/library"));
  write("scenarios/library/zebra.yaml", small());
  EXPECT_EQ(run({"run", "zebar"}), kExitBadInput);
  EXPECT_EQ(err_.str(),
            "zebar: there is no such file, and no such scenario in the library (did you mean "
            "zebra?)\n");
  EXPECT_EQ(run({"check", ""}), kExitBadInput);
  EXPECT_EQ(err_.str(), "\"\": there is no such file, and no such scenario in the library\n");
}

TEST_F(CommandLine, WithoutWordsTheHelpIsADiagnostic) {
  EXPECT_EQ(run({}), kExitBadInput);
  EXPECT_EQ(out_.str(), "");
  EXPECT_NE(err_.str().find("say whether a scenario is valid"), std::string::npos);
}

TEST_F(CommandLine, ListShowsTheLibraryByNameWithItsFirstSentence) {
  EXPECT_EQ(run({"list"}), kExitBadInput);
  std::filesystem::create_directories(path("scenarios/library"));
  std::filesystem::create_directory(path("bin"));
  write("scenarios/library/zebra.yaml", "about: Version 1.10 of it. More.\n");
  write("scenarios/library/ant.yaml", small());
  EXPECT_EQ(run({"list"}), kExitDone);
  EXPECT_EQ(out_.str(), "ant    \nzebra  Version 1.10 of it.\n");
  // A name of the library stands for its file.
  write("scenarios/library/text.txt", "x\n");
  EXPECT_EQ(run({"check", "ant"}), kExitDone) << err_.str();
}

}  // namespace
}  // namespace tailrace::scenarios
