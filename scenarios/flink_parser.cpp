#include "scenarios/flink_parser.hpp"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/generation.hpp"
#include "scenarios/edit_distance.hpp"
#include "scenarios/flink_keys.hpp"
#include "scenarios/map_reader.hpp"
#include "scenarios/units.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

using base::Duration;

// What the option is in Flink 1.10; decides which texts are values.
enum class FlinkType : std::uint8_t {
  kInt,
  kMillisAsLong,  // a whole number of milliseconds; `10 s` is an error in 1.10
  kBytesAsLong,   // a whole number of bytes
  kDuration,
  kTextDuration,  // a string that its reader parses as a duration; the unit must be written
  kMemory,
  kBoolean,
  kWord,
};

// Filled by type: `number` holds integers, bytes and booleans.
struct FlinkValue {
  std::int64_t number = 0;
  Duration duration;
  std::string word;  // lower case
};

// Sets the option, or says what is wrong with the value.
using Apply = std::optional<std::string> (*)(FlinkOptions&, const FlinkValue&);

struct OptionSpec {
  // The name in 1.10 first, then all others of either version.
  std::array<std::string_view, 4> names;
  FlinkType type;
  std::int64_t min;
  std::int64_t max;
  Apply apply;
};

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

std::int32_t narrow(const FlinkValue& value) {
  return static_cast<std::int32_t>(value.number);
}

// For the many options that are a field and nothing else.
template <auto kField>
std::optional<std::string> set(FlinkOptions& options, const FlinkValue& value) {
  auto& field = options.*kField;
  using Field = std::remove_reference_t<decltype(field)>;
  if constexpr (std::is_same_v<Field, Duration>) {
    field = value.duration;
  } else if constexpr (std::is_same_v<Field, std::optional<std::int32_t>>) {
    field = narrow(value);
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = value.number != 0;
  } else {
    field = static_cast<Field>(value.number);
  }
  return std::nullopt;
}

std::optional<std::string> set_interval(FlinkOptions& options, const FlinkValue& value) {
  // Flink 1.10 CheckpointConfig: below 10 ms is refused; 0 is how one says never.
  if (value.duration.ns == 0) {
    options.checkpoint_interval.reset();
    return std::nullopt;
  }
  if (value.duration < Duration::millis(10)) return "is below 10 ms, Flink's least interval";
  options.checkpoint_interval = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_timeout(FlinkOptions& options, const FlinkValue& value) {
  // Flink 1.10 CheckpointConfig.MINIMAL_CHECKPOINT_TIME.
  if (value.duration < Duration::millis(10)) return "is below 10 ms, Flink's least timeout";
  options.checkpoint_timeout = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_mode(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "exactly_once") {
    options.mode = CheckpointingMode::EXACTLY_ONCE;
  } else if (value.word == "at_least_once") {
    options.mode = CheckpointingMode::AT_LEAST_ONCE;
  } else {
    return "is neither EXACTLY_ONCE nor AT_LEAST_ONCE";
  }
  return std::nullopt;
}

std::optional<std::string> set_retention(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "delete_on_cancellation") {
    options.retention = CheckpointRetention::DELETE_ON_CANCELLATION;
  } else if (value.word == "retain_on_cancellation") {
    options.retention = CheckpointRetention::RETAIN_ON_CANCELLATION;
  } else if (value.word == "no_externalized_checkpoints") {
    options.retention = CheckpointRetention::NEVER_RETAIN;
  } else {
    return "is neither DELETE_ON_CANCELLATION nor RETAIN_ON_CANCELLATION";
  }
  return std::nullopt;
}

std::optional<std::string> set_restart_strategy(FlinkOptions& options, const FlinkValue& value) {
  const std::string& word = value.word;
  if (word == "none" || word == "off" || word == "disable") {
    options.restart_strategy = RestartStrategyKind::kNone;
  } else if (word == "fixed-delay" || word == "fixeddelay") {
    options.restart_strategy = RestartStrategyKind::kFixedDelay;
  } else if (word == "failure-rate" || word == "failurerate") {
    return "is not modelled yet in this version; use fixed-delay or none";
  } else {
    return "is none of none, fixed-delay or failure-rate";
  }
  return std::nullopt;
}

std::optional<std::string> set_high_availability(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "none") {
    options.high_availability = HighAvailabilityMode::NONE;
  } else if (value.word == "zookeeper") {
    options.high_availability = HighAvailabilityMode::ZOOKEEPER;
  } else if (value.word != "kubernetes") {
    return "is none of NONE, zookeeper or kubernetes";
  } else if (!engine::brings_kubernetes_high_availability(options.generation)) {
    return "is not known to this version of Flink; use zookeeper or NONE";
  } else {
    options.high_availability = HighAvailabilityMode::KUBERNETES;
  }
  return std::nullopt;
}

