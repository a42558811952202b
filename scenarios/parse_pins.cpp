#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/sections.hpp"
#include "scenarios/units.hpp"

namespace tailrace::scenarios {
namespace {

std::vector<Time> parse_times(const yaml::Node& node, const std::string& path,
                              Diagnostics& diagnostics) {
  std::vector<Time> times;
  if (!node.is_sequence()) {
    diagnostics.error(node.position, path + ": needs a list of times, such as [1273.356ms]");
    return times;
  }
  for (const yaml::Node& item : node.items) {
    if (!item.is_scalar()) {
      diagnostics.error(item.position, path + ": needs times, not " + yaml::name_of(item));
      continue;
    }
    const Parsed<Duration> time = parse_duration(item.text);
    if (!time.ok()) {
      diagnostics.error(item.position, path + ": " + in_quotes(item.text) + ' ' + time.error());
      continue;
    }
    times.push_back(Time{time.value().ns});
  }
  return times;
}

// "count[1]".
std::optional<SubtaskTarget> parse_subtask(const yaml::Entry& entry, const Job& job,
                                           Diagnostics& diagnostics) {
  const std::string& text = entry.key;
  const std::size_t open = text.find('[');
  if (open != std::string::npos && text.back() == ']') {
    std::vector<std::string_view> ids;
    for (const OperatorSpec& op : job.operators) ids.push_back(op.id);
    const std::string name = text.substr(0, open);
    const auto found = std::find(ids.begin(), ids.end(), name);
    if (found == ids.end()) {
      diagnostics.error(entry.key_position, "pin.task_starts: there is no operator " +
                                                in_quotes(name) + did_you_mean(name, ids));
      return std::nullopt;
    }
    const Parsed<std::int64_t> number =
        parse_integer(text.substr(open + 1, text.size() - open - 2));
    if (number.ok() && number.value() >= 0 && number.value() < 32'768) {
      return SubtaskTarget{static_cast<std::int32_t>(found - ids.begin()),
                           static_cast<std::int32_t>(number.value())};
    }
  }
  diagnostics.error(entry.key_position, "pin.task_starts: " + in_quotes(text) +
                                            " names no subtask; write it as \"operator[0]\"");
  return std::nullopt;
}

}  // namespace

Pins parse_pins(MapReader reader, const Job& job, Diagnostics& diagnostics) {
  Pins pins;
  if (const yaml::Node* triggers = reader.find("first_triggers")) {
    pins.first_triggers = parse_times(*triggers, reader.path("first_triggers"), diagnostics);
  }
  const yaml::Node* const starts = reader.find("task_starts");
  if (starts == nullptr) return pins;
  if (!starts->is_mapping()) {
    reader.error("task_starts", "needs a mapping of subtasks to times, such as {\"map[0]\": [1s]}");
    return pins;
  }
  for (const yaml::Entry& entry : starts->entries) {
    const std::optional<SubtaskTarget> subtask = parse_subtask(entry, job, diagnostics);
    std::vector<Time> times =
        parse_times(entry.value, reader.path("task_starts") + '.' + entry.key, diagnostics);
    if (!subtask) continue;
    const auto same = [&subtask](const Pins::TaskStarts& other) {
      return other.subtask.op == subtask->op && other.subtask.subtask == subtask->subtask;
    };
    if (std::any_of(pins.task_starts.begin(), pins.task_starts.end(), same)) {
      diagnostics.error(entry.key_position, "pin.task_starts: " + in_quotes(entry.key) +
                                                " is a subtask that is there already");
    }
    pins.task_starts.push_back({*subtask, std::move(times), entry.key_position});
  }
  return pins;
}

}  // namespace tailrace::scenarios
