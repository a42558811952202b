#include "scenarios/flink_parser.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/generation.hpp"
#include "scenarios/edit_distance.hpp"
#include "scenarios/flink_keys.hpp"
#include "scenarios/flink_option_table.hpp"
#include "scenarios/map_reader.hpp"
#include "scenarios/units.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

using base::Duration;
using F = FlinkType;

// The range of whole numbers, as a message says it.
std::string range_text(const OptionSpec& option) {
  if (option.max >= kIntMax) return "at least " + std::to_string(option.min);
  return "from " + std::to_string(option.min) + " to " + std::to_string(option.max);
}

// What the option takes, for a description of the language.
std::string value_text(const OptionSpec& option) {
  switch (option.type) {
    case F::kInt:
      return "integer, " + range_text(option);
    case F::kMillisAsLong:
      return "whole milliseconds, " + range_text(option) + "; 1.20: a duration of Flink";
    case F::kBytesAsLong:
      if (option.versions == FlinkVersions::kOnly110) return "whole bytes, " + range_text(option);
      return "whole bytes, " + range_text(option) + "; 1.20: a memory size of Flink";
    case F::kDuration:
      return "duration of Flink";
    case F::kTextDuration:
      return "duration of Flink, 1.10: with its unit";
    case F::kMemory:
      return "memory size of Flink, " + range_text(option) + " bytes";
    case F::kBoolean:
      return "true, false";
    case F::kDouble:
      return "decimal number";
    case F::kWord:
      return "word";
  }
  return {};
}

Parsed<FlinkValue> parse_whole(std::string_view text, const OptionSpec& option) {
  const Parsed<std::int64_t> number = parse_integer(text);
  if (!number.ok()) {
    std::string message = number.error();
    if (option.type == F::kMillisAsLong) {
      message += ": in 1.10 this option is a plain number of milliseconds, such as 2000";
    } else if (option.type == F::kBytesAsLong) {
      message += ": in 1.10 this option is a plain number of bytes, such as 1024";
    }
    return base::Failure<std::string>{message};
  }
  if (number.value() < option.min || number.value() > option.max) {
    return base::Failure<std::string>{"is out of range; it must be " + range_text(option)};
  }
  FlinkValue value;
  value.number = number.value();
  if (option.type == F::kMillisAsLong) value.duration = Duration::millis(number.value());
  return value;
}

// The types that 1.20 gave its options.
FlinkType type_in(const OptionSpec& option, engine::Generation generation) {
  if (generation == engine::Generation::kFlink110) return option.type;
  switch (option.type) {
    case F::kMillisAsLong:
    case F::kTextDuration:
      return F::kDuration;
    case F::kBytesAsLong:
      return F::kMemory;
    case F::kInt:
    case F::kDuration:
    case F::kMemory:
    case F::kBoolean:
    case F::kDouble:
    case F::kWord:
      break;
  }
  return option.type;
}

Parsed<FlinkValue> parse_decimal(std::string_view text) {
  FlinkValue value;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value.decimal);
  if (error != std::errc{} || stopped != end || !std::isfinite(value.decimal)) {
    return base::Failure<std::string>{"is not a decimal number, such as 1.5"};
  }
  return value;
}

Parsed<FlinkValue> parse_value(std::string_view text, const OptionSpec& option,
                               engine::Generation generation) {
  FlinkValue value;
  switch (type_in(option, generation)) {
    case F::kInt:
    case F::kMillisAsLong:
    case F::kBytesAsLong:
      return parse_whole(text, option);
    case F::kDouble:
      return parse_decimal(text);
    case F::kTextDuration:
      if (parse_integer(text).ok()) {
        return base::Failure<std::string>{"has no unit; write it as 5 ms, 5 s or 5 min"};
      }
      [[fallthrough]];
    case F::kDuration: {
      const Parsed<Duration> duration = parse_flink_duration(text);
      if (!duration.ok()) return base::Failure<std::string>{duration.error()};
      value.duration = duration.value();
      if (option.type == F::kMillisAsLong && value.duration < Duration::millis(option.min)) {
        return base::Failure<std::string>{"is out of range; it must be at least " +
                                          std::to_string(option.min) + " ms"};
      }
      return value;
    }
    case F::kMemory: {
      const Parsed<std::int64_t> bytes = parse_flink_memory(text);
      if (!bytes.ok()) return base::Failure<std::string>{bytes.error()};
      if (bytes.value() < option.min || bytes.value() > option.max) {
        return base::Failure<std::string>{"is out of range; it must be " + range_text(option) +
                                          " bytes"};
      }
      value.number = bytes.value();
      return value;
    }
    case F::kBoolean: {
      const Parsed<bool> boolean = parse_boolean(ascii_lower(text));
      if (!boolean.ok()) return base::Failure<std::string>{boolean.error()};
      value.number = boolean.value() ? 1 : 0;
      return value;
    }
    case F::kWord:
      value.word = ascii_lower(text);
      return value;
  }
  return value;
}