std::optional<std::string> set_lease_duration(FlinkOptions& options, const FlinkValue& value) {
  if (value.duration < Duration::millis(1)) return "is out of range; it must be at least 1 ms";
  options.kubernetes_lease_duration = value.duration;
  return std::nullopt;
}

std::optional<std::string> set_failover(FlinkOptions& options, const FlinkValue& value) {
  if (value.word == "full") {
    options.failover_strategy = FailoverStrategyKind::kFull;
  } else if (value.word == "region") {
    options.failover_strategy = FailoverStrategyKind::kRegion;
  } else {
    return "is neither full nor region";
  }
  return std::nullopt;
}

std::optional<std::string> set_backend(FlinkOptions&, const FlinkValue& value) {
  // All three keep working state on the heap; where checkpoints go, the cluster says.
  if (value.word == "jobmanager" || value.word == "filesystem" || value.word == "hashmap") {
    return std::nullopt;
  }
  if (value.word == "rocksdb") return "is not modelled yet in this version; use hashmap";
  return "is none of jobmanager, filesystem, hashmap or rocksdb";
}

std::optional<std::string> set_max_parallelism(FlinkOptions& options, const FlinkValue& value) {
  if (value.number == 0) return "is out of range; it must be -1 or from 1 to 32768";
  options.max_parallelism = narrow(value);
  return std::nullopt;
}

