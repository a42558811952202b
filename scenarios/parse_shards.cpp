// Endless sources and the keyed state that goes with them.
#include <algorithm>

#include "scenarios/record_text.hpp"
#include "scenarios/sections.hpp"

namespace tailrace::scenarios {
namespace {

constexpr std::int64_t kDigitsMax = 19;  // of a long
constexpr std::int64_t kMostStateBytes = std::int64_t{4} << 30;

SourceKeys parse_keys(MapReader reader) {
  SourceKeys keys;
  // After a mistake one that asks for nothing else.
  const std::optional<std::int32_t> distribution = reader.choice("distribution");
  keys.distribution = static_cast<KeyDistribution>(
      distribution.value_or(static_cast<int>(KeyDistribution::kUniform)));
  const std::optional<std::int64_t> count = reader.number("count");
  keys.count = count.value_or(1);
  keys.active = keys.count;
  if (reader.has("active")) keys.active = reader.number("active").value_or(1);
  if (count.has_value() && keys.active > keys.count) {
    reader.error("active", std::to_string(keys.active) + " are more than the count of " +
                               std::to_string(keys.count));
    keys.active = keys.count;
  }
  if (!count.has_value()) keys.active = 1;
  if (reader.has("exponent") && distribution.has_value() &&
      keys.distribution != KeyDistribution::kZipf) {
    reader.error("exponent", "only the distribution zipf has an exponent");
  }
  keys.exponent_milli = reader.number("exponent").value_or(1000);
  return keys;
}

// That the largest key fits into the text of a record.
void check_size(MapReader& reader, std::int32_t key_groups, const OperatorSpec& op) {
  const std::int64_t room = text_units(op.record_bytes);
  if (room >= kDigitsMax) return;
  // Only a record so small is worth a search for the largest key.
  const std::int64_t largest = ShardKeys(op.keys, op.shards, key_groups).largest();
  const auto digits = static_cast<std::int64_t>(std::to_string(largest).size());
  if (digits <= room) return;
  reader.error("size", "the largest key, " + std::to_string(largest) + ", does not fit; it takes " +
                           std::to_string(kBytesBesideText + 1 + digits) + "B");
}

}  // namespace

void parse_shards(MapReader& reader, MapReader& from, std::int32_t max_parallelism,
                  OperatorSpec& op) {
  for (const char* other : {"file", "records"}) {
    if (from.has(other)) {
      from.error(other, "a source reads a file, makes up records or has shards, one of them");
    }
  }
  if (from.has("repeat")) from.error("repeat", "only files are read again");
  op.shards = static_cast<std::int32_t>(
      from.number("shards").value_or(find_key(kSourceFromSection, "shards")->max));
  if (!reader.has("size")) {
    reader.error_here("has shards and no \"size\" for their records, such as size: 512B");
  }
  const std::optional<std::int64_t> size = reader.size("size");
  op.record_bytes = size.value_or(find_key(kOperatorSection, "size")->min);
  if (!reader.has("keys")) {
    reader.error_here(
        "has shards and no \"keys\" for their records, such as keys: {distribution: uniform, "
        "count: 1000}");
    return;
  }
  const MapReader keys = reader.section("keys", kSourceKeysSection);
  op.keys = parse_keys(keys);
  const bool balanced = op.keys.distribution == KeyDistribution::kBalanced;
  if (balanced && max_parallelism <= 0) {
    reader.error("keys",
                 "balanced keys need the number of key groups: job.max_parallelism, such as 128");
  } else if (size.has_value() && keys.has("count")) {
    check_size(reader, max_parallelism, op);
  }
}

KeyedState parse_keyed_state(MapReader& reader) {
  KeyedState state;
  if (!reader.has("state")) {
    reader.error_here("does update and has no \"state\", such as state: {per_key: 100B}");
    return state;
  }
  MapReader section = reader.section("state", kKeyedStateSection);
  state.bytes_per_key = section.size("per_key").value_or(1);
  state.preload = section.boolean("preload");
  state.update_ppm = section.number("update").value_or(1'000'000);
  return state;
}

bool emits_numbered_records(const Job& job, std::int32_t op) {
  const OperatorSpec& spec = job.operators[static_cast<std::size_t>(op)];
  if (spec.kind == OperatorKind::kSource) return spec.shards > 0;
  const bool unchanged =
      spec.function == OperatorFunction::kIdentity || spec.function == OperatorFunction::kUpdate;
  return unchanged && !spec.inputs.empty() && emits_numbered_records(job, spec.inputs.front());
}

namespace {

// Whether a mistake hides what kind of records an operator emits.
bool emits_unknown(const Job& job, std::int32_t op) {
  const OperatorSpec& spec = job.operators[static_cast<std::size_t>(op)];
  if (spec.reads_unknown) return true;
  return !spec.inputs.empty() && emits_unknown(job, spec.inputs.front());
}

// Values are kept as they are, bytes for bytes, and snapshots hold them once more.
void check_state_size(const Job& job, std::int32_t index, Diagnostics& diagnostics) {
  const OperatorSpec& op = job.operators[static_cast<std::size_t>(index)];
  if (op.function != OperatorFunction::kUpdate) return;
  std::int64_t keys = 0;  // at least so many: different sources may have the same ones
  for (const std::int32_t source : shards_before(job, index)) {
    const SourceKeys& of_source = job.operators[static_cast<std::size_t>(source)].keys;
    keys = std::max(keys, op.state.preload ? of_source.count : of_source.active);
  }
  const std::int64_t bytes = keys * op.state.bytes_per_key;
  if (bytes <= kMostStateBytes) return;
  diagnostics.error(op.position, "job.operators." + op.id + ".state: " + std::to_string(keys) +
                                     " keys of " + std::to_string(op.state.bytes_per_key) +
                                     "B are " + std::to_string(bytes) + "B; a run keeps at most " +
                                     std::to_string(kMostStateBytes) + "B of state");
}

}  // namespace

std::vector<std::int32_t> shards_before(const Job& job, std::int32_t op) {
  std::vector<std::int32_t> found;
  std::vector<std::int32_t> open = job.operators[static_cast<std::size_t>(op)].inputs;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const OperatorSpec& spec = job.operators[static_cast<std::size_t>(open[next])];
    if (spec.shards > 0) found.push_back(open[next]);
    if (!emits_numbered_records(job, open[next])) continue;
    for (const std::int32_t input : spec.inputs) {
      if (std::find(open.begin(), open.end(), input) == open.end()) open.push_back(input);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void check_shards(const Job& job, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < job.operators.size(); ++i) {
    const OperatorSpec& op = job.operators[i];
    if (op.shards > 0 && op.shards < op.parallelism) {
      diagnostics.error(op.position, "job.operators." + op.id + ": " + std::to_string(op.shards) +
                                         " shards are not enough for " +
                                         std::to_string(op.parallelism) + " subtasks");
    }
    const auto numbered = [&job](std::int32_t input) { return emits_numbered_records(job, input); };
    const auto with = std::count_if(op.inputs.begin(), op.inputs.end(), numbered);
    const bool unknown =
        std::any_of(op.inputs.begin(), op.inputs.end(),
                    [&job](std::int32_t input) { return emits_unknown(job, input); });
    const bool mixed = !unknown && with > 0 && with < static_cast<std::ptrdiff_t>(op.inputs.size());
    // Elsewhere nobody looks for the key.
    if (mixed && (op.kind == OperatorKind::kMap || op.kind == OperatorKind::kKeyed)) {
      const auto first = std::find_if(op.inputs.begin(), op.inputs.end(), numbered);
      const auto other = std::find_if_not(op.inputs.begin(), op.inputs.end(), numbered);
      const auto id = [&job](std::int32_t input) {
        return job.operators[static_cast<std::size_t>(input)].id;
      };
      diagnostics.error(op.position, "job.operators." + op.id + ": records of " + id(*first) +
                                         " have a number as their key and those of " + id(*other) +
                                         " have none; they cannot be read together");
    }
    check_state_size(job, static_cast<std::int32_t>(i), diagnostics);
    if (op.state.preload && !op.reads_unknown &&
        shards_before(job, static_cast<std::int32_t>(i)).empty()) {
      diagnostics.error(op.position, "job.operators." + op.id +
                                         ".state: there are no keys to preload; only sources of "
                                         "shards know theirs beforehand");
    }
  }
}

}  // namespace tailrace::scenarios
