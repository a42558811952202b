#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/sections.hpp"
#include "scenarios/units.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::size_t kMostEntries = 10'000;

struct ActionSpec {
  std::string_view key;
  ActionKind kind;
  bool takes_for;
  bool takes_back_after;
};
constexpr std::array kActions = std::to_array<ActionSpec>(
    {{"kill", ActionKind::kKill, false, true},
     {"vanish", ActionKind::kVanish, false, true},
     {"slow", ActionKind::kSlow, true, false},
     {"pause", ActionKind::kPause, true, false},
     {"fail", ActionKind::kFail, false, false},
     {"rescale", ActionKind::kRescale, false, false},
     {"storage", ActionKind::kStorage, true, false},
     {"savepoint", ActionKind::kSavepoint, false, false},
     {"checkpoint", ActionKind::kCheckpoint, false, false},
     {"stop_with_savepoint", ActionKind::kStopWithSavepoint, false, false},
     {"cancel_with_savepoint", ActionKind::kCancelWithSavepoint, false, false}});

// How a message calls an entry: its action and target as one line of YAML.
std::string flow_text(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::NodeKind::kNull:
      return {};
    case yaml::NodeKind::kScalar:
      return node.text.size() > 100 ? node.text.substr(0, 100) : node.text;
    case yaml::NodeKind::kSequence:
      return "[...]";
    case yaml::NodeKind::kMapping:
      break;
  }
  std::string text = "{";
  for (const yaml::Entry& entry : node.entries) {
    if (text.size() > 1) text += ", ";
    text += entry.key + ": " + flow_text(entry.value);
  }
  return text + '}';
}

class TimelineParser {
 public:
  TimelineParser(const Job& job, const Cluster& cluster, Diagnostics& diagnostics)
      : job_(job), cluster_(cluster), diagnostics_(diagnostics) {
    for (const OperatorSpec& op : job.operators) {
      ids_.push_back(op.id);
      widest_.push_back(op.parallelism);
    }
  }

  // Subtasks are checked against the largest parallelism that an operator ever has, because what
  // happens first is not known here.
  void note_rescales(const TimelineEntry& entry) {
    for (const TimelineEntry::Rescale& change : entry.rescales) {
      std::int32_t& widest = widest_[static_cast<std::size_t>(change.op)];
      widest = std::max(widest, change.parallelism);
    }
  }

  void parse_rescales(MapReader& reader, TimelineEntry& entry) {
    const yaml::Node* node = reader.find("rescale");
    if (node == nullptr) return;
    if (!node->is_mapping() || node->entries.empty()) {
      reader.error("rescale", "needs operators and their parallelism, such as {count: 3}");
      return;
    }
    for (const yaml::Entry& change : node->entries) parse_rescale(reader, change, entry);
    const std::size_t written = entry.rescales.size();
    entry.rescales = with_followers(job_, std::move(entry.rescales));
    check_rescaled(reader, entry, written);
  }

  TimelineEntry parse(MapReader& reader, TimelineEntry entry) {
    entry.anchor = parse_anchor(reader);
    entry.optional = reader.boolean("optional");
    entry.back_after = reader.duration("back_after");
    entry.lasts = reader.duration("for");

    const ActionSpec* action = nullptr;
    for (const ActionSpec& candidate : kActions) {
      if (!reader.has(candidate.key)) continue;
      if (action != nullptr) {
        reader.error(candidate.key, "the entry already has " + in_quotes(action->key) +
                                        "; one entry is one action");
        continue;
      }
      action = &candidate;
    }
    if (action == nullptr) {
      reader.error_here(
          "does nothing; give it one of kill, vanish, slow, pause, fail, rescale, storage, "
          "savepoint, checkpoint, stop_with_savepoint or cancel_with_savepoint");
      return entry;
    }
    entry.action = action->kind;
    entry.text = std::string(action->key) + ' ' + flow_text(*reader.find(action->key));
    if (entry.text.back() == ' ') entry.text.pop_back();
    if (!action->takes_for && reader.has("for")) {
      reader.error("for", in_quotes(action->key) + " has no duration");
    }
    if (!action->takes_back_after && reader.has("back_after")) {
      reader.error("back_after", "only kill and vanish bring a process back");
    }
    if (entry.action == ActionKind::kPause && !reader.has("for")) {
      reader.error_here("pauses without \"for\", and would never go on");
    }
    parse_action(reader, entry);
    return entry;
  }