using O = FlinkOptions;
using F = FlinkType;

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {{"akka.ask.timeout", "pekko.ask.timeout"}, F::kTextDuration, 0, 0, set<&O::ask_timeout>},
    {{"execution.buffer-timeout", "execution.buffer-timeout.interval"},
     F::kDuration,
     0,
     0,
     set<&O::buffer_timeout>},
    {{"execution.checkpointing.interval"}, F::kDuration, 0, 0, set_interval},
    {{"execution.checkpointing.timeout"}, F::kDuration, 0, 0, set_timeout},
    {{"execution.checkpointing.min-pause"},
     F::kDuration,
     0,
     0,
     set<&O::min_pause_between_checkpoints>},
    {{"execution.checkpointing.max-concurrent-checkpoints"},
     F::kInt,
     1,
     kIntMax,
     set<&O::max_concurrent_checkpoints>},
    {{"execution.checkpointing.mode"}, F::kWord, 0, 0, set_mode},
    {{"execution.checkpointing.tolerable-failed-checkpoints"},
     F::kInt,
     0,
     kIntMax,
     set<&O::tolerable_failed_checkpoints>},
    {{"execution.checkpointing.externalized-checkpoint-retention"}, F::kWord, 0, 0, set_retention},
    {{"execution.checkpointing.prefer-checkpoint-for-recovery"},
     F::kBoolean,
     0,
     0,
     set<&O::prefer_checkpoint_for_recovery>},
    {{"state.checkpoints.num-retained", "execution.checkpointing.num-retained"},
     F::kInt,
     1,
     kIntMax,
     set<&O::retained_checkpoints>},
    {{"state.backend.fs.memory-threshold", "execution.checkpointing.data-inline-threshold",
      "state.storage.fs.memory-threshold"},
     F::kBytesAsLong,
     0,
     1'048'576,  // Flink 1.10 FsStateBackend.MAX_FILE_STATE_THRESHOLD
     set<&O::state_memory_threshold_bytes>},
    {{"task.checkpoint.alignment.max-size"},
     F::kBytesAsLong,
     -1,
     kLongMax,
     set<&O::alignment_max_bytes>},
    {{"heartbeat.interval"}, F::kMillisAsLong, 1, kIntMax, set<&O::heartbeat_interval>},
    {{"heartbeat.timeout"}, F::kMillisAsLong, 1, kIntMax, set<&O::heartbeat_timeout>},
    {{"high-availability", "high-availability.type"}, F::kWord, 0, 0, set_high_availability},
    {{"high-availability.zookeeper.client.session-timeout"},
     F::kMillisAsLong,
     1,
     kIntMax,
     set<&O::zookeeper_session_timeout>},
    {{"high-availability.kubernetes.leader-election.lease-duration"},
     F::kDuration,
     0,
     0,
     set_lease_duration},
    {{"restart-strategy", "restart-strategy.type"}, F::kWord, 0, 0, set_restart_strategy},
    {{"restart-strategy.fixed-delay.attempts"}, F::kInt, 0, kIntMax, set<&O::fixed_delay_attempts>},
    {{"restart-strategy.fixed-delay.delay"}, F::kDuration, 0, 0, set<&O::fixed_delay>},
    {{"jobmanager.execution.failover-strategy"}, F::kWord, 0, 0, set_failover},
    {{"slot.request.timeout"}, F::kMillisAsLong, 0, kIntMax, set<&O::slot_request_timeout>},
    {{"state.backend", "state.backend.type"}, F::kWord, 0, 0, set_backend},
    {{"taskmanager.memory.segment-size"},
     F::kMemory,
     4096,  // Flink MemoryManager.MIN_PAGE_SIZE
     1 << 30,
     set<&O::segment_bytes>},
    {{"taskmanager.network.memory.buffers-per-channel"},
     F::kInt,
     1,  // Flink 1.10 NetworkBufferPool.numberOfSegmentsToRequest
     100'000,
     set<&O::buffers_per_channel>},
    {{"taskmanager.network.memory.floating-buffers-per-gate"},
     F::kInt,
     0,
     1'000'000,
     set<&O::floating_buffers_per_gate>},
    {{"taskmanager.network.request-backoff.initial", "taskmanager.net.request-backoff.initial"},
     F::kInt,
     1,
     kIntMax,
     set<&O::request_backoff_initial_ms>},
    {{"taskmanager.network.request-backoff.max", "taskmanager.net.request-backoff.max"},
     F::kInt,
     1,
     kIntMax,
     set<&O::request_backoff_max_ms>},
    {{"taskmanager.numberOfTaskSlots"}, F::kInt, 1, 1'000, set<&O::task_slots>},
    {{"parallelism.default"}, F::kInt, 1, 32'768, set<&O::default_parallelism>},
    {{"pipeline.max-parallelism"}, F::kInt, -1, 32'768, set_max_parallelism},
    {{"pipeline.operator-chaining", "pipeline.operator-chaining.enabled"},
     F::kBoolean,
     0,
     0,
     set<&O::operator_chaining>},
});

const OptionSpec* find_option(std::string_view key) {
  for (const OptionSpec& option : kOptions) {
    for (const std::string_view name : option.names) {
      if (!name.empty() && name == key) return &option;
    }
  }
  return nullptr;
}

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
      return "whole milliseconds, " + range_text(option);
    case F::kBytesAsLong:
      return "whole bytes, " + range_text(option);
    case F::kDuration:
      return "duration of Flink";
    case F::kTextDuration:
      return "duration of Flink, with its unit";
    case F::kMemory:
      return "memory size of Flink, " + range_text(option) + " bytes";
    case F::kBoolean:
      return "true, false";
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

Parsed<FlinkValue> parse_value(std::string_view text, const OptionSpec& option) {
  FlinkValue value;
  switch (option.type) {
    case F::kInt:
    case F::kMillisAsLong:
    case F::kBytesAsLong:
      return parse_whole(text, option);
    case F::kTextDuration:
      if (parse_integer(text).ok()) {
        return base::Failure<std::string>{"has no unit; write it as 5 ms, 5 s or 5 min"};
      }
      [[fallthrough]];
    case F::kDuration: {
      const Parsed<Duration> duration = parse_flink_duration(text);
      if (!duration.ok()) return base::Failure<std::string>{duration.error()};
      value.duration = duration.value();
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
    options.generation = engine::Generation::kFlink110;
  } else if (version == engine::name_of(engine::Generation::kFlink120)) {
    if (!engine::is_available(engine::Generation::kFlink120)) {
      diagnostics.error(where, std::string("flink.version: \"1.20\"") +
                                   (node == nullptr ? ", the default," : "") +
                                   " is not available yet in this version; say version: \"1.10\"");
    }
    options.generation = engine::Generation::kFlink120;
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
  for (const OptionSpec& option : kOptions) {
    ModelledOption& modelled = options.emplace_back();
    modelled.name = option.names.front();
    modelled.value = value_text(option);
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

  std::array<const yaml::Entry*, kOptions.size()> seen{};
  for (const yaml::Entry& entry : node->entries) {
    if (entry.key == "version") continue;
    const OptionSpec* option = find_option(entry.key);
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
    const yaml::Entry*& first = seen[static_cast<std::size_t>(option - kOptions.data())];
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
    const Parsed<FlinkValue> value = parse_value(entry.value.text, *option);
    const std::optional<std::string> wrong =
        value.ok() ? option->apply(section.options, value.value()) : value.error();
    if (wrong.has_value()) {
      diagnostics.error(entry.value.position,
                        "flink." + entry.key + ": " + in_quotes(entry.value.text) + ' ' + *wrong);
    }
  }
  if (section.options.heartbeat_timeout < section.options.heartbeat_interval) {
    // Flink 1.10 HeartbeatServices.
    diagnostics.error(node->position,
                      "flink: heartbeat.timeout must not be smaller than heartbeat.interval");
  }
  return section;
}

}  // namespace tailrace::scenarios
