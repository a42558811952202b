#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/sections.hpp"
#include "scenarios/units.hpp"

namespace tailrace::scenarios {
namespace {

using engine::ChainingStrategy;
using engine::PartitionerKind;

constexpr std::size_t kMostOperators = 1000;
constexpr std::size_t kMostRateSteps = 10'000;

// In the order of the schema's choices.
constexpr PartitionerKind kPartitioners[] = {PartitionerKind::kForward, PartitionerKind::kRebalance,
                                             PartitionerKind::kHash,    PartitionerKind::kBroadcast,
                                             PartitionerKind::kRescale, PartitionerKind::kShuffle,
                                             PartitionerKind::kGlobal};
constexpr ChainingStrategy kChaining[] = {ChainingStrategy::ALWAYS, ChainingStrategy::HEAD,
                                          ChainingStrategy::NEVER};

std::optional<OfferedLoad::Step> parse_step(const yaml::Node& node, const std::string& path,
                                            Diagnostics& diagnostics) {
  if (!node.is_sequence() || node.items.size() != 2 || !node.items[0].is_scalar() ||
      !node.items[1].is_scalar()) {
    diagnostics.error(node.position, path + ": each step is [time, rate], such as [60s, 5k/s]");
    return std::nullopt;
  }
  const Parsed<Duration> from = parse_duration(node.items[0].text);
  if (!from.ok()) {
    diagnostics.error(node.items[0].position,
                      path + ": " + in_quotes(node.items[0].text) + ' ' + from.error());
  }
  if (node.items[1].text == "max") {
    if (!from.ok()) return std::nullopt;
    return OfferedLoad::Step{.from = Time{from.value().ns}, .max = true};
  }
  const Parsed<EventRate> rate = parse_rate(node.items[1].text);
  if (!rate.ok()) {
    diagnostics.error(node.items[1].position,
                      path + ": " + in_quotes(node.items[1].text) + ' ' + rate.error());
  }
  if (!from.ok() || !rate.ok()) return std::nullopt;
  return OfferedLoad::Step{
      .from = Time{from.value().ns}, .records = rate.value().count, .per = rate.value().per};
}

void parse_steps(const yaml::Node& node, const std::string& path, bool of_shards, OfferedLoad& load,
                 Diagnostics& diagnostics) {
  load.kind = OfferedLoad::Kind::kSteps;
  if (node.items.empty() || node.items.size() > kMostRateSteps) {
    diagnostics.error(node.position, path + ": a list of 1 to 10000 steps [time, rate]");
    return;
  }
  for (const yaml::Node& item : node.items) {
    const std::optional<OfferedLoad::Step> step = parse_step(item, path, diagnostics);
    if (!step.has_value()) continue;
    if (load.steps.empty() ? step->from.ns != 0 : step->from <= load.steps.back().from) {
      diagnostics.error(item.position,
                        path + (load.steps.empty() ? ": the first step must begin at 0s"
                                                   : ": steps must be in the order of time"));
    }
    // Behind such a step nobody could say when a record is due that comes after those it has let in.
    if (step->max && !of_shards) {
      diagnostics.error(item.position, path + ": only a source of shards has a step that says max");
    } else if (step->max && &item != &node.items.back()) {
      diagnostics.error(item.position, path + ": max can only be the last step");
    }
    load.steps.push_back(*step);
  }
}

OfferedLoad parse_load(MapReader& reader, bool of_shards, Diagnostics& diagnostics) {
  OfferedLoad load;
  const yaml::Node* node = reader.find("rate");
  if (node == nullptr) return load;
  if (node->is_sequence()) {
    parse_steps(*node, reader.path("rate"), of_shards, load, diagnostics);
  } else if (node->is_mapping()) {
    load.kind = OfferedLoad::Kind::kOver;
    MapReader over = reader.section("rate", kRateOverSection);
    load.over = over.duration("over").value_or(Duration::seconds(1));
    if (node->entries.empty()) over.error_here("needs a time, such as {over: 45s}");
    if (of_shards) reader.error("rate", "shards have no end, so there is no time for all records");
  } else if (node->is_scalar() && node->text == "max") {
    load.kind = OfferedLoad::Kind::kMax;
  } else {
    const Parsed<EventRate> rate = parse_rate(node->text);
    if (!rate.ok()) {
      reader.error("rate", in_quotes(node->text) + ' ' + rate.error() +
                               "; or max, {over: 45s}, or a list of [time, rate]");
      return load;
    }
    load.kind = OfferedLoad::Kind::kSteps;
    load.steps.push_back({.from = Time{}, .records = rate.value().count, .per = rate.value().per});
  }
  return load;
}

// Reads what is made up: so many records, all of one size.
void parse_made_up(MapReader& reader, MapReader& from, OperatorSpec& op) {
  if (from.has("file"))
    from.error("records", "a source reads a file or makes up records, not both");
  if (from.has("repeat")) from.error("repeat", "only files are read again");
  op.made_up_records = from.number("records").value_or(1);
  if (!reader.has("size")) {
    reader.error_here("makes up records and has no \"size\" for them, such as size: 100B");
  }
  op.record_bytes = reader.size("size").value_or(find_key(kOperatorSection, "size")->min);
}

std::string parse_file(MapReader& reader, const std::string& directory,
                       std::int32_t max_parallelism, OperatorSpec& op) {
  if (!reader.has("from")) {
    reader.error_here(
        "is a source and has no \"from\", such as from: {file: text.txt} or from: {records: "
        "10000}");
    op.reads_unknown = true;
    return {};
  }
  MapReader from = reader.section("from", kSourceFromSection);
  if (!from.has("file") && !from.has("records") && !from.has("shards")) {
    // Something else than a mapping has been complained of.
    if (reader.find("from")->is_mapping()) {
      from.error_here("needs a file or a number of records or shards");
    }
    op.reads_unknown = true;
    return {};
  }
  if (from.has("shards")) {
    parse_shards(reader, from, max_parallelism, op);
    return {};
  }
  if (reader.has("keys")) reader.error("keys", "only a source of shards has keys to choose");
  if (from.has("records")) {
    parse_made_up(reader, from, op);
    return {};
  }
  if (reader.has("size"))
    reader.error("size", "only records that are made up have a size to choose");
  op.repeats = from.small("repeat");
  std::string path = from.text("file").value_or("");
  if (path.empty()) return path;
  // Those from the command line are relative to where it was typed.
  const bool from_file = from.position("file").source == 0;
  if (path.front() != '/' && from_file && !directory.empty()) path = directory + '/' + path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    from.error("file", in_quotes(path) + " cannot be opened: " + std::strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    from.error("file", in_quotes(path) + " is not a regular file");
  } else if (::access(path.c_str(), R_OK) != 0) {
    from.error("file", in_quotes(path) + " cannot be read: " + std::strerror(errno));
  }
  return path;
}

// A key that only one kind of operator has.
void only_for(MapReader& reader, std::string_view key, bool allowed, std::string_view kinds) {
  if (!allowed && reader.has(key)) {
    reader.error(key, "only " + std::string(kinds) + " have this key");
  }
}

void parse_function(MapReader& reader, OperatorSpec& op, bool kind_is_known) {
  const std::optional<std::int32_t> choice = reader.choice("do");
  if (!kind_is_known) return;
  OperatorFunction wanted = OperatorFunction::kNone;
  std::optional<OperatorFunction> other;
  const char* spelled = "";
  switch (op.kind) {
    case OperatorKind::kSource:
    case OperatorKind::kSink:
      only_for(reader, "do", false, "flat_map, map and keyed operators");
      return;
    case OperatorKind::kFlatMap:
      wanted = OperatorFunction::kTokenize;
      spelled = "tokenize";
      break;
    case OperatorKind::kMap:
      wanted = OperatorFunction::kIdentity;
      spelled = "identity";
      break;
    case OperatorKind::kKeyed:
      wanted = OperatorFunction::kCount;
      other = OperatorFunction::kUpdate;
      spelled = "count or update";
      break;
  }
  op.function = wanted;
  if (!reader.has("do")) {
    reader.error_here("has no \"do\"; of this kind there is do: " + std::string(spelled));
    return;
  }
  if (!choice.has_value()) return;
  const auto chosen = static_cast<OperatorFunction>(*choice + 1);
  if (chosen == wanted || chosen == other) {
    op.function = chosen;
  } else {
    reader.error("do", "an operator of this kind can only do: " + std::string(spelled));
  }
}

OperatorSpec parse_operator(MapReader& reader, const std::string& directory,
                            std::int32_t max_parallelism, Diagnostics& diagnostics) {
  OperatorSpec op;
  op.position = reader.position();
  op.id = reader.text("id").value_or("");
  op.uid = reader.text("uid").value_or(op.id);
  if (reader.has("uid") && op.uid.empty()) reader.error("uid", "must not be empty");
  const std::optional<std::int32_t> kind = reader.choice("kind");
  op.kind = static_cast<OperatorKind>(kind.value_or(static_cast<int>(OperatorKind::kMap)));
  const bool is_source = kind.has_value() && op.kind == OperatorKind::kSource;
  const bool is_sink = kind.has_value() && op.kind == OperatorKind::kSink;
  parse_function(reader, op, kind.has_value());
  if (kind.has_value()) {
    only_for(reader, "from", is_source, "sources");
    only_for(reader, "size", is_source, "sources");
    only_for(reader, "rate", is_source, "sources");
    only_for(reader, "then", is_source, "sources");
    only_for(reader, "keys", is_source, "sources");
    only_for(reader, "state", op.function == OperatorFunction::kUpdate,
             "keyed operators that do: update");
    only_for(reader, "guarantee", is_sink, "sinks");
    only_for(reader, "buffer_timeout", !is_sink, "operators that are no sinks");
    only_for(reader, "input", !is_source, "operators that are no sources");
    only_for(reader, "inputs", !is_source && !is_sink, "flat_map, map and keyed operators");
    only_for(reader, "by", !is_source, "operators that are no sources");
  }
  if (is_source) {
    op.file = parse_file(reader, directory, max_parallelism, op);
    op.load = parse_load(reader, op.shards > 0, diagnostics);
    op.finite = reader.choice("then").value_or(0) == 1;
    if (op.finite && op.shards > 0) reader.error("then", "shards have no last record");
  }
  if (op.function == OperatorFunction::kUpdate) op.state = parse_keyed_state(reader);
  if (is_sink) op.guarantee = static_cast<Guarantee>(reader.choice("guarantee").value_or(0));
  op.chaining = kChaining[static_cast<std::size_t>(reader.choice("chain").value_or(0))];
  op.cost = reader.time_span("cost");
  op.own_cost = reader.has("cost");
  op.service = reader.duration("service");
  if (op.service) {
    if (op.own_cost) reader.error("service", "a record takes either a cost or a service time");
    // The one who serves is the head of its task.
    if (op.chaining == ChainingStrategy::ALWAYS) op.chaining = ChainingStrategy::HEAD;
  }
  op.slot_sharing_group = reader.text("slot_sharing_group");
  // Flink's DataStream.setBufferTimeout takes whole milliseconds.
  if (const std::optional<Duration> timeout = reader.duration("buffer_timeout")) {
    op.buffer_timeout = Duration::millis(timeout->millis_truncated());
  }
  op.own_parallelism = reader.has("parallelism");
  op.parallelism_position = reader.position("parallelism");
  if (op.own_parallelism) op.parallelism = reader.small("parallelism");
  op.max_parallelism = static_cast<std::int32_t>(reader.number("max_parallelism").value_or(-1));
  return op;
}

std::vector<const yaml::Node*> input_names(MapReader& reader) {
  std::vector<const yaml::Node*> names;
  const yaml::Node* node = reader.find("input");
  if (node == nullptr) return names;
  if (node->is_scalar()) {
    names.push_back(node);
  } else if (node->is_sequence()) {
    for (const yaml::Node& item : node->items) names.push_back(&item);
  }
  const bool all_names = std::all_of(names.begin(), names.end(),
                                     [](const yaml::Node* name) { return name->is_scalar(); });
  if (names.empty() || !all_names) {
    reader.error("input", "needs an id or a list of ids, not " + yaml::name_of(*node));
    names.clear();
  }
  return names;
}

void resolve_inputs(MapReader& reader, const Job& job, OperatorSpec& op, Diagnostics& diagnostics) {
  std::vector<std::string_view> ids;
  for (const OperatorSpec& other : job.operators) ids.push_back(other.id);
  for (const yaml::Node* name : input_names(reader)) {
    const auto found = std::find(ids.begin(), ids.end(), name->text);
    if (found == ids.end()) {
      diagnostics.error(name->position, reader.path("input") + ": there is no operator " +
                                            in_quotes(name->text) + did_you_mean(name->text, ids));
      continue;
    }
    const auto index = static_cast<std::int32_t>(found - ids.begin());
    if (job.operators[static_cast<std::size_t>(index)].kind == OperatorKind::kSink) {
      diagnostics.error(name->position, reader.path("input") + ": " + in_quotes(name->text) +
                                            " is a sink, and nothing comes out of it");
    } else if (std::find(op.inputs.begin(), op.inputs.end(), index) != op.inputs.end()) {
      diagnostics.error(name->position,
                        reader.path("input") + ": " + in_quotes(name->text) + " is here twice");
    } else {
      op.inputs.push_back(index);
    }
  }
}

}  // namespace

Job parse_job(MapReader reader, const FlinkOptions& flink, const std::string& directory,
              Diagnostics& diagnostics) {
  Job job;
  job.position = reader.position();
  job.max_parallelism =
      static_cast<std::int32_t>(reader.number("max_parallelism").value_or(flink.max_parallelism));
  const auto parallelism =
      static_cast<std::int32_t>(reader.number("parallelism").value_or(flink.default_parallelism));

  const yaml::Node* list = reader.find("operators");
  if (list == nullptr) return job;
  if (!list->is_sequence() || list->items.empty() || list->items.size() > kMostOperators) {
    reader.error("operators", "must be a list of 1 to 1000 operators");
    return job;
  }
  std::vector<MapReader> readers;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const yaml::Node& item = list->items[i];
    const yaml::Node* id = item.find("id");
    const std::string name =
        id != nullptr && id->is_scalar() ? id->text : '[' + std::to_string(i) + ']';
    readers.emplace_back(&item, kOperatorSection, "job.operators." + name, list->position,
                         diagnostics);
    job.operators.push_back(
        parse_operator(readers.back(), directory, job.max_parallelism, diagnostics));
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    OperatorSpec& op = job.operators[i];
    const std::size_t mistakes = diagnostics.size();
    resolve_inputs(readers[i], job, op, diagnostics);
    if (op.kind != OperatorKind::kSource && !readers[i].has("input")) {
      readers[i].error_here("has no \"input\"");
    }
    op.reads_unknown = op.reads_unknown || diagnostics.size() > mistakes;
    op.separate_inputs = readers[i].choice("inputs").value_or(0) == 1;
    const yaml::Node* input = readers[i].find("input");
    if (op.separate_inputs && input != nullptr && !op.reads_unknown &&
        (!input->is_sequence() || input->items.size() != 2)) {
      readers[i].error("inputs", "separate inputs are two, as in input: [left, right]");
    }
    const bool keyed = op.kind == OperatorKind::kKeyed;
    const std::optional<std::int32_t> by = readers[i].choice("by");
    if (by.has_value()) {
      op.partitioner = kPartitioners[static_cast<std::size_t>(*by)];
      if (keyed && op.partitioner != PartitionerKind::kHash) {
        readers[i].error("by", "a keyed operator gets its records by: hash");
      }
    } else if (keyed) {
      op.partitioner = PartitionerKind::kHash;
    } else if (op.own_parallelism && !readers[i].has("by")) {
      // Flink 1.10 StreamGraph.addEdgeInternal: without a word, forward if the parallelism is the
      // same and rebalance if not. Inputs without a parallelism of their own are settled later.
      op.partitioner = PartitionerKind::kForward;
      op.partitioner_is_default = true;
    }
  }
  check_job_graph(job, parallelism, diagnostics);
  return job;
}

}  // namespace tailrace::scenarios
