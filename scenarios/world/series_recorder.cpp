#include "scenarios/world/series_recorder.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "analysis/statistics.hpp"
#include "engine/network/f120/buffer_debloater.hpp"
#include "engine/network/network_gauges.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/task/operators/line_source.hpp"
#include "scenarios/world/operator_meter.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {

void SubtaskMeter::begin_window(base::Time now) {
  const std::int64_t window = (now - base::Time{}).ns / every_.ns;
  records_.resize(static_cast<std::size_t>(window) + 1);
  window_end_ = base::Time{} + (window + 1) * every_;
}

SeriesRecorder::SeriesRecorder(const Scenario& scenario, base::Duration every,
                               const engine::Clock& clock, const JobEnds& ends)
    : scenario_(&scenario),
      every_(every),
      clock_(&clock),
      ends_(&ends),
      window_end_(base::Time{} + every) {
  TAILRACE_ASSERT(every.ns > 0);
  series_.every = every;
  for (std::size_t i = 0; i < scenario.job.operators.size(); ++i) {
    operators_.emplace(scenario.job.operators[i].id, static_cast<std::int32_t>(i));
  }
}

void SeriesRecorder::put_meters(engine::StreamGraph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    auto& factory = graph.nodes[i].factory;
    factory = make_metered_factory(*this, static_cast<std::int32_t>(i), std::move(factory));
  }
}

void SeriesRecorder::job_submitted(const engine::JobGraph& graph) {
  vertices_.clear();
  analysis::SubmissionRow submission;
  submission.submitted = now();
  for (const engine::JobVertex& vertex : graph.vertices) {
    analysis::SubmissionRow::Vertex row;
    row.id = vertex.id.hex();
    row.parallelism = vertex.parallelism;
    for (const engine::ChainedOperator& op : vertex.chain) {
      row.operators.push_back(id_of(op.stream_node));
    }
    vertices_.push_back(row.operators.front());
    submission.vertices.push_back(std::move(row));
  }
  series_.submissions.push_back(std::move(submission));
}

void SeriesRecorder::job_running() {
  std::optional<base::Time>& running = series_.submissions.back().running;
  if (!running) running = now();
}

void SeriesRecorder::task_failed(engine::SubtaskRef task, std::string_view cause) {
  series_.failures.push_back(
      {vertices_[static_cast<std::size_t>(task.vertex)], task.subtask, now(), std::string(cause)});
}

SubtaskMeter& SeriesRecorder::meter_of(std::int32_t op, std::int32_t subtask) {
  return meters_.try_emplace({op, subtask}, every_).first->second;
}

analysis::AttemptRow& SeriesRecorder::begin_attempt(std::int32_t op,
                                                    const engine::OperatorContext& context) {
  analysis::AttemptRow row;
  row.op = id_of(op);
  row.subtask = context.subtask;
  row.attempt = meter_of(op, context.subtask).next_attempt();
  row.restored = context.restored;
  row.initialised = now();
  attempts_.push_back(std::move(row));
  return attempts_.back();
}

void SeriesRecorder::source_restored(std::int32_t op, const engine::OperatorContext& context) {
  const SourceLog& log = *ends_->logs.at(op);
  for (const engine::PartitionPosition& position : log.positions(*context.operator_state)) {
    const std::int64_t from = log.lines_before(position.partition, position.position);
    const std::int64_t read = log.lines_read(position.partition);
    series_.replays.push_back(
        {id_of(op), position.partition, now(), from, std::max<std::int64_t>(read - from, 0)});
  }
}

void SeriesRecorder::end_window(SimulatedCluster& cluster) {
  TAILRACE_ASSERT(now() == window_end_);
  ++series_.windows;
  window_end_ = window_end_ + every_;
  for (std::int32_t i = 0; i < cluster.task_manager_count(); ++i) {
    engine::TaskExecutor* executor = cluster.task_executor(i);
    if (executor == nullptr) continue;
    for (const auto& task : executor->tasks()) {
      const engine::StreamTask* invokable = std::as_const(*task).invokable();
      if (invokable == nullptr || engine::is_terminal(task->state())) continue;
      read_gauges(*invokable, vertices_[static_cast<std::size_t>(task->descriptor().vertex)]);
    }
  }
}

void SeriesRecorder::put(const std::string& op, std::int32_t subtask, std::string_view name,
                         std::optional<std::int64_t> value, bool in_thousandths) {
  if (!value) return;
  analysis::MetricSeries& series = metrics_[{operators_.at(op), subtask, std::string(name)}];
  if (series.values.empty()) {
    series.op = op;
    series.subtask = subtask;
    series.name = name;
    series.in_thousandths = in_thousandths;
  }
  series.values.resize(static_cast<std::size_t>(series_.windows));
  series.values.back() = value;
}

