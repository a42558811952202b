#include "scenarios/scenario_file.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/flink_parser.hpp"
#include "scenarios/profiles.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/yaml/load.hpp"

namespace tailrace::scenarios {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string stem_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

void parse_end(MapReader& reader, Scenario& scenario) {
  const std::optional<Duration> duration = reader.duration("duration");
  const std::optional<std::int32_t> until = reader.choice("until");
  if (duration.has_value()) scenario.duration = *duration;
  if (until.has_value()) {
    scenario.ends_at = *until == 0 ? EndOfRun::kSourcesFinished : EndOfRun::kIdle;
  } else if (!reader.has("duration") && !reader.has("until")) {
    reader.error_here("has no end; give it a duration, or until: sources_finished");
  }
  scenario.stop_with_savepoint = reader.choice("end").value_or(0) == 0;
}

// With sources that never end, `until: sources_finished` would wait for ever.
void check_end(MapReader& reader, const Scenario& scenario) {
  if (scenario.ends_at == EndOfRun::kDuration || reader.has("duration")) return;
  for (const OperatorSpec& op : scenario.job.operators) {
    if (op.shards > 0) {
      reader.error("until", "the shards of the source " + op.id +
                                " have no last record; add a "
                                "duration");
    } else if (scenario.ends_at == EndOfRun::kSourcesFinished && op.kind == OperatorKind::kSource &&
               !op.finite) {
      reader.error("until", "the source " + op.id +
                                " stays open after its last record; add then: finish there, or a "
                                "duration here");
    }
  }
}

// A subtask without a shard would take itself for a fresh one after a restore, as Flink 1.10 has it,
// and read what others read.
void check_shards_of_rescales(const Scenario& scenario, Diagnostics& diagnostics) {
  for (const TimelineEntry& entry : scenario.timeline) {
    for (const TimelineEntry::Rescale& change : entry.rescales) {
      const OperatorSpec& op = scenario.job.operators[static_cast<std::size_t>(change.op)];
      if (op.shards == 0 || change.parallelism <= op.shards) continue;
      diagnostics.error(entry.position, "timeline: the source " + op.id + " has " +
                                            std::to_string(op.shards) + " shards, not enough for " +
                                            std::to_string(change.parallelism) + " subtasks");
    }
  }
}

// A pin of a subtask that never exists would do nothing.
void check_pinned_subtasks(const Scenario& scenario, Diagnostics& diagnostics) {
  for (const Pins::TaskStarts& pin : scenario.pins.task_starts) {
    const OperatorSpec& op = scenario.job.operators[static_cast<std::size_t>(pin.subtask.op)];
    std::int32_t widest = op.parallelism;
    for (const TimelineEntry& entry : scenario.timeline) {
      for (const TimelineEntry::Rescale& change : entry.rescales) {
        if (change.op == pin.subtask.op) widest = std::max(widest, change.parallelism);
      }
    }
    if (pin.subtask.subtask < widest) continue;
    diagnostics.error(pin.position, "pin.task_starts: " + op.id + " has no subtask " +
                                        std::to_string(pin.subtask.subtask) +
                                        "; they count from 0 to " + std::to_string(widest - 1));
  }
}

// Without a highly available store nothing is ever on its way to it.
void check_store_moments(const Scenario& scenario, Diagnostics& diagnostics) {
  if (scenario.flink.high_availability != HighAvailabilityMode::NONE) return;
  for (const TimelineEntry& entry : scenario.timeline) {
    const Anchor& anchor = entry.anchor;
    if (anchor.kind == Anchor::Kind::kCheckpoint && (anchor.moment == CheckpointMoment::kStoring ||
                                                     anchor.moment == CheckpointMoment::kStored)) {
      diagnostics.error(entry.position,
                        "timeline: \"storing\" and \"stored\" need a store that outlives the job "
                        "manager; flink.high-availability is NONE");
    }
  }
}

Scenario parse_scenario(const yaml::Node& root, const std::string& path, Diagnostics& diagnostics) {
  Scenario scenario;
  scenario.sources = diagnostics.sources();
  MapReader reader(&root, kScenarioSection, "", {0, 1, 1}, diagnostics);
  static_cast<void>(reader.number("tailrace"));
  scenario.name = reader.text("name").value_or(stem_of(path));
  scenario.about = trimmed(reader.text("about").value_or(""));
  scenario.seed = static_cast<std::uint64_t>(reader.number("seed").value_or(1));
  if (reader.choice("fidelity").value_or(0) != 0) {
    reader.error("fidelity", "flow is not modelled yet in this version; use records");
  }
  parse_end(reader, scenario);

  FlinkSection flink = parse_flink(reader.find("flink"), reader.position(), diagnostics);
  scenario.flink = flink.options;
  scenario.notes = std::move(flink.notes);
  scenario.cluster = parse_cluster(reader.section("cluster", kClusterSection), scenario.flink);
  scenario.costs = parse_costs(reader.section("costs", kCostsSection));
  if (reader.has("job")) {
    scenario.job = parse_job(reader.section("job", kJobSection), scenario.flink, directory_of(path),
                             diagnostics);
  }
  scenario.profile = reader.text("profile").value_or("");
  if (reader.has("pin")) {
    scenario.pins = parse_pins(reader.section("pin", kPinSection), scenario.job, diagnostics);
  }
  check_end(reader, scenario);
  scenario.timeline =
      parse_timeline(reader.find("timeline"), scenario.job, scenario.cluster, diagnostics);
  check_shards_of_rescales(scenario, diagnostics);
  check_pinned_subtasks(scenario, diagnostics);
  check_store_moments(scenario, diagnostics);
  scenario.expectations = parse_expectations(reader.find("expect"), diagnostics);
  return scenario;
}

}  // namespace

std::int32_t Scenario::find_operator(const std::string& id) const {
  for (std::size_t i = 0; i < job.operators.size(); ++i) {
    if (job.operators[i].id == id) return static_cast<std::int32_t>(i);
  }
  return -1;
}

std::string describe(const Scenario& scenario, Position position) {
  return describe(scenario.sources, position);
}

Scenario load_scenario(const std::string& path, const std::vector<Setting>& settings) {
  std::vector<std::string> sources{path};
  for (const Setting& setting : settings) sources.push_back(setting.shown);
  Diagnostics diagnostics(std::move(sources));
  const std::string text = yaml::read_text_file(path, yaml::kMaxFileBytes, {}, diagnostics);
  diagnostics.throw_if_any();
  yaml::Node root = yaml::parse(text, 0, diagnostics);
  // A tree that is cut short would only raise false alarms; duplicate keys and tags leave it whole.
  if (root.kind == yaml::NodeKind::kNull) {
    if (diagnostics.empty()) diagnostics.error({}, "holds nothing");
    diagnostics.throw_if_any();
  }
  if (!root.is_mapping()) {
    diagnostics.error(root.position,
                      "a scenario must be a mapping of keys to values, not " + yaml::name_of(root));
    diagnostics.throw_if_any();
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    apply_setting(settings[i], static_cast<std::int32_t>(i + 1), root, diagnostics);
  }
  apply_profile(root, diagnostics);
  diagnostics.throw_if_any();
  Scenario scenario = parse_scenario(root, path, diagnostics);
  diagnostics.throw_if_any();
  return scenario;
}

}  // namespace tailrace::scenarios
