// The two sinks of a records job.
#pragma once

#include <memory>

#include "engine/ports.hpp"
#include "engine/task/stream_operator.hpp"

namespace tailrace::engine {

// Name of the two-phase sink's list state.
inline constexpr const char* kTwoPhaseCommitState = "state";

// Flink 1.10 TwoPhaseCommitSinkFunction (spec rescale.md 8.3): what it writes becomes visible when
// the checkpoint that contains it is complete. The system outlives every operator.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_two_phase_commit_sink_factory(
    ExternalSystem& system);

// Writes at once: after a failure, records since the last checkpoint are written again.
[[nodiscard]] std::shared_ptr<const StreamOperatorFactory> make_at_least_once_sink_factory(
    ExternalSystem& system);

}  // namespace tailrace::engine
