// Metadata as the expected.json beside each recorded `_metadata` file has it.
//
// Both sides are brought to one form: objects by operator id and subtask index, without positions in
// the file, in-line bytes as their size and checksum, without the handles that the engine leaves out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/checkpoint/metadata/metadata_reader.hpp"

namespace tailrace::engine::test {

using Json = nlohmann::json;

[[nodiscard]] std::vector<std::byte> read_bytes(const std::filesystem::path& file);

// The file as the engine has read it.
[[nodiscard]] Json metadata_to_json(const MetadataReading& reading);
// The file as it should be read. Requires: version 2 or later, no legacy state.
[[nodiscard]] Json expected_to_json(const Json& expected);

// What is left out, in the order of the file: [type or null, operator, subtask] each.
[[nodiscard]] Json left_out_to_json(const MetadataReading& reading);
[[nodiscard]] Json expected_left_out(const Json& expected);

// Whether it has state that Flink itself refuses from 1.4 on.
[[nodiscard]] bool has_legacy_state(const Json& expected);

// What a writer would have to write differently from the file, in words; empty: nothing. Compared are
// the operators of which nothing was left out, each as a whole, and the properties. Only of versions
// that the engine writes, and kinds of handles that their Flink wrote.
[[nodiscard]] std::string difference_when_written_again(const Json& expected,
                                                        std::span<const std::byte> file,
                                                        const MetadataReading& reading);

}  // namespace tailrace::engine::test
