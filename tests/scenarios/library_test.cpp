#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "scenarios/library_folder.hpp"
#include "scenarios/scenario_file.hpp"

namespace tailrace::scenarios {
namespace {

TEST(Library, EveryScenarioIsValidNotedForNothingAndSaysWhatItIsAbout) {
  const std::vector<LibraryEntry> entries = list_library(TAILRACE_LIBRARY);
  ASSERT_GE(entries.size(), 5u);
  for (const LibraryEntry& entry : entries) {
    const Scenario scenario = load_scenario(entry.path, {});
    EXPECT_EQ(scenario.name, entry.name);
    EXPECT_TRUE(scenario.notes.empty()) << entry.name << ": " << scenario.notes.front();
    EXPECT_TRUE(entry.about.ends_with(".")) << entry.about;
    EXPECT_FALSE(scenario.expectations.empty()) << entry.name;
  }
}

TEST(Library, TheTextIsPlainAsciiAndLongEnough) {
  std::ostringstream text;
  text << std::ifstream(std::string(TAILRACE_LIBRARY) + "/text.txt").rdbuf();
  EXPECT_GT(text.str().size(), 16'000u);
  for (const char c : text.str()) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << c;
}

}  // namespace
}  // namespace tailrace::scenarios
