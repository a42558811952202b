// Savepoints and checkpoints that releases of Flink from 1.2 to 1.19 have left behind: each is read as
// its expected.json says, or refused for the reason that it has.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "tests/engine/checkpoint/expected_metadata.hpp"
#include "tests/engine/checkpoint/recordings.hpp"

namespace tailrace::engine::test {
namespace {

std::vector<std::filesystem::path> savepoints() {
  std::vector<std::filesystem::path> folders;
  for (const auto& root : recording_roots()) {
    if (!std::filesystem::exists(root / "savepoints")) continue;
    for (const auto& entry : std::filesystem::directory_iterator(root / "savepoints")) {
      if (std::filesystem::exists(entry.path() / "expected.json")) folders.push_back(entry.path());
    }
    break;
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

class RealSnapshots : public testing::Test {
 protected:
  // What became of them, by what was in the way.
  std::map<std::string, int> outcomes;

  void refused(const Json& expected, const MetadataError& error) {
    if (expected.at("version") == 1) {
      EXPECT_EQ(error.offset, 4U);
      EXPECT_NE(error.message.find("format version 1"), std::string::npos) << error.message;
      ++outcomes["refused: version 1"];
    } else {
      EXPECT_TRUE(has_legacy_state(expected)) << error.message;
      EXPECT_NE(error.message.find("Flink 1.1"), std::string::npos) << error.message;
      ++outcomes["refused: state of Flink 1.1"];
    }
  }

  void compare(const Json& expected, const std::vector<std::byte>& bytes) {
    const auto reading = read_checkpoint_metadata(bytes);
    if (!reading.ok()) return refused(expected, reading.error());
    const MetadataReading& read = reading.value();
    EXPECT_EQ(metadata_to_json(read), expected_to_json(expected));
    EXPECT_EQ(left_out_to_json(read), expected_left_out(expected));
    EXPECT_EQ(difference_when_written_again(expected, bytes, read), "");

    const auto loaded = load_checkpoint_metadata(bytes);
    ASSERT_EQ(loaded.ok(), read.left_out.empty());
    if (loaded.ok()) {
      EXPECT_EQ(state_size_bytes(loaded.value().operator_states),
                expected.at("totalStateSize").get<std::int64_t>());
      ++outcomes["read, version " + std::to_string(read.version)];
    } else {
      EXPECT_EQ(loaded.error().offset, read.left_out.front().offset);
      EXPECT_NE(loaded.error().message.find(read.left_out.front().kind), std::string::npos);
      ++outcomes["refused: " + read.left_out.front().kind];
    }
  }
};

TEST_F(RealSnapshots, AreReadAsExpectedOrRefusedForWhatTheyHold) {
  const auto folders = savepoints();
  if (folders.empty()) GTEST_SKIP() << "no savepoints";
  for (const auto& folder : folders) {
    SCOPED_TRACE(folder.filename().string());
    std::ifstream in(folder / "expected.json");
    compare(Json::parse(in), read_bytes(folder / "_metadata"));
  }
  for (const auto& [outcome, count] : outcomes) std::cout << count << " x " << outcome << '\n';
  for (const char* version : {"2", "3", "4"}) {
    EXPECT_GT(outcomes["read, version " + std::string(version)], 0) << version;
  }
}

}  // namespace
}  // namespace tailrace::engine::test
