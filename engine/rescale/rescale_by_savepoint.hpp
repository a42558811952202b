// A change of parallelism by a client that only knows savepoints.
//
// Spec rescale.md 7.1: stop with savepoint, then submit the job anew with other parallelisms from
// the savepoint's path. Works with every scheduler and every state backend.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/ids.hpp"
#include "engine/scheduling/job_manager.hpp"
#include "sim/base/callback.hpp"
#include "sim/base/lifeline.hpp"
#include "sim/base/result.hpp"

namespace tailrace::engine {

// The new job, or why there is none: the old one goes on if it could not be stopped.
using RescaleDone = base::InplaceFunction<void(base::Result<JobId, std::string>)>;

// New parallelisms by operator name; operators that are not named keep theirs.
using Parallelisms = std::map<std::string, std::int32_t>;

// The submission with other parallelisms. Max parallelisms stay as they were configured.
// Errors: an operator that does not exist; what generate_job_graph finds wrong with the result.
[[nodiscard]] base::Result<JobSubmission, std::string> with_parallelisms(
    JobSubmission submission, const Parallelisms& parallelisms);

// Checks the new graph first, so that a mistake in it does not cost the running job.
// `target_directory`: of the savepoint; empty for the configured one.
// Once `client` is gone the procedure is over: nothing is submitted and `done` never runs. The job
// may still stop, as it does when a real client gives up waiting.
// Requires: `job` is a job of that job manager, which outlives the procedure.
void rescale_by_savepoint(JobManager& job_manager, JobId job, const Parallelisms& parallelisms,
                          std::string target_directory, const base::Lifeline& client,
                          RescaleDone done);

}  // namespace tailrace::engine
