// Scenario files of a test's own, in a folder that goes away with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/diagnostics.hpp"
#include "scenarios/scenario_file.hpp"

namespace tailrace::scenarios {

class ScenarioFiles : public testing::Test {
 protected:
  ScenarioFiles() {
    std::string folder = (std::filesystem::temp_directory_path() / "tailrace.XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    write("text.txt", "one two\nthree\n");
  }
  ~ScenarioFiles() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return folder_ + '/' + name; }

  // What is wrong with a text, with the folder cut out of the messages; empty if nothing is.
  std::string mistakes(const std::string& text, const std::vector<std::string>& sets = {}) {
    return mistakes_of(write("s.yaml", text), sets);
  }
  std::string mistakes_of(const std::string& file, const std::vector<std::string>& sets = {}) {
    try {
      static_cast<void>(load_scenario(file, settings(sets)));
      return {};
    } catch (const ScenarioError& e) {
      std::string message = e.what();
      for (std::size_t at = message.find(folder_); at != std::string::npos;
           at = message.find(folder_)) {
        message.erase(at, folder_.size() + 1);
      }
      return message;
    }
  }
  Scenario load(const std::string& text, const std::vector<std::string>& sets = {}) {
    return load_scenario(write("s.yaml", text), settings(sets));
  }

  static std::vector<Setting> settings(const std::vector<std::string>& sets) {
    std::vector<Setting> result;
    for (const std::string& text : sets) result.push_back(parse_setting(text));
    return result;
  }

  // A small valid scenario: header lines (1 to 3), the job (4 to 9), then `rest` from line 10 on.
  static std::string small(const std::string& rest = "") {
    return "name: small\n"
           "duration: 10s\n"
           "flink: {version: \"1.10\"}\n"
           "job:\n"
           "  operators:\n"
           "    - {id: lines, kind: source, from: {file: text.txt}, parallelism: 2}\n"
           "    - {id: words, kind: flat_map, do: tokenize, input: lines}\n"
           "    - {id: count, kind: keyed, do: count, input: words, parallelism: 2}\n"
           "    - {id: out, kind: sink, input: count}\n" +
           rest;
  }

  std::string folder_;
};

}  // namespace tailrace::scenarios
