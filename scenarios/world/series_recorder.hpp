// Watches a run window by window: what `tailrace run --series` reports.
//
// Wraps the operators of the job in meters that count what goes through them, and reads the gauges of
// all tasks between two events at the end of each window. Neither schedules an event, draws a random
// number or writes to the trace, so that a run with a series is the run without it. Without a series
// there are no meters, and a run pays nothing.
//
// The meters forward every call of StreamOperator, SourceOperator and StreamOperatorFactory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/series.hpp"
#include "engine/graph/job_graph.hpp"
#include "engine/graph/stream_graph.hpp"
#include "engine/observer.hpp"
#include "engine/ports.hpp"
#include "engine/task/stream_task.hpp"
#include "scenarios/world/job_builder.hpp"
#include "scenarios/world/simulated_cluster.hpp"

namespace tailrace::scenarios {

// What one subtask of an operator has done, over all its attempts; meters write to it.
class SubtaskMeter {
 public:
  explicit SubtaskMeter(base::Duration every) : every_(every) {}

  // One record, now. Cost: O(1) and no allocation but at the begin of a window.
  void count(base::Time now) {
    if (now >= window_end_) begin_window(now);
    ++records_.back();
  }
  [[nodiscard]] const std::vector<std::int64_t>& records() const { return records_; }
  // Of an attempt that begins.
  std::int32_t next_attempt() { return attempts_++; }

 private:
  void begin_window(base::Time now);

  base::Duration every_;
  base::Time window_end_;
  std::vector<std::int64_t> records_;  // by window
  std::int32_t attempts_ = 0;
};

class SeriesRecorder {
 public:
  // All arguments outlive this, and this outlives every operator of the run. Requires: every > 0.
  SeriesRecorder(const Scenario& scenario, base::Duration every, const engine::Clock& clock,
                 const JobEnds& ends);

  // Puts a meter around every operator of a job before it is submitted. Node i is operator i.
  void put_meters(engine::StreamGraph& graph);
  // The job has been submitted; `graph` is what runs.
  void job_submitted(const engine::JobGraph& graph);
  void job_running();
  void task_failed(engine::SubtaskRef task, std::string_view cause);

  // When the window ends that is open.
  [[nodiscard]] base::Time window_end() const { return window_end_; }
  // The window has ended: everything up to its end has happened. Reads all gauges.
  void end_window(SimulatedCluster& cluster);

  // Moves what was gathered into a result. Once.
  [[nodiscard]] analysis::Series take();

  // For meters.
  [[nodiscard]] base::Time now() const { return clock_->now(); }
  [[nodiscard]] SubtaskMeter& meter_of(std::int32_t op, std::int32_t subtask);
  // Stays valid while the run goes on.
  analysis::AttemptRow& begin_attempt(std::int32_t op, const engine::OperatorContext& context);
  // The positions with which a source was restored.
  void source_restored(std::int32_t op, const engine::OperatorContext& context);

 private:
  [[nodiscard]] const std::string& id_of(std::int32_t op) const {
    return scenario_->job.operators[static_cast<std::size_t>(op)].id;
  }
  void read_gauges(const engine::StreamTask& task, const std::string& op);
  void put(const std::string& op, std::int32_t subtask, std::string_view name,
           std::optional<std::int64_t> value, bool in_thousandths = false);
  [[nodiscard]] std::vector<analysis::LatencySeries> latencies() const;

  const Scenario* scenario_;
  base::Duration every_;
  const engine::Clock* clock_;
  const JobEnds* ends_;
  base::Time window_end_;
  std::map<std::pair<std::int32_t, std::int32_t>, SubtaskMeter> meters_;  // by operator, subtask
  std::vector<std::string> vertices_;  // ids of their first operators, of the current submission
  std::map<std::string, std::int32_t> operators_;  // by id
  // By operator, subtask and name.
  std::map<std::tuple<std::int32_t, std::int32_t, std::string>, analysis::MetricSeries> metrics_;
  std::deque<analysis::AttemptRow> attempts_;  // meters point into it
  analysis::Series series_;
};

}  // namespace tailrace::scenarios
