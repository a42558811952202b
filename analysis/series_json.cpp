#include "analysis/series_json.hpp"

#include <optional>
#include <string_view>

#include "analysis/checkpoint_statistics_json.hpp"
#include "analysis/time_text.hpp"

namespace tailrace::analysis {
namespace {

std::string name(std::string_view key) {
  return json_quote(key) + ": ";
}

// A whole number of nanoseconds has exactly three decimals as microseconds, and one of thousandths as
// fractions: the digits are those of ms from us.
std::string thousandths(std::int64_t value) {
  return milliseconds(value * 1000);
}

std::string instance(const std::string& op, std::int32_t subtask) {
  return name("operator") + json_quote(op) + ", " + name("subtask") + std::to_string(subtask);
}

std::string row(const SubmissionRow& submission) {
  std::string vertices;
  for (const SubmissionRow::Vertex& vertex : submission.vertices) {
    std::string operators;
    for (const std::string& op : vertex.operators) {
      operators += (operators.empty() ? "" : ", ") + json_quote(op);
    }
    vertices += vertices.empty() ? "" : ", ";
    vertices += "{" + name("id") + json_quote(vertex.id) + ", " + name("operators") + "[" +
                operators + "], " + name("parallelism") + std::to_string(vertex.parallelism) + "}";
  }
  return "{" + name("vertices") + "[" + vertices + "], " + name("submitted_s") +
         seconds(submission.submitted.ns) + ", " + name("running_s") +
         null_or_seconds(submission.running) + "}";
}

std::string row(const ThroughputSeries& series) {
  std::string text = "{" + instance(series.op, series.subtask) + ", " + name("total") +
                     std::to_string(series.total) + ", " + name("records") + "[";
  for (std::size_t w = 0; w < series.records.size(); ++w) {
    if (w > 0) text += ", ";
    text += std::to_string(series.records[w]);
  }
  return text + "]}";
}

std::string row(const LatencySeries& series) {
  std::string text = "{" + name("operator") + json_quote(series.op) + ", " + name("windows") + "[";
  for (const LatencyWindow& window : series.windows) {
    text += text.back() == '[' ? "\n        " : ",\n        ";
    text += "{" + name("w") + std::to_string(window.window) + ", " + name("n") +
            std::to_string(window.count) + ", " + name("mean_us") + thousandths(window.mean_ns) +
            ", " + name("p50_us") + thousandths(window.p50_ns) + ", " + name("p99_us") +
            thousandths(window.p99_ns) + ", " + name("max_us") + thousandths(window.max_ns) + "}";
  }
  return text + "]}";
}

std::string row(const MetricSeries& series) {
  std::string text = "{" + instance(series.op, series.subtask) + ", " + name("metric") +
                     json_quote(series.name) + ", " + name("values") + "[";
  for (std::size_t w = 0; w < series.values.size(); ++w) {
    if (w > 0) text += ", ";
    const std::optional<std::int64_t>& value = series.values[w];
    if (!value) {
      text += "null";
    } else {
      text += series.in_thousandths ? thousandths(*value) : std::to_string(*value);
    }
  }
  return text + "]}";
}

std::string row(const AttemptRow& attempt) {
  return "{" + instance(attempt.op, attempt.subtask) + ", " + name("attempt") +
         std::to_string(attempt.attempt) + ", " + name("restored") +
         (attempt.restored ? "true" : "false") + ", " + name("initialised_s") +
         seconds(attempt.initialised.ns) + ", " + name("opened_s") +
         null_or_seconds(attempt.opened) + ", " + name("first_record_s") +
         null_or_seconds(attempt.first_record) + ", " + name("caught_up_s") +
         null_or_seconds(attempt.caught_up) + "}";
}

std::string row(const ReplayRow& replay) {
  return "{" + name("operator") + json_quote(replay.op) + ", " + name("partition") +
         std::to_string(replay.partition) + ", " + name("at_s") + seconds(replay.at.ns) + ", " +
         name("from") + std::to_string(replay.from) + ", " + name("records") +
         std::to_string(replay.records) + "}";
}

std::string row(const FailureRow& failure) {
  return "{" + instance(failure.op, failure.subtask) + ", " + name("at_s") +
         seconds(failure.at.ns) + ", " + name("cause") + json_quote(failure.cause) + "}";
}

template <typename Row>
std::string list(std::string_view key, const std::vector<Row>& rows) {
  std::string text = ",\n    " + name(key) + "[";
  for (const Row& one : rows) {
    text += text.back() == '[' ? "\n      " : ",\n      ";
    text += row(one);
  }
  return text + (rows.empty() ? "]" : "\n    ]");
}

}  // namespace

std::string to_json(const Series& series) {
  return "{\n    " + name("every_ms") + milliseconds(series.every.ns) + ",\n    " +
         name("windows") + std::to_string(series.windows) +
         list("submissions", series.submissions) + list("throughput", series.throughput) +
         list("latency", series.latency) + list("metrics", series.metrics) +
         list("attempts", series.attempts) + list("replays", series.replays) +
         list("failures", series.failures) + "\n  }";
}

}  // namespace tailrace::analysis
