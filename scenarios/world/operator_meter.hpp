// Operators that count what goes through them, and are otherwise those that they stand for.
//
// Every virtual function of StreamOperator, SourceOperator and StreamOperatorFactory is forwarded: one
// that is added there has to be added here, or a run with a series is another run, which series_test
// notices if a scenario of the library depends on it.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/task/stream_operator.hpp"

namespace tailrace::scenarios {

class SeriesRecorder;

// A factory of the same operators with a meter around each. `op`: index of the operator in the
// scenario. The recorder outlives the factory and what it makes.
[[nodiscard]] std::shared_ptr<const engine::StreamOperatorFactory> make_metered_factory(
    SeriesRecorder& recorder, std::int32_t op,
    std::shared_ptr<const engine::StreamOperatorFactory> factory);

}  // namespace tailrace::scenarios
