// The runner itself: what it takes for a case, a difference, a file that it cannot read.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/golden_registry.hpp"
#include "tests/golden/recording.hpp"

namespace tailrace::golden {
namespace {

namespace fs = std::filesystem;

// Doubles what it is given.
void replay_double(const Json& line) {
  if (line.value("throws", false)) throw std::runtime_error("broken");
  if (line.at("in").get<int>() > 1000) throw MalformedCase("in: too large");
  expect_equal("out", line.at("out"), 2 * line.at("in").get<int>());
}
const Registration kDouble("fake/double*.jsonl", &replay_double);

// Has a second leading line, whose factor counts for the whole file.
class FactorReplayer final : public Replayer {
 public:
  bool is_preamble(const Json& line) override { return !line.contains("in"); }
  void read_preamble(const Json& line) override { factor_ = line.value("factor", factor_); }
  void replay(const Json& line) override {
    expect_equal("out", line.at("out"), factor_ * line.at("in").get<int>());
  }

 private:
  int factor_ = 1;
};
const Registration kFactor("fake/double_factor.jsonl",
                           [] { return std::make_unique<FactorReplayer>(); });

class GoldenRunner : public testing::Test {
 protected:
  GoldenRunner() {
    std::string name = (fs::temp_directory_path() / "golden_runner_XXXXXX").string();
    folder = mkdtemp(name.data());
    fs::create_directories(folder / "fake");
  }
  ~GoldenRunner() override { fs::remove_all(folder); }

  FileResult replay(const std::string& path, const std::string& text) {
    std::ofstream(folder / path, std::ios::binary) << text;
    return replay_file(folder, path, log);
  }

  fs::path folder;
  std::ostringstream log;
};

constexpr const char* kMeta = "{\"meta\":true}\n";

TEST_F(GoldenRunner, CountsAllLinesButTheLeadingOnesAsCases) {
  const FileResult result = replay("fake/double.jsonl", std::string(kMeta) +
                                                            "{\"in\":1,\"out\":2}\n"
                                                            "{\"in\":2,\"out\":4}");
  EXPECT_TRUE(result.read);
  EXPECT_EQ(result.cases, 2U);
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(log.str(), "");
}

TEST_F(GoldenRunner, ExplainsADifferenceWithCaseExpectedAndGot) {
  const FileResult result =
      replay("fake/double.jsonl", std::string(kMeta) + "{\"id\":\"x7\",\"in\":1,\"out\":3}\n");
  EXPECT_EQ(result.differences, 1U);
  EXPECT_TRUE(result.failed());
  EXPECT_EQ(log.str(), "fake/double.jsonl: line 2, case \"x7\": out: expected 3, got 2\n");
}

TEST_F(GoldenRunner, TakesAnExceptionOfTheEngineForADifference) {
  const FileResult result =
      replay("fake/double.jsonl", "{\"throws\":true}\n{\"in\":1,\"out\":2}\n");
  EXPECT_EQ(result.cases, 2U);
  EXPECT_EQ(result.differences, 1U);
}

TEST_F(GoldenRunner, GoesOnBehindLinesThatCannotBeRead) {
  const FileResult result = replay("fake/double.jsonl",
                                   "{\"in\":1,\"ou\n"
                                   "{\"in\":1}\n"
                                   "{\"in\":\"one\",\"out\":2}\n"
                                   "[]\n"
                                   "{\"in\":1001,\"out\":2}\n"
                                   "{\"in\":1,\"out\":2}\n");
  EXPECT_EQ(result.cases, 6U);
  EXPECT_EQ(result.unparsed_lines, 5U);
  EXPECT_EQ(result.differences, 0U);
  EXPECT_NE(log.str().find("fake/double.jsonl: line 2 cannot be read"), std::string::npos);
}

TEST_F(GoldenRunner, FailsForAnEmptyFileAndForOneThatCannotBeOpened) {
  EXPECT_TRUE(replay("fake/double.jsonl", "").failed());
  EXPECT_TRUE(replay_file(folder, "fake/double_missing.jsonl", log).failed());
}

TEST_F(GoldenRunner, ReadsNothingThatNobodyReplays) {
  const FileResult result = replay("fake/other.jsonl", "no JSON at all");
  EXPECT_FALSE(result.read);
  EXPECT_FALSE(result.failed());
}

TEST_F(GoldenRunner, PrefersTheMoreSpecialReplayerAndLetsItReadLeadingLines) {
  const FileResult result = replay("fake/double_factor.jsonl", std::string(kMeta) +
                                                                   "{\"factor\":5}\n"
                                                                   "{\"in\":1,\"out\":5}\n");
  EXPECT_EQ(result.cases, 1U);
  EXPECT_FALSE(result.failed());
}

TEST_F(GoldenRunner, ListsRecordingsSortedWithTheMetadataFolderAsOne) {
  for (const char* name : {"fake/b.jsonl", "fake/a.jsonl", "fake/README.md", "top.jsonl"}) {
    std::ofstream(folder / name) << kMeta;
  }
  fs::create_directories(folder / "metadata" / "generated-000");
  EXPECT_EQ(list_recordings(folder),
            std::vector<std::string>({"fake/a.jsonl", "fake/b.jsonl", "metadata/", "top.jsonl"}));
}

// A case is a folder.
class FolderReplayer final : public Replayer {
 public:
  void replay(const Json& line) override {
    expect_equal("name", line.at("expected").at("name"), line.at("id"));
    expect_equal("folder", fs::path(line.at("folder").get<std::string>()).filename().string(),
                 line.at("id"));
  }
  std::string remark() const override { return "half of it"; }
};
const Registration kFolder("folders/", [] { return std::make_unique<FolderReplayer>(); });

TEST_F(GoldenRunner, ReplaysTheFoldersOfAFolderAndPassesTheRemarkOn) {
  for (const char* name : {"b", "a", "c"}) fs::create_directories(folder / "folders" / name);
  std::ofstream(folder / "folders/a/expected.json") << R"({"name":"a"})";
  std::ofstream(folder / "folders/b/expected.json") << R"({"name":"a"})";
  const FileResult result = replay_file(folder, "folders/", log);
  EXPECT_EQ(result.cases, 3U);
  EXPECT_EQ(result.differences, 1U);
  EXPECT_EQ(result.unparsed_lines, 1U);  // c says nothing
  EXPECT_NE(log.str().find(R"(line 2, case "b": name: expected "a", got "b")"), std::string::npos);
  EXPECT_NE(log.str().find("folders/: half of it\n"), std::string::npos);
}

TEST(WithoutLoneSurrogates, ReplacesHalvesAndKeepsPairs) {
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00")"), R"("\ud83d\ude00")");
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d")"), R"("\ufffd")");
  EXPECT_EQ(without_lone_surrogates(R"("\ude00\ud83d")"), R"("\ufffd\ufffd")");
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(without_lone_surrogates(R"("\\ud83d")"), R"("\\ud83d")");  // an escaped backslash
  EXPECT_EQ(without_lone_surrogates(R"("\ud8)"), R"("\ud8)");          // cut short
}

}  // namespace
}  // namespace tailrace::golden