 private:
  Anchor parse_anchor(MapReader& reader) {
    Anchor anchor;
    const int anchors =
        (reader.has("at") ? 1 : 0) + (reader.has("every") ? 1 : 0) + (reader.has("when") ? 1 : 0);
    if (anchors != 1) {
      reader.error_here(anchors == 0 ? "has no time; give it at, every or when"
                                     : "has several times; give it one of at, every and when");
    }
    if (!reader.has("every")) {
      for (const std::string_view key : {"from", "until"}) {
        if (reader.has(key)) reader.error(key, "belongs to \"every\", which is not here");
      }
    }
    if (reader.has("at")) {
      anchor.at = Time{reader.time_span("at").ns};
    } else if (reader.has("every")) {
      anchor.kind = Anchor::Kind::kEvery;
      anchor.every = reader.duration("every").value_or(Duration::seconds(1));
      anchor.from = Time{reader.duration("from").value_or(anchor.every).ns};
      if (const std::optional<Duration> until = reader.duration("until")) {
        anchor.until = Time{until->ns};
        if (anchor.until <= anchor.from) reader.error("until", "must be later than \"from\"");
      }
    } else if (reader.has("when")) {
      parse_when(reader.section("when", kWhenSection), anchor);
    }
    return anchor;
  }

  static void parse_when(MapReader when, Anchor& anchor) {
    anchor.kind = Anchor::Kind::kCheckpoint;
    anchor.checkpoint = when.number("checkpoint").value_or(1);
    const bool triggered = when.flag("triggered");
    const bool acknowledged = when.has("acknowledged");
    const bool completed = when.flag("completed");
    const bool storing = when.flag("storing");
    const bool stored = when.flag("stored");
    if ((triggered ? 1 : 0) + (acknowledged ? 1 : 0) + (completed ? 1 : 0) + (storing ? 1 : 0) +
            (stored ? 1 : 0) !=
        1) {
      when.error_here("needs one of triggered, acknowledged: N, completed, storing and stored");
    }
    if (acknowledged) {
      anchor.moment = CheckpointMoment::kAcknowledged;
      anchor.acknowledged = static_cast<std::int32_t>(
          std::min<std::int64_t>(when.number("acknowledged").value_or(1), 1 << 30));
    } else if (completed) {
      anchor.moment = CheckpointMoment::kCompleted;
    } else if (storing) {
      anchor.moment = CheckpointMoment::kStoring;
    } else if (stored) {
      anchor.moment = CheckpointMoment::kStored;
    }
  }

  void parse_action(MapReader& reader, TimelineEntry& entry) {
    switch (entry.action) {
      case ActionKind::kKill:
        parse_process(reader.section("kill", kTaskManagerTargetSection), entry);
        return;
      case ActionKind::kVanish:
        parse_process(reader.section("vanish", kTaskManagerTargetSection), entry);
        return;
      case ActionKind::kSlow: {
        MapReader slow = reader.section("slow", kSlowSection);
        entry.subtask = slow.has("operator") && !slow.has("subtask") ? parse_all_subtasks(slow)
                                                                     : parse_subtask(slow);
        entry.factor_milli = slow.number("factor").value_or(1000);
        return;
      }
      case ActionKind::kPause: {
        MapReader pause = reader.section("pause", kPauseSection);
        if (pause.has("subtask") || pause.has("operator")) {
          entry.subtask = parse_subtask(pause);
        }
        entry.task_manager = parse_task_manager(pause, !entry.subtask.has_value());
        return;
      }
      case ActionKind::kFail:
        entry.subtask = parse_subtask(reader.section("fail", kFailSection));
        return;
      case ActionKind::kStorage:
        entry.storage = parse_storage(reader.section("storage", kStorageSection));
        return;
      case ActionKind::kSavepoint:
        static_cast<void>(reader.flag("savepoint"));
        return;
      case ActionKind::kCheckpoint:
        static_cast<void>(reader.flag("checkpoint"));
        return;
      case ActionKind::kStopWithSavepoint:
        entry.drain = reader.section("stop_with_savepoint", kStopSection).boolean("drain");
        return;
      case ActionKind::kCancelWithSavepoint:
        static_cast<void>(reader.flag("cancel_with_savepoint"));
        return;
      case ActionKind::kRescale:  // read before all others
        return;
    }
  }

