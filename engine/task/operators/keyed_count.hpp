// Counts the records of each key: emits (key, count so far) for every record.
#pragma once

#include <memory>

#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Name of its keyed value state (string -> long).
inline constexpr const char* kCountState = "count";

[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_keyed_count_factory();

}  // namespace tailrace::engine
