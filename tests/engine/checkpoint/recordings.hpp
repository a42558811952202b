// Where recordings of real Flink lie: below $TAILRACE_SHARED, beside the checkout, or in tests/data.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tailrace::engine::test {

// In this order; the first one that has the file wins.
std::vector<std::filesystem::path> recording_roots();
// Empty if there is none of that name, such as "golden/coordinator/coordinator_f110.jsonl".
std::filesystem::path find_recording(const std::string& name);
// Every case of a file: the lines that are not its head (a description or a list of reasons).
void for_each_case(const std::filesystem::path& file,
                   const std::function<void(const nlohmann::json&)>& visit);

}  // namespace tailrace::engine::test