void parse_version(const yaml::Node* node, Position around, Diagnostics& diagnostics,
                   FlinkOptions& options) {
  const std::string_view version = node == nullptr ? "1.20" : std::string_view(node->text);
  const Position where = node == nullptr ? around : node->position;
  if (version == "1.1" || version == "1.2") {
    diagnostics.error(where, "flink.version: the number " + std::string(version) +
                                 " is no version; write version: \"1.10\" or \"1.20\", with the "
                                 "quotes, because YAML reads 1.10 as the number 1.1");
  } else if (version == engine::name_of(engine::Generation::kFlink110)) {
    options = flink_defaults(engine::Generation::kFlink110);
  } else if (version == engine::name_of(engine::Generation::kFlink120)) {
    options = flink_defaults(engine::Generation::kFlink120);
  } else {
    diagnostics.error(
        where, "flink.version: " + (node == nullptr ? in_quotes(version) : yaml::name_of(*node)) +
                   " is neither \"1.10\" nor \"1.20\"");
  }
}

std::string nearest_key_hint(std::string_view key) {
  const std::string_view nearest = nearest_name(key, flink_keys());
  if (nearest.empty()) return {};
  return "; the nearest one is " + std::string(nearest);
}

}  // namespace

std::vector<ModelledOption> modelled_flink_options() {
  std::vector<ModelledOption> options;
  for (const OptionSpec& option : flink_option_table()) {
    ModelledOption& modelled = options.emplace_back();
    modelled.name = option.names.front();
    modelled.value = value_text(option);
    modelled.only_in = option.versions == FlinkVersions::kBoth      ? ""
                       : option.versions == FlinkVersions::kOnly110 ? "1.10"
                                                                    : "1.20";
    for (const std::string_view name : std::span(option.names).subspan(1)) {
      if (!name.empty()) modelled.other_names.push_back(name);
    }
  }
  return options;
}

FlinkSection parse_flink(const yaml::Node* node, Position around, Diagnostics& diagnostics) {
  FlinkSection section;
  if (node != nullptr && node->kind == yaml::NodeKind::kNull) node = nullptr;
  if (node != nullptr && !node->is_mapping()) {
    diagnostics.error(node->position, "flink: must be a mapping of Flink's keys to values, not " +
                                          yaml::name_of(*node));
    return section;
  }
  parse_version(node == nullptr ? nullptr : node->find("version"),
                node == nullptr ? around : node->position, diagnostics, section.options);
  if (node == nullptr) return section;

  const engine::Generation generation = section.options.generation;
  std::vector<const yaml::Entry*> seen(flink_option_table().size(), nullptr);
  for (const yaml::Entry& entry : node->entries) {
    if (entry.key == "version") continue;
    const OptionSpec* option = find_flink_option(entry.key);
    if (option == nullptr) {
      if (is_flink_key(entry.key)) {
        section.notes.push_back("flink." + entry.key + " is not modelled and has no effect");
      } else {
        diagnostics.error(entry.key_position, "flink: " + in_quotes(entry.key) +
                                                  " is not a key of Flink" +
                                                  nearest_key_hint(entry.key));
      }
      continue;
    }
    const yaml::Entry*& first =
        seen[static_cast<std::size_t>(option - flink_option_table().data())];
    if (first != nullptr) {
      diagnostics.error(entry.key_position, "flink." + entry.key + ": the same option as " +
                                                first->key + ", which is set as well");
      continue;
    }
    first = &entry;
    if (!entry.value.is_scalar()) {
      diagnostics.error(entry.value.position, "flink." + entry.key + ": needs one value, not " +
                                                  yaml::name_of(entry.value));
      continue;
    }
    if (!exists_in(option->versions, generation)) {
      section.notes.push_back("flink." + entry.key + " has no effect in Flink " +
                              std::string(engine::name_of(generation)));
      continue;
    }
    const Parsed<FlinkValue> value = parse_value(entry.value.text, *option, generation);
    const std::optional<std::string> wrong =
        value.ok() ? option->apply(section.options, value.value()) : value.error();
    if (wrong.has_value()) {
      diagnostics.error(entry.value.position,
                        "flink." + entry.key + ": " + in_quotes(entry.value.text) + ' ' + *wrong);
    }
  }
  if (section.options.buffers_per_channel < 1 && generation == engine::Generation::kFlink110) {
    // Flink 1.10 NetworkBufferPool.numberOfSegmentsToRequest.
    diagnostics.error(node->position,
                      "flink: taskmanager.network.memory.buffers-per-channel must be at least 1 in "
                      "Flink 1.10");
  }
  // Flink 1.20 ExponentialDelayRestartBackoffTimeStrategy.
  if (section.options.exponential_delay.initial_backoff >
      section.options.exponential_delay.max_backoff) {
    diagnostics.error(
        node->position,
        "flink: restart-strategy.exponential-delay.initial-backoff must not be greater "
        "than max-backoff");
  }
  if (section.options.buffer_debloat.min_buffer_bytes > section.options.segment_bytes) {
    // Flink 1.20 TaskManagerConfiguration.
    diagnostics.error(node->position,
                      "flink: taskmanager.memory.min-segment-size must not be greater than "
                      "taskmanager.memory.segment-size");
  }
  if (section.options.unaligned && section.options.max_concurrent_checkpoints > 1) {
    // Flink 1.20 CheckpointCoordinatorConfiguration.
    diagnostics.error(node->position,
                      "flink: unaligned checkpoints are taken one at a time, so that "
                      "execution.checkpointing.max-concurrent-checkpoints must be 1");
  }
  if (section.options.heartbeat_timeout < section.options.heartbeat_interval) {
    // Flink 1.10 HeartbeatServices.
    diagnostics.error(node->position,
                      "flink: heartbeat.timeout must not be smaller than heartbeat.interval");
  }
  return section;
}

}  // namespace tailrace::scenarios
