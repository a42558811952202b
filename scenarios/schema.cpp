#include "scenarios/schema.hpp"

#include <array>

namespace tailrace::scenarios {
namespace {

constexpr auto kOptional = Presence::kOptional;
constexpr auto kRequired = Presence::kRequired;
constexpr auto kNotYet = Presence::kNotYet;

constexpr std::int64_t kMostSubtasks = 32768;  // Flink's upper bound of max parallelism
// A made-up record has a text of one letter at least, and fits into a few buffers.
constexpr std::int64_t kRecordBytesMin = 15;
constexpr std::int64_t kRecordBytesMax = 1'048'576;
constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();

using T = ValueType;

constexpr std::array kScenarioKeys = std::to_array<KeySpec>({
    {"tailrace", T::kInteger, kOptional, "1", 1, 1, {}, "version of the language"},
    {"name", T::kText, kOptional, {}, 0, 0, {}, "by default the name of the file"},
    {"about", T::kText, kOptional, {}, 0, 0, {}, "what the experiment shows"},
    {"seed", T::kInteger, kOptional, "1", 0, kEver, {}, "of all random draws"},
    {"duration", T::kDuration, kOptional, {}, 1, kEver, {}, "virtual time that the run lasts"},
    {"until", T::kChoice, kOptional, {}, 0, 0, "sources_finished|idle", "ends the run earlier"},
    {"end", T::kChoice, kOptional, "stop", 0, 0, "stop|cut", "stop with a savepoint, or as it is"},
    {"fidelity", T::kChoice, kOptional, "records", 0, 0, "records|flow", "what a buffer holds"},
    {"cluster", T::kSection, kOptional, {}, 0, 0, {}, "the machines"},
    {"job", T::kSection, kRequired, {}, 0, 0, {}, "what runs on them"},
    {"flink", T::kOther, kOptional, {}, 0, 0, {}, "Flink's own options, and `version`"},
    {"timeline", T::kOther, kOptional, {}, 0, 0, {}, "a list of what happens and when"},
    {"expect", T::kOther, kOptional, {}, 0, 0, {}, "a list of sentences that must hold"},
    {"costs", T::kSection, kOptional, {}, 0, 0, {}, "prices of work"},
    {"profile", T::kText, kOptional, {}, 0, 0, {}, "a named set of prices"},
    {"pin", T::kSection, kOptional, {}, 0, 0, {}, "what chance would decide"},
    {"base", T::kOther, kNotYet, {}, 0, 0, {}, "another scenario to start from"},
    {"sweep", T::kOther, kNotYet, {}, 0, 0, {}, "a parameter study"},
});

constexpr std::array kClusterKeys = std::to_array<KeySpec>({
    {"task_managers", T::kSection, kOptional, {}, 0, 0, {}, "processes that run the job"},
    {"network", T::kSection, kOptional, {}, 0, 0, {}, "between any two hosts"},
    {"disk", T::kSection, kOptional, {}, 0, 0, {}, "of each host"},
    {"checkpoint_storage", T::kSection, kOptional, {}, 0, 0, {}, "shared by all"},
    {"job_manager", T::kSection, kOptional, {}, 0, 0, {}, "the process in charge"},
    {"resource_manager", T::kSection, kOptional, {}, 0, 0, {}, "who replaces processes"},
    {"high_availability", T::kSection, kOptional, {}, 0, 0, {}, "ZooKeeper, or what stands for it"},
});

constexpr std::array kTaskManagersKeys = std::to_array<KeySpec>({
    {"count", T::kInteger, kOptional, "1", 1, 10'000, {}, "numbered from 0"},
    {"slots", T::kInteger, kOptional, {}, 1, 1'000, {}, "of each; taskmanager.numberOfTaskSlots"},
    {"cores", T::kInteger, kOptional, "1", 1, 1'024, {}, "of each"},
    {"speed", T::kMilli, kOptional, "1", 1, 1'000'000, {}, "of a core; 2 is twice as fast"},
});

constexpr std::array kNetworkKeys = std::to_array<KeySpec>({
    {"bandwidth", T::kBandwidth, kOptional, "10Gbps", 0, 0, {}, "of a host, per direction"},
    {"latency", T::kDuration, kOptional, "200us", 0, kEver, {}, "one way"},
});

constexpr std::array kDiskKeys = std::to_array<KeySpec>({
    {"read", T::kBandwidth, kOptional, "500MB/s", 0, 0, {}, "of one disk"},
    {"write", T::kBandwidth, kOptional, "300MB/s", 0, 0, {}, "of one disk"},
    {"latency", T::kDuration, kOptional, "100us", 0, kEver, {}, "of a request"},
});

constexpr std::array kCheckpointStorageKeys = std::to_array<KeySpec>({
    {"bandwidth", T::kBandwidth, kOptional, "1GB/s", 0, 0, {}, "of all connections together"},
    {"per_connection", T::kBandwidth, kOptional, "90MB/s", 0, 0, {}, "of one"},
    {"write", T::kBandwidth, kOptional, {}, 0, 0, {}, "of all that write, in place of `bandwidth`"},
    {"read", T::kBandwidth, kOptional, {}, 0, 0, {}, "of all that read, in place of `bandwidth`"},
    {"request_latency", T::kDuration, kOptional, "15ms", 0, kEver, {}, "before the first byte"},
});

constexpr std::array kJobManagerKeys = std::to_array<KeySpec>({
    {"rpc_latency", T::kDuration, kOptional, "500us", 0, kEver, {}, "one way, between processes"},
});

constexpr std::array kResourceManagerKeys = std::to_array<KeySpec>({
    {"kind", T::kChoice, kOptional, "standalone", 0, 0, "standalone|active",
     "active: starts others"},
    {"notices_after", T::kDuration, kOptional, "1s", 0, kEver, {}, "active: sees a dead process"},
});

// A write is answered when a quorum has it on disk: a few milliseconds in a healthy ensemble.
constexpr std::array kHighAvailabilityKeys = std::to_array<KeySpec>({
    {"read", T::kDuration, kOptional, "500us", 0, kEver, {}, "to serve a request"},
    {"write", T::kDuration, kOptional, "5ms", 0, kEver, {}, "to serve one that changes something"},
});

constexpr std::array kJobKeys = std::to_array<KeySpec>({
    {"max_parallelism", T::kInteger, kOptional, {}, 1, kMostSubtasks, {}, "number of key groups"},
    {"parallelism", T::kInteger, kOptional, {}, 1, kMostSubtasks, {}, "where nothing else says"},
    {"operators", T::kOther, kRequired, {}, 0, 0, {}, "a list in data-flow order"},
});

constexpr std::array kOperatorKeys = std::to_array<KeySpec>({
    {"id", T::kName, kRequired, {}, 0, 0, {}, "unique in the job"},
    {"uid", T::kText, kOptional, {}, 0, 0, {}, "name of its state; by default the id"},
    {"kind", T::kChoice, kRequired, {}, 0, 0, "source|flat_map|map|keyed|sink", "of work"},
    {"do", T::kChoice, kOptional, {}, 0, 0, "tokenize|identity|count|update", "what it does"},
    {"input", T::kOther, kOptional, {}, 0, 0, {}, "an id or a list of ids"},
    {"inputs", T::kChoice, kOptional, "union", 0, 0, "union|separate", "several: as one, or two"},
    {"by",
     T::kChoice,
     kOptional,
     {},
     0,
     0,
     "forward|rebalance|hash|broadcast|rescale|shuffle|global",
     "how records find a subtask"},
    {"parallelism", T::kInteger, kOptional, {}, 1, kMostSubtasks, {}, "number of subtasks"},
    {"max_parallelism", T::kInteger, kOptional, {}, 1, kMostSubtasks, {}, "number of key groups"},
    {"cost", T::kDuration, kOptional, "1us", 0, kEver, {}, "of one record on a core of speed 1"},
    {"service",
     T::kDuration,
     kOptional,
     {},
     0,
     kEver,
     {},
     "of one record, in time, without a core"},
    {"chain", T::kChoice, kOptional, "always", 0, 0, "always|head|never", "ChainingStrategy"},
    {"slot_sharing_group", T::kName, kOptional, {}, 0, 0, {}, "whose subtasks may share its slots"},
    {"buffer_timeout", T::kDuration, kOptional, {}, 0, kEver, {}, "of what it sends"},
    {"from", T::kSection, kOptional, {}, 0, 0, {}, "sources: where the records are"},
    {"size",
     T::kSize,
     kOptional,
     {},
     kRecordBytesMin,
     kRecordBytesMax,
     {},
     "sources: bytes of a made-up record on the wire"},
    {"rate", T::kOther, kOptional, "max", 0, 0, {}, "sources: when they come into being"},
    {"then", T::kChoice, kOptional, "stay", 0, 0, "stay|finish", "sources: after the last one"},
    {"guarantee", T::kChoice, kOptional, "exactly_once", 0, 0, "exactly_once|at_least_once",
     "sinks: in transactions, or as they come"},
    {"keys", T::kSection, kOptional, {}, 0, 0, {}, "sources of shards: which keys come"},
    {"state", T::kSection, kOptional, {}, 0, 0, {}, "update: how much, and how often"},
});

constexpr std::array kSourceFromKeys = std::to_array<KeySpec>({
    {"file", T::kText, kOptional, {}, 0, 0, {}, "a text file, a record a line"},
    {"records", T::kInteger, kOptional, {}, 1, 1'000'000'000, {}, "so many that are made up"},
    {"repeat", T::kInteger, kOptional, "1", 1, 1'000'000, {}, "so many times, one after the other"},
    {"shards", T::kInteger, kOptional, {}, 1, 100'000, {}, "so many generators without an end"},
});

// A distribution keeps its keys in memory.
constexpr std::array kSourceKeysKeys = std::to_array<KeySpec>({
    {"distribution", T::kChoice, kRequired, {}, 0, 0, "balanced|uniform|zipf", "of the keys"},
    {"count", T::kInteger, kRequired, {}, 1, 10'000'000, {}, "so many keys there are"},
    {"active", T::kInteger, kOptional, {}, 1, 10'000'000, {}, "so many of them come; all"},
    {"exponent", T::kMilli, kOptional, "1", 0, 10'000, {}, "zipf: how uneven"},
});

constexpr std::array kKeyedStateKeys = std::to_array<KeySpec>({
    {"per_key", T::kSize, kRequired, {}, 1, 16'777'216, {}, "bytes of each key's value"},
    {"preload", T::kBoolean, kOptional, "false", 0, 0, {}, "a fresh job starts with all keys"},
    {"update", T::kPercent, kOptional, "100%", 0, 1'000'000, {}, "of the records replace a value"},
});

constexpr std::array kRateOverKeys = std::to_array<KeySpec>({
    {"over", T::kDuration, kOptional, {}, 1, kEver, {}, "all lines, evenly over that time"},
    {"csv", T::kOther, kNotYet, {}, 0, 0, {}, "rates from a file"},
});

constexpr std::array kTimelineKeys = std::to_array<KeySpec>({
    {"at", T::kDuration, kOptional, {}, 0, kEver, {}, "a time"},
    {"every", T::kDuration, kOptional, {}, 1, kEver, {}, "again and again"},
    {"from", T::kDuration, kOptional, {}, 0, kEver, {}, "with every: the first time"},
    {"until", T::kDuration, kOptional, {}, 0, kEver, {}, "with every: not at or after it"},
    {"when", T::kSection, kOptional, {}, 0, 0, {}, "a moment of the protocol"},
    {"for", T::kDuration, kOptional, {}, 1, kEver, {}, "how long it lasts"},
    {"back_after", T::kDuration, kOptional, {}, 0, kEver, {}, "until a new process starts"},
    {"optional", T::kBoolean, kOptional, "false", 0, 0, {}, "it need not happen"},
    {"kill", T::kSection, kOptional, {}, 0, 0, {}, "end a process"},
    {"vanish", T::kSection, kOptional, {}, 0, 0, {}, "cut its power"},
    {"slow", T::kSection, kOptional, {}, 0, 0, {}, "make a subtask slow"},
    {"pause", T::kSection, kOptional, {}, 0, 0, {}, "make it stand still"},
    {"fail", T::kSection, kOptional, {}, 0, 0, {}, "make it throw"},
    {"rescale", T::kOther, kOptional, {}, 0, 0, {}, "operator: parallelism"},
    {"storage", T::kSection, kOptional, {}, 0, 0, {}, "trouble in the checkpoint store"},
    {"savepoint", T::kFlag, kOptional, {}, 0, 0, {}, "take one"},
    {"checkpoint", T::kFlag, kOptional, {}, 0, 0, {}, "trigger one"},
    {"stop_with_savepoint", T::kSection, kOptional, {}, 0, 0, {}, "end the job, and the run"},
    {"cancel_with_savepoint", T::kFlag, kOptional, {}, 0, 0, {}, "take one, then cancel the job"},
    {"restart", T::kOther, kNotYet, {}, 0, 0, {}, "a process"},
    {"cut", T::kOther, kNotYet, {}, 0, 0, {}, "a link"},
    {"delay", T::kOther, kNotYet, {}, 0, 0, {}, "a link or a message"},
    {"throttle", T::kOther, kNotYet, {}, 0, 0, {}, "a link"},
    {"drop", T::kOther, kNotYet, {}, 0, 0, {}, "a message"},
    {"duplicate", T::kOther, kNotYet, {}, 0, 0, {}, "a message"},
    {"rate", T::kOther, kNotYet, {}, 0, 0, {}, "change the offered load"},
    {"configure", T::kOther, kNotYet, {}, 0, 0, {}, "change options at the next restart"},
    {"random", T::kOther, kNotYet, {}, 0, 0, {}, "faults drawn from rates"},
});

constexpr std::array kWhenKeys = std::to_array<KeySpec>({
    {"checkpoint", T::kInteger, kRequired, {}, 1, kEver, {}, "its id; savepoints count"},
    {"triggered", T::kFlag, kOptional, {}, 0, 0, {}, "it begins"},
    {"acknowledged", T::kInteger, kOptional, {}, 1, kEver, {}, "by so many subtasks"},
    {"completed", T::kFlag, kOptional, {}, 0, 0, {}, "and is stored"},
    {"storing", T::kFlag, kOptional, {}, 0, 0, {}, "its entry is on its way to the store"},
    {"stored", T::kFlag, kOptional, {}, 0, 0, {}, "it is there, and nobody knows yet"},
    {"barrier", T::kOther, kNotYet, {}, 0, 0, {}, "at a subtask"},
    {"committed", T::kOther, kNotYet, {}, 0, 0, {}, "a transaction"},
    {"restart", T::kOther, kNotYet, {}, 0, 0, {}, "a phase of a restart"},
});

constexpr std::array kTaskManagerTargetKeys = std::to_array<KeySpec>({
    {"task_manager", T::kInteger, kOptional, {}, 0, 9'999, {}, "its number"},
    {"task_manager_of", T::kText, kOptional, {}, 0, 0, {}, "whichever runs operator[subtask]"},
    {"job_manager", T::kFlag, kOptional, {}, 0, 0, {}, "the process in charge"},
});

constexpr std::array kSlowKeys = std::to_array<KeySpec>({
    {"operator", T::kText, kOptional, {}, 0, 0, {}, "with a number for `subtask`"},
    {"subtask", T::kText, kOptional, {}, 0, 0, {}, "a number, or operator[subtask]; all without"},
    {"factor", T::kMilli, kRequired, {}, 1, 1'000'000'000, {}, "its work takes so much longer"},
});

constexpr std::array kPauseKeys = std::to_array<KeySpec>({
    {"operator", T::kText, kOptional, {}, 0, 0, {}, "with a number for `subtask`"},
    {"subtask", T::kText, kOptional, {}, 0, 0, {}, "a number, or operator[subtask]"},
    {"task_manager", T::kInteger, kOptional, {}, 0, 9'999, {}, "its number"},
    {"task_manager_of", T::kText, kOptional, {}, 0, 0, {}, "whichever runs operator[subtask]"},
});

constexpr std::array kFailKeys = std::to_array<KeySpec>({
    {"operator", T::kText, kOptional, {}, 0, 0, {}, "with a number for `subtask`"},
    {"subtask", T::kText, kRequired, {}, 0, 0, {}, "a number, or operator[subtask]"},
});

constexpr std::array kStorageKeys = std::to_array<KeySpec>({
    {"error_rate", T::kPercent, kOptional, "0%", 0, 1'000'000, {}, "of requests that fail"},
    {"slow", T::kMilli, kOptional, "1", 1, 1'000'000'000, {}, "transfers take so much longer"},
    {"latency", T::kDuration, kOptional, "0s", 0, kEver, {}, "more per request"},
    {"full", T::kBoolean, kOptional, "false", 0, 0, {}, "every write fails"},
});

constexpr std::array kStopKeys = std::to_array<KeySpec>({
    {"drain", T::kBoolean, kOptional, "false", 0, 0, {}, "time is over: windows fire"},
});

constexpr std::array kPinKeys = std::to_array<KeySpec>({
    {"first_triggers", T::kOther, kOptional, {}, 0, 0, {}, "of the periodic checkpoints, times"},
    {"task_starts", T::kOther, kOptional, {}, 0, 0, {}, "operator[subtask]: times"},
});

constexpr std::array kCostsKeys = std::to_array<KeySpec>({
    {"serialise", T::kSection, kOptional, {}, 0, 0, {}, "records into buffers"},
    {"deserialise", T::kSection, kOptional, {}, 0, 0, {}, "records out of buffers"},
    {"snapshot_sync", T::kSection, kOptional, {}, 0, 0, {}, "while the task stands still"},
    {"snapshot_async", T::kSection, kOptional, {}, 0, 0, {}, "beside the task"},
    {"restore", T::kSection, kOptional, {}, 0, 0, {}, "state read at a restart"},
    {"checkpoint_finalise", T::kSection, kOptional, {}, 0, 0, {}, "at the job manager"},
    {"source_record", T::kDuration, kOptional, "1us", 0, kEver, {}, "of sources without a `cost`"},
    {"checkpoint_trigger",
     T::kDuration,
     kOptional,
     "0s",
     0,
     kEver,
     {},
     "1.20: making its location"},
    {"checkpoint_start", T::kDuration, kOptional, "0s", 0, kEver, {}, "from last barrier to own"},
    {"task_deployment", T::kDuration, kOptional, "0s", 0, kEver, {}, "until its thread begins"},
    {"threads", T::kSection, kOptional, {}, 0, 0, {}, "how they keep time"},
    {"slice", T::kDuration, kOptional, "1ms", 1'000, kEver, {}, "resolution of a task's work"},
});
constexpr std::array kThreadsKeys = std::to_array<KeySpec>({
    {"park",
     T::kDuration,
     kOptional,
     "0s",
     0,
     kEver,
     {},
     "with `service`: sleeps when so far ahead"},
    {"wake_up", T::kDuration, kOptional, "0s", 0, kEver, {}, "and wakes up so late"},
    {"gap", T::kDuration, kOptional, "0s", 0, kEver, {}, "catches up after a pause up to this"},
    {"catch_up", T::kDuration, kOptional, "0s", 0, kEver, {}, "and with so much at most"},
    {"timer_lateness", T::kDuration, kOptional, "0s", 0, kEver, {}, "of sleeping timer threads"},
    {"hiccup_share", T::kPercent, kOptional, "0%", 0, 1'000'000, {}, "of all sleeps"},
    {"hiccup", T::kDuration, kOptional, "0s", 0, kEver, {}, "last longer by up to this"},
});

// Starting points in the range of measured JVM figures; a scenario that cares states its own.
constexpr std::array kRecordPriceKeys = std::to_array<KeySpec>({
    {"per_record", T::kDuration, kOptional, "100ns", 0, kEver, {}, "of any size"},
    {"bandwidth", T::kBandwidth, kOptional, "1GB/s", 0, 0, {}, "of their bytes"},
});
constexpr std::array kEntryPriceKeys = std::to_array<KeySpec>({
    {"per_entry", T::kDuration, kOptional, "200ns", 0, kEver, {}, "of state"},
    {"fixed", T::kDuration, kOptional, "0s", 0, kEver, {}, "of each piece of work"},
    {"bandwidth", T::kBandwidth, kOptional, "500MB/s", 0, 0, {}, "of their bytes"},
});
constexpr std::array kSyncPriceKeys = std::to_array<KeySpec>({
    {"per_entry", T::kDuration, kOptional, "1ns", 0, kEver, {}, "bucket or list element"},
    {"bandwidth", T::kBandwidth, kOptional, "5GB/s", 0, 0, {}, "of their bytes"},
});
constexpr std::array kFinalisePriceKeys = std::to_array<KeySpec>({
    {"per_subtask", T::kDuration, kOptional, "10us", 0, kEver, {}, "of each subtask's state"},
    {"fixed", T::kDuration, kOptional, "0s", 0, kEver, {}, "of each piece of work"},
    {"bandwidth", T::kBandwidth, kOptional, "200MB/s", 0, 0, {}, "of the metadata"},
});

}  // namespace

const SectionSpec kScenarioSection{"", kScenarioKeys};
const SectionSpec kClusterSection{"cluster", kClusterKeys};
const SectionSpec kTaskManagersSection{"cluster.task_managers", kTaskManagersKeys};
const SectionSpec kNetworkSection{"cluster.network", kNetworkKeys};
const SectionSpec kDiskSection{"cluster.disk", kDiskKeys};
const SectionSpec kCheckpointStorageSection{"cluster.checkpoint_storage", kCheckpointStorageKeys};
const SectionSpec kJobManagerSection{"cluster.job_manager", kJobManagerKeys};
const SectionSpec kResourceManagerSection{"cluster.resource_manager", kResourceManagerKeys};
const SectionSpec kHighAvailabilitySection{"cluster.high_availability", kHighAvailabilityKeys};
const SectionSpec kJobSection{"job", kJobKeys};
const SectionSpec kOperatorSection{"job.operators[]", kOperatorKeys};
const SectionSpec kSourceFromSection{"job.operators[].from", kSourceFromKeys};
const SectionSpec kSourceKeysSection{"job.operators[].keys", kSourceKeysKeys};
const SectionSpec kKeyedStateSection{"job.operators[].state", kKeyedStateKeys};
const SectionSpec kRateOverSection{"job.operators[].rate", kRateOverKeys};
const SectionSpec kTimelineSection{"timeline[]", kTimelineKeys};
const SectionSpec kWhenSection{"timeline[].when", kWhenKeys};
const SectionSpec kTaskManagerTargetSection{"timeline[].kill", kTaskManagerTargetKeys};
const SectionSpec kSlowSection{"timeline[].slow", kSlowKeys};
const SectionSpec kPauseSection{"timeline[].pause", kPauseKeys};
const SectionSpec kFailSection{"timeline[].fail", kFailKeys};
const SectionSpec kStorageSection{"timeline[].storage", kStorageKeys};
const SectionSpec kStopSection{"timeline[].stop_with_savepoint", kStopKeys};
const SectionSpec kCostsSection{"costs", kCostsKeys};
const SectionSpec kThreadsSection{"costs.threads", kThreadsKeys};
const SectionSpec kPinSection{"pin", kPinKeys};
const SectionSpec kRecordPriceSection{"costs.serialise", kRecordPriceKeys};
const SectionSpec kEntryPriceSection{"costs.restore", kEntryPriceKeys};
const SectionSpec kSyncPriceSection{"costs.snapshot_sync", kSyncPriceKeys};
const SectionSpec kFinalisePriceSection{"costs.checkpoint_finalise", kFinalisePriceKeys};

const KeySpec* find_key(const SectionSpec& section, std::string_view key) {
  for (const KeySpec& spec : section.keys) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

std::span<const SectionSpec* const> all_sections() {
  static constexpr std::array kAll = std::to_array<const SectionSpec*>({&kScenarioSection,
                                                                        &kClusterSection,
                                                                        &kTaskManagersSection,
                                                                        &kNetworkSection,
                                                                        &kDiskSection,
                                                                        &kCheckpointStorageSection,
                                                                        &kJobManagerSection,
                                                                        &kResourceManagerSection,
                                                                        &kHighAvailabilitySection,
                                                                        &kJobSection,
                                                                        &kOperatorSection,
                                                                        &kSourceFromSection,
                                                                        &kSourceKeysSection,
                                                                        &kKeyedStateSection,
                                                                        &kRateOverSection,
                                                                        &kTimelineSection,
                                                                        &kWhenSection,
                                                                        &kTaskManagerTargetSection,
                                                                        &kSlowSection,
                                                                        &kPauseSection,
                                                                        &kFailSection,
                                                                        &kStorageSection,
                                                                        &kStopSection,
                                                                        &kPinSection,
                                                                        &kCostsSection,
                                                                        &kThreadsSection,
                                                                        &kRecordPriceSection,
                                                                        &kEntryPriceSection,
                                                                        &kSyncPriceSection,
                                                                        &kFinalisePriceSection});
  return kAll;
}

}  // namespace tailrace::scenarios
