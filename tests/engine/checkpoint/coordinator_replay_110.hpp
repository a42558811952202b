// Replays what the real coordinator and failure manager of Flink 1.10 did.
//
// The format is that of golden/coordinator/coordinator_f110.jsonl and failure_manager_f110.jsonl.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tailrace::engine::test {

// Whether the steps of a case are all of kinds that the replay knows.
[[nodiscard]] bool is_coordinator_script(const nlohmann::json& line);
// Empty: no difference. Else the first one: the step, what was expected, what was found.
[[nodiscard]] std::string replay_coordinator_script(const nlohmann::json& line);
[[nodiscard]] std::string replay_failure_manager(const nlohmann::json& line);
// Rows that add to a store and ask for the one to recover from.
[[nodiscard]] bool is_store_script(const nlohmann::json& line);
[[nodiscard]] std::string replay_store(const nlohmann::json& line);

}  // namespace tailrace::engine::test
