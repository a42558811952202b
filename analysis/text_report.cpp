#include <string>
#include <string_view>

#include "analysis/report.hpp"
#include "analysis/result_names.hpp"
#include "analysis/time_text.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::analysis {
namespace {

// Seconds with three decimals: what a person reads.
std::string short_seconds(Time time) {
  return milliseconds(time.ns / 1'000) + " s";
}
std::string short_ms(std::int64_t ns) {
  return milliseconds(ns) + " ms";
}

std::string right(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string value_of(const ResultView& view, std::string_view name) {
  const ResultName* entry = find_result_name(name);
  TAILRACE_ASSERT(entry != nullptr);
  const std::string value = json_value(*entry, view);
  return value == "null" ? "-" : value;
}

std::string checkpoint_line(const CheckpointRow& row) {
  std::string line = row.savepoint ? "  savepoint  " : "  checkpoint ";
  line += right(std::to_string(row.id), 4) + "  at " + right(short_seconds(row.triggered), 11);
  line += "  " + std::string(to_string(row.status));
  if (row.duration.has_value()) line += " after " + short_ms(row.duration->ns);
  line += ", " + std::to_string(row.acknowledged) + " of " + std::to_string(row.subtasks) +
          " acknowledged, " + std::to_string(row.state_bytes) + " bytes, alignment " +
          short_ms(row.alignment_max.ns) + ", start delay " + short_ms(row.start_delay_max.ns);
  if (!row.failure.empty()) line += ": " + row.failure;
  return line + '\n';
}

std::string until_running(Time from, const std::optional<Time>& running) {
  if (!running.has_value()) return "not running again";
  return "running again after " + short_ms((*running - from).ns);
}

std::string restart_line(const RestartRow& row) {
  const std::string from = row.overtaken ? "overtaken by the next failure"
                           : row.restored_checkpoint < 0
                               ? "from the start"
                               : "from checkpoint " + std::to_string(row.restored_checkpoint);
  return "  restart          at " + right(short_seconds(row.failed), 11) + "  " + from + ", " +
         until_running(row.failed, row.running) + ", " + std::to_string(row.records_replayed) +
         " records replayed: " + row.cause + '\n';
}

std::string rescale_line(const RescaleRow& row) {
  std::string line = "  rescale          at " + right(short_seconds(row.requested), 11) + "  " +
                     row.what + ", " + until_running(row.requested, row.running) + ", " +
                     std::to_string(row.records_in_flight) + " records in flight";
  if (row.savepoint >= 0) line += ", savepoint " + std::to_string(row.savepoint);
  return line + '\n';
}

std::string percentiles(const ResultView& view, std::string_view prefix,
                        std::initializer_list<std::string_view> names) {
  std::string line;
  for (const std::string_view name : names) {
    if (!line.empty()) line += ", ";
    line += std::string(name) + ' ' + value_of(view, std::string(prefix) + std::string(name));
  }
  return line;
}

}  // namespace

std::string to_text(const RunResult& result) {
  const ResultView view(result);
  std::string text =
      result.name + ", seed " + std::to_string(result.seed) + ", Flink " + result.version + '\n';
  if (result.incomplete()) text += "INCOMPLETE: the run was interrupted\n";
  text += "finished     " + std::string(to_string(result.finished)) + " at " +
          seconds(result.virtual_time.ns) + " s virtual time, " + value_of(view, "events") +
          " events, " + seconds(result.wall.ns) + " s wall time\n";
  text += "records      " + value_of(view, "records.in") + " in, " + value_of(view, "records.out") +
          " out\n";
  text += "checkpoints  " + value_of(view, "checkpoints.triggered") + " triggered, " +
          value_of(view, "checkpoints.completed") + " completed, " +
          value_of(view, "checkpoints.failed") + " failed" +
          (result.checkpoints_not_started == 0
               ? std::string()
               : ", " + value_of(view, "checkpoints.not_started") + " not started") +
          "; duration in ms: " +
          percentiles(view, "checkpoints.duration.", {"min", "p50", "p99", "max"}) + '\n';
  for (const CheckpointRow& row : result.checkpoints) text += checkpoint_line(row);
  text += "restarts     " + value_of(view, "restarts") + '\n';
  for (const RestartRow& row : result.restarts) text += restart_line(row);
  text += "rescales     " + value_of(view, "rescales") + '\n';
  for (const RescaleRow& row : result.rescales) text += rescale_line(row);
  text += "latency      " + value_of(view, "latency.count") + " samples; in ms: " +
          percentiles(view, "latency.", {"p50", "p90", "p99", "p999", "max"}) + '\n';
  text += "exactly once " + value_of(view, "exactly_once.lost") + " lost, " +
          value_of(view, "exactly_once.duplicated") + " duplicated\n";
  for (const ExpectationResult& row : result.expectations) {
    text += (row.held ? "held         " : "NOT HELD     ") + row.text;
    if (row.value != "null") text += "  (" + row.value + ")";
    text += '\n';
  }
  if (result.incomplete()) text += "INCOMPLETE: the run was interrupted\n";
  return text + "trace " + hex64(result.trace_hash) + '\n';
}

}  // namespace tailrace::analysis
