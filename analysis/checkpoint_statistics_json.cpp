#include "analysis/checkpoint_statistics_json.hpp"

#include <nlohmann/json.hpp>

#include "analysis/time_text.hpp"

namespace tailrace::analysis {
namespace {

constexpr const char* kQuantileNames[] = {"p50", "p90", "p95", "p99", "p999"};
// time_text.hpp prints nanoseconds as milliseconds; a thousandth as a decimal number is the same by a
// factor of a thousand.
constexpr std::int64_t kNsPerThousandth = 1000;

// An object, written member by member in the order of the calls.
class Object {
 public:
  void add(std::string_view name, std::int64_t value) { add_raw(name, std::to_string(value)); }
  void add(std::string_view name, bool value) { add_raw(name, value ? "true" : "false"); }
  void add(std::string_view name, const std::string& text) { add_raw(name, json_quote(text)); }
  void add(std::string_view name, const char*) = delete;
  void add(std::string_view name, const Object& object) { add_raw(name, object.text()); }
  void add(std::string_view name, const std::optional<std::int64_t>& value) {
    add_raw(name, value.has_value() ? std::to_string(*value) : "null");
  }
  void add_raw(std::string_view name, const std::string& json) {
    if (!text_.empty()) text_ += ", ";
    text_ += json_quote(name) + ": " + json;
  }
  [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

Object summary_of(const SummaryStatistics& summary, const StatisticsSchema& schema) {
  Object object;
  object.add("min", summary.min);
  object.add("max", summary.max);
  object.add("avg", summary.avg);
  if (!schema.quantiles) return object;
  for (std::size_t i = 0; i < std::size(kQuantileNames); ++i) {
    object.add_raw(kQuantileNames[i], summary.quantiles.has_value()
                                          ? milliseconds((*summary.quantiles)[i] * kNsPerThousandth)
                                          : "null");
  }
  return object;
}

Object subtask_of(const SubtaskStatistics& subtask, std::int64_t index,
                  const StatisticsSchema& schema) {
  Object object;
  object.add("index", index);
  object.add("status", std::string(subtask.reported ? "completed" : "pending_or_failed"));
  if (!subtask.reported) return object;
  object.add("ack_timestamp", subtask.ack_timestamp);
  object.add("end_to_end_duration", subtask.end_to_end_duration);
  if (schema.checkpointed_size) object.add("checkpointed_size", subtask.checkpointed_size);
  object.add("state_size", subtask.state_size);
  Object checkpoint;
  checkpoint.add("sync", subtask.sync);
  checkpoint.add("async", subtask.async);
  object.add("checkpoint", checkpoint);
  Object alignment;
  alignment.add("buffered", subtask.alignment_buffered);
  if (schema.data_of_alignment) {
    alignment.add("processed", subtask.processed);
    alignment.add("persisted", subtask.persisted);
  }
  alignment.add("duration", subtask.alignment_duration);
  object.add("alignment", alignment);
  if (schema.start_delay) object.add("start_delay", subtask.start_delay);
  if (schema.checkpoint_type) object.add("unaligned_checkpoint", subtask.unaligned);
  if (schema.aborted) object.add("aborted", subtask.aborted);
  return object;
}

Object summary_of_task(const TaskStatistics& task, const StatisticsSchema& schema) {
  // Flink keeps no values of single subtasks here, so that its quantiles are no numbers.
  StatisticsSchema plain = schema;
  plain.quantiles = false;
  Object object;
  if (schema.checkpointed_size) {
    object.add("checkpointed_size", summary_of(task.checkpointed_size, plain));
  }
  object.add("state_size", summary_of(task.state_size, plain));
  object.add("end_to_end_duration", summary_of(task.duration, plain));
  Object checkpoint;
  checkpoint.add("sync", summary_of(task.sync, plain));
  checkpoint.add("async", summary_of(task.async, plain));
  object.add("checkpoint_duration", checkpoint);
  Object alignment;
  alignment.add("buffered", summary_of(task.alignment_buffered, plain));
  if (schema.data_of_alignment) {
    alignment.add("processed", summary_of(task.processed, plain));
    alignment.add("persisted", summary_of(task.persisted, plain));
  }
  alignment.add("duration", summary_of(task.alignment_duration, plain));
  object.add("alignment", alignment);
  if (schema.start_delay) object.add("start_delay", summary_of(task.start_delay, plain));
  return object;
}

Object task_of(const TaskStatistics& task, const CheckpointStatistics& checkpoint,
               const StatisticsSchema& schema) {
  Object object;
  object.add("id", checkpoint.id);
  object.add("status", checkpoint.status);
  object.add("latest_ack_timestamp", task.latest_ack_timestamp);
  if (schema.checkpointed_size) object.add("checkpointed_size", task.checkpointed_size_sum);
  object.add("state_size", task.state_size_sum);
  object.add("end_to_end_duration", task.end_to_end_duration);
  object.add("alignment_buffered", task.alignment_buffered_sum);
  if (schema.data_of_alignment) {
    object.add("processed_data", task.processed_sum);
    object.add("persisted_data", task.persisted_sum);
  }
  object.add("num_subtasks", std::int64_t{task.num_subtasks});
  object.add("num_acknowledged_subtasks", std::int64_t{task.num_acknowledged_subtasks});
  object.add("summary", summary_of_task(task, schema));
  std::string subtasks = "[";
  for (std::size_t i = 0; i < task.subtasks.size(); ++i) {
    if (i > 0) subtasks += ", ";
    subtasks += subtask_of(task.subtasks[i], static_cast<std::int64_t>(i), schema).text();
  }
  object.add_raw("subtasks", subtasks + "]");
  return object;
}

}  // namespace

std::string json_quote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string to_json(const CheckpointStatistics& checkpoint, const StatisticsSchema& schema) {
  Object object;
  object.add("id", checkpoint.id);
  object.add("status", checkpoint.status);
  object.add("is_savepoint", checkpoint.is_savepoint);
  if (schema.checkpoint_type) {
    if (checkpoint.is_savepoint) {
      object.add("savepointFormat", checkpoint.savepoint_format);
    } else {
      object.add_raw("savepointFormat", "null");
    }
  }
  object.add("trigger_timestamp", checkpoint.trigger_timestamp);
  object.add("latest_ack_timestamp", checkpoint.latest_ack_timestamp);
  if (schema.checkpointed_size) object.add("checkpointed_size", checkpoint.checkpointed_size);
  object.add("state_size", checkpoint.state_size);
  object.add("end_to_end_duration", checkpoint.end_to_end_duration);
  object.add("alignment_buffered", checkpoint.alignment_buffered);
  if (schema.data_of_alignment) {
    object.add("processed_data", checkpoint.processed_data);
    object.add("persisted_data", checkpoint.persisted_data);
  }
  object.add("num_subtasks", std::int64_t{checkpoint.num_subtasks});
  object.add("num_acknowledged_subtasks", std::int64_t{checkpoint.num_acknowledged_subtasks});
  if (schema.checkpoint_type) object.add("checkpoint_type", checkpoint.checkpoint_type);
  if (checkpoint.external_path.has_value()) {
    object.add("external_path", *checkpoint.external_path);
    object.add("discarded", checkpoint.discarded);
  }
  if (checkpoint.failure_timestamp.has_value()) {
    object.add("failure_timestamp", checkpoint.failure_timestamp);

    object.add("failure_reason", checkpoint.failure_reason);
    object.add("failure_counted", checkpoint.failure_counted);
  }
  Object tasks;
  for (const TaskStatistics& task : checkpoint.tasks) {
    tasks.add(task.id, task_of(task, checkpoint, schema));
  }
  object.add("tasks", tasks);
  return object.text();
}

std::string to_json(const CheckpointingStatistics& statistics, const StatisticsSchema& schema) {
  Object object;
  Object counts;
  counts.add("restored", statistics.restored);
  counts.add("total", statistics.total);
  counts.add("in_progress", statistics.in_progress);
  counts.add("completed", statistics.completed);
  counts.add("failed", statistics.failed);
  object.add("counts", counts);
  Object summary;
  for (const auto& [name, quantity] : statistics.summary) {
    summary.add(name, summary_of(quantity, schema));
  }
  object.add("summary", summary);
  Object latest;
  latest.add("completed", statistics.latest_completed);
  latest.add("savepoint", statistics.latest_savepoint);
  latest.add("failed", statistics.latest_failed);
  if (statistics.latest_restored.has_value()) {
    Object restored;
    restored.add("id", statistics.latest_restored->id);
    restored.add("restore_timestamp", statistics.latest_restored->restore_timestamp);
    restored.add("is_savepoint", statistics.latest_restored->is_savepoint);
    restored.add("external_path", statistics.latest_restored->external_path);
    latest.add("restored", restored);
  } else {
    latest.add_raw("restored", "null");
  }
  object.add("latest", latest);
  std::string history = "[";
  for (const std::int64_t id : statistics.history) {
    history += (history.size() > 1 ? ", " : "") + std::to_string(id);
  }
  object.add_raw("history", history + "]");
  Object metrics;
  for (const auto& [name, value] : statistics.gauges) metrics.add(name, value);
  metrics.add("lastCheckpointExternalPath", statistics.last_checkpoint_external_path);
  object.add("metrics", metrics);
  return object.text();
}

}  // namespace tailrace::analysis
