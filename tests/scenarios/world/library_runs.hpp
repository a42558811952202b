// Runs of the library's scenarios, and what their texts ought to come to.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/run_command.hpp"
#include "scenarios/run_scenario.hpp"
#include "scenarios/scenario_file.hpp"

namespace tailrace::scenarios {

// One of the repository's scenarios, with `--set` options as on the command line.
inline Scenario library_scenario(const std::string& name,
                                 const std::vector<std::string>& sets = {}) {
  std::vector<Setting> settings;
  for (const std::string& set : sets) settings.push_back(parse_setting(set));
  return load_scenario(std::string(TAILRACE_LIBRARY) + '/' + name + ".yaml", settings);
}

inline RunOutcome run(const Scenario& scenario) {
  RunOptions options;
  options.collect_state = true;
  options.collect_sink = true;
  return run_scenario(scenario, options);
}

// "text: wanted (value)" of everything that the scenario expects in vain; empty if all holds.
inline std::string not_held(const Scenario& scenario, RunOutcome& outcome) {
  std::string broken;
  if (judge(scenario, outcome)) return broken;
  for (const analysis::ExpectationResult& row : outcome.result.expectations) {
    if (!row.held) broken += row.text + " (" + row.value + ")\n";
  }
  return broken;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

using Counts = std::map<std::string, std::int64_t>;

// Maximal runs of ASCII letters, case kept: `tr -cs 'A-Za-z' '\n'`.
inline Counts count_words(const std::string& text) {
  Counts counts;
  std::string word;
  for (const char c : text + '\n') {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      word += c;
    } else if (!word.empty()) {
      ++counts[word];
      word.clear();
    }
  }
  return counts;
}

// A folder of one test, which goes away with it.
class TestFolder {
 public:
  TestFolder() {
    std::string folder = (std::filesystem::temp_directory_path() / "tailrace.XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
  }
  ~TestFolder() { std::filesystem::remove_all(folder_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + '/' + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::string folder_;
};

}  // namespace tailrace::scenarios
