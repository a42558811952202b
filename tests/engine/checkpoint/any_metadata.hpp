// Arbitrary contents of a `_metadata` file.
#pragma once

#include <string_view>
#include <vector>

#include "engine/checkpoint/metadata/checkpoint_metadata.hpp"

namespace tailrace::engine::test {

[[nodiscard]] std::vector<std::byte> bytes_of(std::string_view text);
[[nodiscard]] OperatorId operator_id(std::uint8_t number);

// Draws from RapidCheck: only inside a property. Version 2: what 1.10 knows; version 4: that and what
// 1.20 adds.
[[nodiscard]] CheckpointMetadata any_metadata(int version);
[[nodiscard]] CheckpointProperties any_properties();

}  // namespace tailrace::engine::test
