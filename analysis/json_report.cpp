#include <string>
#include <string_view>

#include "analysis/checkpoint_statistics_json.hpp"
#include "analysis/report.hpp"
#include "analysis/result_names.hpp"
#include "analysis/series_json.hpp"
#include "analysis/time_text.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::analysis {
namespace {

std::string quote(std::string_view text) {
  return json_quote(text);
}

std::string null_or_ms(const std::optional<Duration>& duration) {
  return duration.has_value() ? milliseconds(duration->ns) : "null";
}

// Numbers are written digit by digit: "exactly three decimals" is no promise that a printer of
// floating-point numbers makes. The library quotes the strings.
class Writer {
 public:
  explicit Writer(const RunResult& result) : result_(result), view_(result) {}

  std::string document() {
    out_ = "{\n";
    member("name", quote(result_.name));
    member("seed", std::to_string(result_.seed));
    member("version", quote(result_.version));
    member("trace_hash", quote(hex64(result_.trace_hash)));
    named("finished", "finished");
    named("virtual_time_s", "virtual_time");
    named("events", "events");
    member("wall_s", seconds(result_.wall.ns));
    member("records", "{" + field("in", "records.in") + ", " + field("out", "records.out") + "}");
    member("checkpoints", checkpoints());
    named("restarts", "restarts");
    named("rescales", "rescales");
    member("latency_ms",
           "{" + field("count", "latency.count") + ", " + field("p50", "latency.p50") + ", " +
               field("p90", "latency.p90") + ", " + field("p99", "latency.p99") + ", " +
               field("p999", "latency.p999") + ", " + field("max", "latency.max") + "}");
    member("exactly_once", "{" + field("lost", "exactly_once.lost") + ", " +
                               field("duplicated", "exactly_once.duplicated") + "}");
    list("expectations", result_.expectations, expectation);
    list("checkpoint_list", result_.checkpoints, checkpoint);
    member("checkpoint_statistics", to_json(result_.checkpointing, result_.statistics_schema));
    history();
    list("restart_list", result_.restarts, restart);
    list("rescale_list", result_.rescales, rescale);
    if (result_.series) member("series", analysis::to_json(*result_.series));
    out_.resize(out_.size() - 2);  // the comma and the line end of the last member
    out_ += "\n}\n";
    return std::move(out_);
  }

 private:
  void member(std::string_view key, const std::string& value) {
    out_ += "  " + quote(key) + ": " + value + ",\n";
  }
  void named(std::string_view key, std::string_view name) { member(key, value_of(name)); }

  std::string value_of(std::string_view name) const {
    const ResultName* entry = find_result_name(name);
    TAILRACE_ASSERT(entry != nullptr);
    return json_value(*entry, view_);
  }
  std::string field(std::string_view key, std::string_view name) const {
    return quote(key) + ": " + value_of(name);
  }

  std::string checkpoints() const {
    return "{" + field("triggered", "checkpoints.triggered") + ", " +
           field("completed", "checkpoints.completed") + ", " +
           field("failed", "checkpoints.failed") + ", " +
           field("failures_counted", "checkpoints.failures_counted") + ", \"duration_ms\": {" +
           field("min", "checkpoints.duration.min") + ", " +
           field("p50", "checkpoints.duration.p50") + ", " +
           field("p99", "checkpoints.duration.p99") + ", " +
           field("max", "checkpoints.duration.max") + "}, " +
           field("not_started", "checkpoints.not_started") + ", " +
           field("acknowledged_late", "checkpoints.acknowledged_late") + "}";
  }

  template <typename Row>
  void list(std::string_view key, const std::vector<Row>& rows, std::string (*format)(const Row&)) {
    std::string text = "[";
    for (const Row& row : rows) {
      text += text.size() > 1 ? ",\n    " : "\n    ";
      text += format(row);
    }
    text += rows.empty() ? "]" : "\n  ]";
    member(key, text);
  }

  void history() {
    std::string text = "[";
    for (const CheckpointStatistics& checkpoint : result_.checkpoint_history) {
      text += text.size() > 1 ? ",\n    " : "\n    ";
      text += to_json(checkpoint, result_.statistics_schema);
    }
    text += result_.checkpoint_history.empty() ? "]" : "\n  ]";
    member("checkpoint_history", text);
  }

  static std::string expectation(const ExpectationResult& row) {
    return "{\"text\": " + quote(row.text) + ", \"held\": " + (row.held ? "true" : "false") +
           ", \"value\": " + row.value + "}";
  }

  static std::string checkpoint(const CheckpointRow& row) {
    return "{\"id\": " + std::to_string(row.id) +
           ", \"kind\": " + (row.savepoint ? "\"savepoint\"" : "\"checkpoint\"") +
           ", \"status\": " + quote(to_string(row.status)) +
           ", \"triggered_s\": " + seconds(row.triggered.ns) +
           ", \"duration_ms\": " + null_or_ms(row.duration) +
           ", \"acknowledged\": " + std::to_string(row.acknowledged) +
           ", \"subtasks\": " + std::to_string(row.subtasks) +
           ", \"state_bytes\": " + std::to_string(row.state_bytes) +
           ", \"alignment_max_ms\": " + milliseconds(row.alignment_max.ns) +
           ", \"start_delay_max_ms\": " + milliseconds(row.start_delay_max.ns) +
           ", \"failure\": " + (row.failure.empty() ? "null" : quote(row.failure)) + "}";
  }

  static std::string restart(const RestartRow& row) {
    return "{\"failed_s\": " + seconds(row.failed.ns) +
           ", \"running_s\": " + null_or_seconds(row.running) +
           ", \"downtime_ms\": " + downtime(row.failed, row.running) +
           ", \"restored_checkpoint\": " +
           (row.restored_checkpoint < 0 ? "null" : std::to_string(row.restored_checkpoint)) +
           ", \"records_replayed\": " + std::to_string(row.records_replayed) +
           ", \"cause\": " + quote(row.cause) + "}";
  }

  static std::string rescale(const RescaleRow& row) {
    return "{\"requested_s\": " + seconds(row.requested.ns) +
           ", \"savepoint_ready_s\": " + null_or_seconds(row.savepoint_ready) +
           ", \"stopped_s\": " + null_or_seconds(row.stopped) +
           ", \"submitted_s\": " + null_or_seconds(row.submitted) +
           ", \"running_s\": " + null_or_seconds(row.running) +
           ", \"downtime_ms\": " + downtime(row.requested, row.running) +
           ", \"what\": " + quote(row.what) +
           ", \"savepoint\": " + (row.savepoint < 0 ? "null" : std::to_string(row.savepoint)) +
           ", \"records_in_flight\": " + std::to_string(row.records_in_flight) + "}";
  }

  static std::string downtime(Time from, const std::optional<Time>& to) {
    return to.has_value() ? milliseconds((*to - from).ns) : "null";
  }

  const RunResult& result_;
  ResultView view_;
  std::string out_;
};

}  // namespace

std::string to_json(const RunResult& result) {
  return Writer(result).document();
}

}  // namespace tailrace::analysis
