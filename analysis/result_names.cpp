#include "analysis/result_names.hpp"

#include <array>
#include <utility>

#include "analysis/time_text.hpp"

namespace tailrace::analysis {
namespace {

using Number = std::optional<std::int64_t>;

std::int64_t size_of(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

std::int64_t count_status(const RunResult& result, CheckpointStatus status) {
  std::int64_t count = 0;
  for (const CheckpointRow& row : result.checkpoints) count += row.status == status ? 1 : 0;
  return count;
}

std::int64_t count_counted_failures(const RunResult& result) {
  std::int64_t count = 0;
  for (const CheckpointStatistics& one : result.checkpoint_history) {
    count += one.failure_counted ? 1 : 0;
  }
  return count;
}

std::vector<std::int64_t> completed_durations(const RunResult& result) {
  std::vector<std::int64_t> samples;
  for (const CheckpointRow& row : result.checkpoints) {
    if (row.status == CheckpointStatus::kCompleted && row.duration.has_value()) {
      samples.push_back(row.duration->ns);
    }
  }
  return samples;
}

template <std::int64_t kPermille>
Number latency_percentile(const ResultView& view) {
  return view.latency().percentile(kPermille);
}
template <std::int64_t kPermille>
Number duration_percentile(const ResultView& view) {
  return view.checkpoint_duration().percentile(kPermille);
}

constexpr auto kCount = ResultUnit::kCount;
constexpr auto kMs = ResultUnit::kMilliseconds;

constexpr std::array kNames = std::to_array<ResultName>({
    {"seed", kCount,
     [](const ResultView& v) -> Number { return static_cast<std::int64_t>(v.result().seed); }},
    {"finished", ResultUnit::kWord, nullptr},
    {"virtual_time", ResultUnit::kSeconds,
     [](const ResultView& v) -> Number { return v.result().virtual_time.ns; }},
    {"events", kCount, [](const ResultView& v) -> Number { return v.result().events; }},
    {"records.in", kCount, [](const ResultView& v) -> Number { return v.result().records_in; }},
    {"records.out", kCount, [](const ResultView& v) -> Number { return v.result().records_out; }},
    {"checkpoints.triggered", kCount,
     [](const ResultView& v) -> Number { return v.checkpoints_triggered(); }},
    {"checkpoints.completed", kCount,
     [](const ResultView& v) -> Number { return v.checkpoints_completed(); }},
    {"checkpoints.failed", kCount,
     [](const ResultView& v) -> Number { return v.checkpoints_failed(); }},
    {"checkpoints.failures_counted", kCount,
     [](const ResultView& v) -> Number { return count_counted_failures(v.result()); }},
    {"checkpoints.not_started", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpoints_not_started; }},
    {"checkpoints.acknowledged_late", kCount,
     [](const ResultView& v) -> Number { return v.result().acknowledged_late; }},
    {"checkpoints.duration.min", kMs,
     [](const ResultView& v) { return v.checkpoint_duration().min(); }},
    {"checkpoints.duration.p50", kMs, duration_percentile<500>},
    {"checkpoints.duration.p99", kMs, duration_percentile<990>},
    {"checkpoints.duration.max", kMs,
     [](const ResultView& v) { return v.checkpoint_duration().max(); }},
    {"checkpoint_statistics.counts.restored", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpointing.restored; }},
    {"checkpoint_statistics.counts.total", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpointing.total; }},
    {"checkpoint_statistics.counts.in_progress", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpointing.in_progress; }},
    {"checkpoint_statistics.counts.completed", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpointing.completed; }},
    {"checkpoint_statistics.counts.failed", kCount,
     [](const ResultView& v) -> Number { return v.result().checkpointing.failed; }},
    {"checkpoint_statistics.latest.restored.id", kCount,
     [](const ResultView& v) -> Number {
       const auto& restored = v.result().checkpointing.latest_restored;
       if (!restored.has_value()) return std::nullopt;
       return restored->id;
     }},
    {"restarts", kCount,
     [](const ResultView& v) -> Number { return size_of(v.result().restarts.size()); }},
    {"rescales", kCount,
     [](const ResultView& v) -> Number { return size_of(v.result().rescales.size()); }},
    {"latency.count", kCount, [](const ResultView& v) -> Number { return v.latency().count(); }},
    {"latency.p50", kMs, latency_percentile<500>},
    {"latency.p90", kMs, latency_percentile<900>},
    {"latency.p99", kMs, latency_percentile<990>},
    {"latency.p999", kMs, latency_percentile<999>},
    {"latency.max", kMs, [](const ResultView& v) { return v.latency().max(); }},
    {"exactly_once.lost", kCount,
     [](const ResultView& v) -> Number {
       if (!v.result().audit.has_value()) return std::nullopt;
       return v.result().audit->lost;
     }},
    {"exactly_once.duplicated", kCount,
     [](const ResultView& v) -> Number {
       if (!v.result().audit.has_value()) return std::nullopt;
       return v.result().audit->duplicated;
     }},
});

constexpr std::array kFinishWords = std::to_array<std::string_view>(
    {"duration", "sources_finished", "idle", "stopped", "canceled", "job_failed", "interrupted"});

}  // namespace

const char* to_string(FinishReason reason) {
  return kFinishWords[static_cast<std::size_t>(reason)].data();
}

const char* to_string(CheckpointStatus status) {
  switch (status) {
    case CheckpointStatus::kPending:
      return "pending";
    case CheckpointStatus::kCompleted:
      return "completed";
    case CheckpointStatus::kFailed:
      return "failed";
  }
  return "";
}

ResultView::ResultView(const RunResult& result)
    : result_(result),
      latency_(result.latency_ns),
      checkpoint_duration_(completed_durations(result)) {}

std::int64_t ResultView::checkpoints_triggered() const {
  return size_of(result_.checkpoints.size());
}
std::int64_t ResultView::checkpoints_completed() const {
  return count_status(result_, CheckpointStatus::kCompleted);
}
std::int64_t ResultView::checkpoints_failed() const {
  return count_status(result_, CheckpointStatus::kFailed);
}

std::span<const ResultName> result_names() {
  return kNames;
}

const ResultName* find_result_name(std::string_view name) {
  for (const ResultName& candidate : kNames) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::string json_value(const ResultName& name, const ResultView& view) {
  if (name.unit == ResultUnit::kWord) {
    return std::string("\"") + to_string(view.result().finished) + '"';
  }
  const Number number = name.number(view);
  if (!number.has_value()) return "null";
  switch (name.unit) {
    case ResultUnit::kMilliseconds:
      return milliseconds(*number);
    case ResultUnit::kSeconds:
      return seconds(*number);
    case ResultUnit::kCount:
    case ResultUnit::kWord:
      break;
  }
  return std::to_string(*number);
}

std::span<const std::string_view> finish_words() {
  return kFinishWords;
}

}  // namespace tailrace::analysis
