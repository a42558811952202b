// Turns the section `flink` of a scenario into what the engine wants to be told.
#pragma once

#include "engine/scheduling/high_availability_services.hpp"
#include "engine/scheduling/job_submission.hpp"
#include "scenarios/model.hpp"

namespace tailrace::scenarios {

// Where the checkpoint store keeps a run's files.
inline constexpr const char* kCheckpointDirectory = "checkpoints";
inline constexpr const char* kSavepointDirectory = "savepoints";
inline constexpr const char* kHighAvailabilityDirectory = "high-availability";

[[nodiscard]] engine::ClusterConfig cluster_config(const Scenario& scenario);
// Requires: the scenario has a highly available store.
[[nodiscard]] engine::HighAvailabilityConfig high_availability_config(const Scenario& scenario);

// Everything of a submission but its graph.
[[nodiscard]] engine::JobSubmission job_settings(const Scenario& scenario);

}  // namespace tailrace::scenarios
