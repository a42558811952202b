// The sections of a scenario, each read by its own file. All mistakes go to the diagnostics; what
// comes back is complete, but may be meaningless if there were any.
#pragma once

#include <string>
#include <vector>

#include "scenarios/map_reader.hpp"
#include "scenarios/model.hpp"
#include "sim/base/result.hpp"

namespace tailrace::scenarios {

[[nodiscard]] Cluster parse_cluster(MapReader reader, const FlinkOptions& flink);
[[nodiscard]] Costs parse_costs(MapReader reader);

[[nodiscard]] Pins parse_pins(MapReader reader, const Job& job, Diagnostics& diagnostics);

// `directory` is where relative files of the scenario file are looked up.
[[nodiscard]] Job parse_job(MapReader reader, const FlinkOptions& flink,
                            const std::string& directory, Diagnostics& diagnostics);

// What a source of shards says besides its rate: from, size, keys. Requires: it has from: {shards}.
void parse_shards(MapReader& reader, MapReader& from, std::int32_t max_parallelism,
                  OperatorSpec& op);
// What do: update keeps.
[[nodiscard]] KeyedState parse_keyed_state(MapReader& reader);

// Whether a record that the operator emits begins with a number that is its key, as those of shards
// do. Requires: a job graph without mistakes.
[[nodiscard]] bool emits_numbered_records(const Job& job, std::int32_t op);

// The sources of shards whose records reach an operator as they are, by index.
// Requires: a job graph without cycles.
[[nodiscard]] std::vector<std::int32_t> shards_before(const Job& job, std::int32_t op);

// That each operator gets records of one kind, shards are enough for their subtasks, and what is to
// be loaded is known. Requires: a job graph without cycles, parallelisms settled.
void check_shards(const Job& job, Diagnostics& diagnostics);

// Names, inputs, cycles, parallelisms. Requires: the operators are as parse_job reads them.
void check_job_graph(Job& job, std::int32_t job_parallelism, Diagnostics& diagnostics);

// The parallelism that each operator has after `changes`; what is forward-connected to a changed
// operator and has none of its own follows it.
[[nodiscard]] std::vector<TimelineEntry::Rescale> with_followers(
    const Job& job, std::vector<TimelineEntry::Rescale> changes);

[[nodiscard]] std::vector<TimelineEntry> parse_timeline(const yaml::Node* node, const Job& job,
                                                        const Cluster& cluster,
                                                        Diagnostics& diagnostics);

[[nodiscard]] std::vector<ScenarioExpectation> parse_expectations(const yaml::Node* node,
                                                                  Diagnostics& diagnostics);

// One sentence of `expect`.
[[nodiscard]] base::Result<analysis::Expectation, std::string> parse_expectation(
    std::string_view text);

}  // namespace tailrace::scenarios