  void parse_process(MapReader reader, TimelineEntry& entry) {
    entry.job_manager = reader.flag("job_manager");
    entry.task_manager = parse_task_manager(reader, !entry.job_manager);
    if (entry.job_manager && entry.task_manager.has_value()) {
      reader.error("job_manager", "the target is a task manager already");
    }
  }

  std::optional<TaskManagerTarget> parse_task_manager(MapReader reader, bool required) {
    const bool by_number = reader.has("task_manager");
    const bool by_role = reader.has("task_manager_of");
    if (by_number && by_role) {
      reader.error("task_manager_of", "the target is named by \"task_manager\" already");
    } else if (!by_number && !by_role) {
      if (required) {
        reader.error_here(
            "needs task_manager: N, task_manager_of: \"operator[subtask]\" or job_manager");
      }
      return std::nullopt;
    }
    TaskManagerTarget target;
    if (by_role) {
      target.running = parse_role(reader, "task_manager_of");
      return target;
    }
    target.index = static_cast<std::int32_t>(reader.number("task_manager").value_or(0));
    if (target.index >= cluster_.task_managers.count) {
      reader.error("task_manager", "there is no task manager " + std::to_string(target.index) +
                                       "; they count from 0 to " +
                                       std::to_string(cluster_.task_managers.count - 1));
    }
    return target;
  }

  // `operator: count, subtask: 1` or `subtask: "count[1]"`.
  std::optional<SubtaskTarget> parse_subtask(MapReader reader) {
    if (!reader.has("operator")) return parse_role(reader, "subtask");
    const std::optional<std::string> name = reader.text("operator");
    const std::optional<std::string> number = reader.text("subtask");
    if (!name.has_value() || !number.has_value()) return std::nullopt;
    return target(reader, "operator", *name, "subtask", *number);
  }

  // `operator: count` alone.
  std::optional<SubtaskTarget> parse_all_subtasks(MapReader& reader) {
    const std::optional<std::string> name = reader.text("operator");
    if (!name.has_value()) return std::nullopt;
    const std::int32_t op = find(*name);
    if (op < 0) {
      reader.error("operator",
                   "there is no operator " + in_quotes(*name) + did_you_mean(*name, ids_));
      return std::nullopt;
    }
    return SubtaskTarget{op, -1};
  }

  std::optional<SubtaskTarget> parse_role(MapReader& reader, std::string_view key) {
    const std::optional<std::string> text = reader.text(key);
    if (!text.has_value()) {
      if (!reader.has(key)) reader.error_here("names no subtask");
      return std::nullopt;
    }
    const std::size_t open = text->find('[');
    if (open == std::string::npos || open == 0 || text->back() != ']') {
      reader.error(key, in_quotes(*text) + " names no subtask; write it as \"operator[0]\"");
      return std::nullopt;
    }
    return target(reader, key, text->substr(0, open), key,
                  text->substr(open + 1, text->size() - open - 2));
  }

  std::optional<SubtaskTarget> target(MapReader& reader, std::string_view name_key,
                                      const std::string& name, std::string_view number_key,
                                      const std::string& number) {
    const std::int32_t op = find(name);
    if (op < 0) {
      reader.error(name_key, "there is no operator " + in_quotes(name) + did_you_mean(name, ids_));
      return std::nullopt;
    }
    const Parsed<std::int64_t> subtask = parse_integer(number);
    const std::int32_t widest = widest_[static_cast<std::size_t>(op)];
    if (!subtask.ok() || subtask.value() < 0 || subtask.value() >= widest) {
      reader.error(number_key, name + " has no subtask " + in_quotes(number) +
                                   "; they count from 0 to " + std::to_string(widest - 1));
      return std::nullopt;
    }
    return SubtaskTarget{op, static_cast<std::int32_t>(subtask.value())};
  }

  static StorageTrouble parse_storage(MapReader reader) {
    StorageTrouble trouble;
    trouble.error_rate_ppm = reader.number("error_rate").value_or(0);
    trouble.slow_milli = reader.number("slow").value_or(1000);
    trouble.extra_latency = reader.time_span("latency");
    trouble.full = reader.boolean("full");
    if (!reader.has("error_rate") && !reader.has("slow") && !reader.has("latency") &&
        !reader.has("full")) {
      reader.error_here("needs one of error_rate, slow, latency and full");
    }
    return trouble;
  }

