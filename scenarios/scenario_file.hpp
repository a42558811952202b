// The door of the language: a file and settings in, a checked scenario out.
#pragma once

#include <string>
#include <vector>

#include "scenarios/model.hpp"
#include "scenarios/settings.hpp"

namespace tailrace::scenarios {

// Reads, overrides, checks.
// Errors: throws ScenarioError with all mistakes of the file and the settings together. Nothing is
// written.
[[nodiscard]] Scenario load_scenario(const std::string& path, const std::vector<Setting>& settings);

}  // namespace tailrace::scenarios