void SeriesRecorder::read_gauges(const engine::StreamTask& task, const std::string& op) {
  const std::int32_t subtask = task.descriptor().subtask;
  if (const engine::TaskIOMetrics* metrics = task.io_metrics(); metrics != nullptr) {
    const engine::TaskTimes times = metrics->read();
    put(op, subtask, "accumulateBackPressuredTimeMs", times.accumulate_back_pressured_time_ms);
    put(op, subtask, "accumulateBusyTimeMs", times.accumulate_busy_time_ms);
    put(op, subtask, "accumulateIdleTimeMs", times.accumulate_idle_time_ms);
    put(op, subtask, "backPressuredTimeMsPerSecond", times.back_pressured_time_ms_per_second);
    put(op, subtask, "busyTimeMsPerSecond", times.busy_time_ms_per_second);
    put(op, subtask, "hardBackPressuredTimeMsPerSecond",
        times.hard_back_pressured_time_ms_per_second);
    put(op, subtask, "idleTimeMsPerSecond", times.idle_time_ms_per_second);
    put(op, subtask, "softBackPressuredTimeMsPerSecond",
        times.soft_back_pressured_time_ms_per_second);
  }
  const auto share = [](float usage) {
    return static_cast<std::int64_t>(static_cast<double>(usage) * 1000.0 + 0.5);
  };
  if (!task.gates().empty()) {
    const engine::InputGates gates(task.gates());
    put(op, subtask, "inPoolUsage", share(engine::in_pool_usage(gates)), true);
    put(op, subtask, "inputQueueLength", engine::input_queue_length(gates));
    std::vector<const engine::BufferDebloater*> debloaters;
    std::int32_t smallest = 0;
    for (const auto& gate : gates) {
      const engine::BufferDebloater* debloater = gate->debloater();
      if (debloater == nullptr) continue;
      const std::int32_t bytes = debloater->last_buffer_size();
      smallest = debloaters.empty() ? bytes : std::min(smallest, bytes);
      debloaters.push_back(debloater);
    }
    if (!debloaters.empty()) {
      put(op, subtask, "debloatedBufferSize", smallest);
      put(op, subtask, "estimatedTimeToConsumeBuffersMs",
          engine::estimated_time_to_consume_buffers_ms(debloaters));
    }
  }
  if (!task.partitions().empty()) {
    const engine::ResultPartitions partitions(task.partitions());
    put(op, subtask, "outPoolUsage", share(engine::out_pool_usage(partitions)), true);
    put(op, subtask, "outputQueueLength", engine::output_queue_length(partitions));
  }
  if (const auto alignment = task.checkpoint_alignment_time()) {
    put(op, subtask, "checkpointAlignmentTime", alignment->ns);
  }
  if (const auto delay = task.checkpoint_start_delay()) {
    put(op, subtask, "checkpointStartDelayNanos", delay->ns);
  }
}

std::vector<analysis::LatencySeries> SeriesRecorder::latencies() const {
  std::vector<analysis::LatencySeries> all;
  for (const auto& [op, store] : ends_->stores) {
    std::map<std::int64_t, std::vector<std::int64_t>> by_window;
    for (const Effect& effect : store->committed()) {
      const std::int64_t window = (effect.committed - base::Time{}).ns / every_.ns;
      by_window[window].push_back((effect.committed - effect.created).ns);
    }
    analysis::LatencySeries series;
    series.op = id_of(op);
    for (auto& [window, samples] : by_window) {
      // The mean of what lies above the first sample: the sum of years of waiting stays in range.
      const std::int64_t base = samples.front();
      const auto count = static_cast<std::int64_t>(samples.size());
      std::int64_t sum = 0;
      for (const std::int64_t sample : samples) sum += sample - base;
      const analysis::SortedSamples sorted(std::move(samples));
      series.windows.push_back({window, count, base + sum / count, *sorted.percentile(500),
                                *sorted.percentile(990), *sorted.max()});
    }
    all.push_back(std::move(series));
  }
  return all;
}

analysis::Series SeriesRecorder::take() {
  for (const auto& [key, meter] : meters_) {
    analysis::ThroughputSeries series;
    series.op = id_of(key.first);
    series.subtask = key.second;
    series.records = meter.records();
    for (const std::int64_t records : series.records) series.total += records;
    series_.throughput.push_back(std::move(series));
  }
  series_.latency = latencies();
  for (auto& [key, metric] : metrics_) {
    metric.values.resize(static_cast<std::size_t>(series_.windows));
    series_.metrics.push_back(std::move(metric));
  }
  series_.attempts.assign(attempts_.begin(), attempts_.end());
  return std::move(series_);
}

}  // namespace tailrace::scenarios
