// Replays of recordings of real state backends (golden/state).
//
// A replay drives the engine's classes with a case's input and throws std::runtime_error at the
// first difference. Returns false if the case needs what does not exist yet.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

using Json = nlohmann::json;

void replay_cow_map(const Json& test_case);
bool replay_keyed_snapshot(const Json& test_case);
bool replay_operator_snapshot(const Json& test_case);

// Where a recording lies: below $TAILRACE_SHARED (default ../shared), else in tests/data. Nothing if
// it is in neither.
std::optional<std::filesystem::path> find_recording(const std::string& path_below_golden);

struct ReplayCount {
  int replayed = 0;
  int passed_over = 0;
  int differences = 0;
  std::string first_difference;
};
ReplayCount replay_all(const std::filesystem::path& file,
                       const std::function<bool(const Json&)>& replay);

}  // namespace tailrace::engine::test
