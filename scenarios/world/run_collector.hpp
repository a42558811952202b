// Puts a finished run together as results: the audit, the latencies, the dumps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "analysis/run_result.hpp"
#include "engine/checkpoint/completed_checkpoint.hpp"
#include "scenarios/run_scenario.hpp"
#include "scenarios/world/job_builder.hpp"
#include "scenarios/world/process_ports.hpp"
#include "scenarios/world/run_recorder.hpp"
#include "sim/simulation.hpp"

namespace tailrace::scenarios {

class RunCollector {
 public:
  RunCollector(const Scenario& scenario, const JobEnds& ends, const BlobContents& blobs)
      : scenario_(&scenario), ends_(&ends), blobs_(&blobs) {}

  void set_reason(analysis::FinishReason reason) { reason_ = reason; }
  // All sources ended and so did the job: then every line counts.
  void set_finished_by_itself(bool finished) { finished_by_itself_ = finished; }
  // The savepoint that the run ended with; may be null.
  void set_last_snapshot(engine::CompletedCheckpointPtr snapshot) {
    snapshot_ = std::move(snapshot);
  }
  // The run was cut: `latest` is the last completed checkpoint, null if there was none.
  void set_cut(engine::CompletedCheckpointPtr latest) {
    snapshot_ = std::move(latest);
    cut_ = true;
  }

  // Feeds the committed effects to the trace, too: they are what a run has done to the world.
  [[nodiscard]] RunOutcome collect(RunRecorder& recorder, sim::Simulation& simulation,
                                   const RunOptions& options) const;

 private:
  [[nodiscard]] std::optional<analysis::Audit> audit() const;
  // The audit of a job to which the sources have offered so many lines of each partition.
  using LinesOf = std::function<std::int64_t(const SourceLog& log, std::int32_t source,
                                             std::int32_t partition)>;
  [[nodiscard]] analysis::Audit audit_against(const LinesOf& lines_of) const;
  // How far each partition of a source had been read at the snapshot, in lines by partition.
  [[nodiscard]] std::map<std::int32_t, std::int64_t> positions(std::int32_t source) const;
  [[nodiscard]] engine::Blob read(const engine::StreamStateHandle& handle) const;
  [[nodiscard]] std::optional<std::int64_t> orphaned_blobs() const;
  void collect_state(RunOutcome& outcome) const;

  const Scenario* scenario_;
  const JobEnds* ends_;
  const BlobContents* blobs_;
  analysis::FinishReason reason_ = analysis::FinishReason::kDuration;
  bool finished_by_itself_ = false;
  bool cut_ = false;
  engine::CompletedCheckpointPtr snapshot_;
};

}  // namespace tailrace::scenarios
