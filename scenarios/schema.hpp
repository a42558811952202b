// The keys of the scenario language: one table for the parser, its messages and its description.
//
// A key is read, checked and given its default by its row here (map_reader.hpp); the code that
// reads a section only says where the values go.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace tailrace::scenarios {

enum class ValueType : std::uint8_t {
  kText,     // any scalar
  kName,     // letters, digits, `_` and `-`, beginning with a letter
  kInteger,  // min and max are the range
  kMilli,    // a decimal number; min and max in thousandths
  kBoolean,
  kDuration,  // min and max in nanoseconds
  kSize,      // min and max in bytes
  kBandwidth,
  kPercent,  // min and max in parts per million
  kChoice,   // one of `choices`
  kSection,  // a mapping with the keys of its own section
  kOther,    // read by the section's own code
  kFlag,     // nothing, or true
};

enum class Presence : std::uint8_t {
  kOptional,
  kRequired,
  kNotYet,  // part of the language that this version cannot run yet
};

struct KeySpec {
  std::string_view key;
  ValueType type = ValueType::kOther;
  Presence presence = Presence::kOptional;
  std::string_view fallback;  // the default, as it would be written; empty: none
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string_view choices;  // separated by `|`
  std::string_view about;
};

struct SectionSpec {
  std::string_view name;  // as it is called in messages: "cluster.network"
  std::span<const KeySpec> keys;
};

[[nodiscard]] const KeySpec* find_key(const SectionSpec& section, std::string_view key);

extern const SectionSpec kScenarioSection;
extern const SectionSpec kClusterSection;
extern const SectionSpec kTaskManagersSection;
extern const SectionSpec kNetworkSection;
extern const SectionSpec kDiskSection;
extern const SectionSpec kCheckpointStorageSection;
extern const SectionSpec kJobManagerSection;
extern const SectionSpec kResourceManagerSection;
extern const SectionSpec kHighAvailabilitySection;
extern const SectionSpec kJobSection;
extern const SectionSpec kOperatorSection;
extern const SectionSpec kSourceFromSection;
extern const SectionSpec kSourceKeysSection;
extern const SectionSpec kKeyedStateSection;
extern const SectionSpec kRateOverSection;
extern const SectionSpec kTimelineSection;
extern const SectionSpec kWhenSection;
extern const SectionSpec kTaskManagerTargetSection;
extern const SectionSpec kSlowSection;
extern const SectionSpec kPauseSection;
extern const SectionSpec kFailSection;
extern const SectionSpec kStorageSection;
extern const SectionSpec kStopSection;
extern const SectionSpec kPinSection;
extern const SectionSpec kCostsSection;
extern const SectionSpec kThreadsSection;
extern const SectionSpec kRecordPriceSection;    // serialise, deserialise
extern const SectionSpec kEntryPriceSection;     // snapshot_async, restore
extern const SectionSpec kSyncPriceSection;      // snapshot_sync
extern const SectionSpec kFinalisePriceSection;  // checkpoint_finalise

// All of them, for a description of the language.
[[nodiscard]] std::span<const SectionSpec* const> all_sections();

}  // namespace tailrace::scenarios
