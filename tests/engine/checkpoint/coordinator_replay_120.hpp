// Replays what the real coordinator of Flink 1.20 did.
//
// The format is that of golden/coordinator/coordinator.jsonl and of the rows of
// golden/rows_coordinator that are coordinator scripts.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tailrace::engine::test {

// Whether the steps of a case are all of kinds that the replay knows.
[[nodiscard]] bool is_coordinator_script_120(const nlohmann::json& line);
// Empty: no difference. Else the first one: the step, what was expected, what was found.
[[nodiscard]] std::string replay_coordinator_script_120(const nlohmann::json& line);

// Rows that add to a store.
[[nodiscard]] bool is_store_script_120(const nlohmann::json& line);
[[nodiscard]] std::string replay_store_120(const nlohmann::json& line);

}  // namespace tailrace::engine::test
