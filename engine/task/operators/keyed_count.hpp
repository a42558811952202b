// Counts the records of each key: emits (text, count so far) for every record.
#pragma once

#include <memory>

#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Name of its keyed value state (key -> long).
inline constexpr const char* kCountState = "count";

// The key is the text of a record, or the number that it begins with, as the type of the input says.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_keyed_count_factory(
    RecordType input = RecordType::kString);

}  // namespace tailrace::engine
