// The scenarios that come with the program.
#pragma once

#include <string>
#include <vector>

namespace tailrace::scenarios {

// Where they are, seen from the program's own folder: `share/tailrace/scenarios` (installed) or
// `scenarios/library` (source tree) in one of the folders around it. Empty if there is neither.
[[nodiscard]] std::string find_library(const std::string& program_folder);

struct LibraryEntry {
  std::string name;  // without ".yaml"
  std::string path;
  std::string about;  // the first sentence
};

// Sorted by name.
[[nodiscard]] std::vector<LibraryEntry> list_library(const std::string& folder);

// The file that a user means by `name`: a path, or else the name of a library scenario.
// Errors: throws ScenarioError if a name without a slash is neither; a path is left to whoever
// opens it.
[[nodiscard]] std::string resolve_scenario(const std::string& name, const std::string& library);

// Up to the first full stop that ends a sentence.
[[nodiscard]] std::string first_sentence(const std::string& text);

}  // namespace tailrace::scenarios