  void parse_rescale(MapReader& reader, const yaml::Entry& change, TimelineEntry& entry) {
    if (change.key == "by") {
      diagnostics_.error(change.key_position,
                         reader.path("rescale") + ".by: is not modelled yet in this version; " +
                             "without it the job stops with a savepoint and is resubmitted");
      return;
    }
    const std::int32_t op = find(change.key);
    if (op < 0) {
      diagnostics_.error(change.key_position, reader.path("rescale") + ": there is no operator " +
                                                  in_quotes(change.key) +
                                                  did_you_mean(change.key, ids_));
      return;
    }
    const Parsed<std::int64_t> parallelism =
        parse_integer(change.value.is_scalar() ? change.value.text : "");
    if (!parallelism.ok() || parallelism.value() < 1 || parallelism.value() > 32768) {
      diagnostics_.error(change.value.position, reader.path("rescale") + '.' + change.key + ": " +
                                                    yaml::name_of(change.value) +
                                                    " is no parallelism; from 1 to 32768");
      return;
    }
    entry.rescales.push_back({op, static_cast<std::int32_t>(parallelism.value())});
  }

  // The first `written` changes are in the file, the others follow them.
  void check_rescaled(MapReader& reader, const TimelineEntry& entry, std::size_t written) {
    for (std::size_t i = 0; i < entry.rescales.size(); ++i) {
      const TimelineEntry::Rescale& change = entry.rescales[i];
      const OperatorSpec& op = job_.operators[static_cast<std::size_t>(change.op)];
      const std::int32_t most = op.max_parallelism > 0 ? op.max_parallelism : job_.max_parallelism;
      // One that follows into the job's own limit is no second mistake.
      if (most > 0 && change.parallelism > most && (i < written || op.max_parallelism > 0)) {
        reader.error("rescale", op.id + " would have a parallelism of " +
                                    std::to_string(change.parallelism) +
                                    ", above the max parallelism of " + std::to_string(most));
      }
      for (const std::int32_t input : op.inputs) {
        check_forward(reader, entry, change.op, input);
      }
    }
  }

  void check_forward(MapReader& reader, const TimelineEntry& entry, std::int32_t op,
                     std::int32_t input) {
    const OperatorSpec& to = job_.operators[static_cast<std::size_t>(op)];
    const OperatorSpec& from = job_.operators[static_cast<std::size_t>(input)];
    if (to.partitioner != engine::PartitionerKind::kForward) return;
    const auto after = [&entry, this](std::int32_t index) {
      for (const TimelineEntry::Rescale& change : entry.rescales) {
        if (change.op == index) return change.parallelism;
      }
      return job_.operators[static_cast<std::size_t>(index)].parallelism;
    };
    if (after(input) != after(op)) {
      reader.error("rescale", from.id + " and " + to.id +
                                  " are forward-connected and would have different parallelisms, " +
                                  std::to_string(after(input)) + " and " +
                                  std::to_string(after(op)));
    }
  }

  std::int32_t find(std::string_view id) const {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    return found == ids_.end() ? -1 : static_cast<std::int32_t>(found - ids_.begin());
  }

  const Job& job_;
  const Cluster& cluster_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> ids_;
  std::vector<std::int32_t> widest_;
};

}  // namespace

const char* to_string(ActionKind action) {
  for (const ActionSpec& spec : kActions) {
    if (spec.kind == action) return spec.key.data();
  }
  return "";
}

std::vector<TimelineEntry> parse_timeline(const yaml::Node* node, const Job& job,
                                          const Cluster& cluster, Diagnostics& diagnostics) {
  std::vector<TimelineEntry> timeline;
  if (node == nullptr || node->kind == yaml::NodeKind::kNull) return timeline;
  if (!node->is_sequence() || node->items.size() > kMostEntries) {
    diagnostics.error(node->position, "timeline: must be a list of at most 10000 entries");
    return timeline;
  }
  TimelineParser parser(job, cluster, diagnostics);
  std::vector<MapReader> readers;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    readers.emplace_back(&node->items[i], kTimelineSection, "timeline." + std::to_string(i),
                         node->position, diagnostics);
    TimelineEntry entry;
    entry.position = node->items[i].position;
    parser.parse_rescales(readers[i], entry);
    parser.note_rescales(entry);
    timeline.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    timeline[i] = parser.parse(readers[i], std::move(timeline[i]));
  }
  return timeline;
}

}  // namespace tailrace::scenarios
