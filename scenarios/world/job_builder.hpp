// Turns the job of a scenario into Flink's stream graph.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/graph/stream_graph.hpp"
#include "scenarios/model.hpp"
#include "scenarios/world/external_store.hpp"
#include "scenarios/world/source_log.hpp"

namespace tailrace::scenarios {

// What the job's ends are tied to; outlives every submission of the job.
struct JobEnds {
  std::map<std::int32_t, std::unique_ptr<SourceLog>> logs;        // by operator index of the source
  std::map<std::int32_t, std::unique_ptr<ExternalStore>> stores;  // by operator index of the sink
};

// Reads the files of the sources. Errors: ScenarioError if one cannot be read.
[[nodiscard]] JobEnds make_job_ends(const Scenario& scenario, const engine::Clock& clock);

// `parallelism[i]` is that of operator i in this submission. Node i of the graph is operator i.
[[nodiscard]] engine::StreamGraph build_stream_graph(const Scenario& scenario,
                                                     const std::vector<std::int32_t>& parallelism,
                                                     const JobEnds& ends);

// The parallelisms of the file.
[[nodiscard]] std::vector<std::int32_t> initial_parallelism(const Scenario& scenario);

// After a rescale, which names everything that changes.
[[nodiscard]] std::vector<std::int32_t> rescaled_parallelism(
    std::vector<std::int32_t> parallelism, const std::vector<TimelineEntry::Rescale>& rescales);

}  // namespace tailrace::scenarios
