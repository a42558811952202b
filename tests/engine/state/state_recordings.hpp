// Replays of recordings of real state backends (golden/state).
//
// A replay drives the engine's classes with a case's input and throws std::runtime_error at the
// first difference. Returns false if the case needs what does not exist yet.
#pragma once

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

using Json = nlohmann::json;

void replay_cow_map(const Json& test_case);
bool replay_keyed_snapshot(const Json& test_case);
bool replay_operator_snapshot(const Json& test_case);

}  // namespace tailrace::engine::test
