// Operators without state: tokenize and identity.
#pragma once

#include <memory>

#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Emits every maximal run of ASCII letters of a record, case kept.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_tokenize_factory();

// Emits every record as it is.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_identity_factory();

}  // namespace tailrace::engine
