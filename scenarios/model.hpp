// A checked scenario: everything that a run needs to know, without units and without YAML.
//
// Made by load_scenario (scenario_file.hpp), which has reported every mistake that can be seen
// without running: whoever holds a Scenario may rely on names being resolved, on numbers being in
// range and on the job graph being acyclic. Positions are kept for the mistakes that show later.
//
// Numbers with decimals are integers here: factors and speeds in thousandths, shares in parts per
// million. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/expectation.hpp"
#include "engine/graph/stream_graph.hpp"
#include "scenarios/flink_options.hpp"
#include "scenarios/position.hpp"
#include "scenarios/shard_keys.hpp"
#include "sim/base/rate.hpp"
#include "sim/base/time.hpp"

namespace tailrace::scenarios {

using base::BytesPerSecond;
using base::Duration;
using base::Time;

// --- cluster ---------------------------------------------------------------------------------

struct TaskManagers {
  std::int32_t count = 1;
  std::int32_t slots = 1;  // per task manager
  std::int32_t cores = 1;
  std::int64_t speed_milli = 1000;  // of each core
  Position position;
};

struct Network {
  BytesPerSecond bandwidth;  // of each host, per direction
  Duration latency;          // one way
};

struct Disk {
  BytesPerSecond read;
  BytesPerSecond write;
  Duration latency;
};

struct CheckpointStorage {
  BytesPerSecond bandwidth;  // of all connections together
  // One pipe for each direction in its place.
  struct Directions {
    BytesPerSecond write;
    BytesPerSecond read;
  };
  std::optional<Directions> directions;
  BytesPerSecond per_connection;  // of one
  Duration request_latency;
};

enum class ResourceManagerKind : std::uint8_t { kStandalone, kActive };
struct ResourceManager {
  ResourceManagerKind kind = ResourceManagerKind::kStandalone;
  Duration notices_after;  // active only: from the death of a process to its notice
};

// How long the highly available store takes to serve a request, besides the way.
struct HighAvailabilityStore {
  Duration read;
  Duration write;
};

struct Cluster {
  TaskManagers task_managers;
  Network network;
  Disk disk;
  CheckpointStorage checkpoint_storage;
  Duration rpc_latency;  // one way, between any two processes
  ResourceManager resource_manager;
  HighAvailabilityStore high_availability;
};

// --- job -------------------------------------------------------------------------------------

enum class OperatorKind : std::uint8_t { kSource, kFlatMap, kMap, kKeyed, kSink };
enum class OperatorFunction : std::uint8_t { kNone, kTokenize, kIdentity, kCount, kUpdate };
enum class Guarantee : std::uint8_t { kExactlyOnce, kAtLeastOnce };

// How the lines of a source come into being.
struct OfferedLoad {
  enum class Kind : std::uint8_t { kMax, kOver, kSteps };
  // From `from` on, `records` lines come into being in each span of `per`.
  struct Step {
    Time from;
    std::int64_t records = 0;
    Duration per = Duration::seconds(1);
    bool max = false;  // `max`, the last step of a source of shards: each one when it is read
  };
  Kind kind = Kind::kMax;
  Duration over;            // kOver: all lines, evenly
  std::vector<Step> steps;  // kSteps: ascending, the first one at 0
};

// What `do: update` keeps.
struct KeyedState {
  std::int64_t bytes_per_key = 0;
  bool preload = false;
  std::int64_t update_ppm = 1'000'000;  // of the records replace the value of their key
};

struct OperatorSpec {
  std::string id;
  std::string uid;  // what the operator's state is known by; the id unless written
  OperatorKind kind = OperatorKind::kMap;
  OperatorFunction function = OperatorFunction::kNone;
  std::vector<std::int32_t> inputs;  // indices into Job::operators; none for sources
  bool separate_inputs = false;      // two inputs of their own, not one that reads both
  // While a file is read: a mistake says already that nobody knows what it reads.
  bool reads_unknown = false;
  engine::PartitionerKind partitioner = engine::PartitionerKind::kForward;  // of each input
  bool partitioner_is_default = false;                                      // nobody wrote `by`
  std::int32_t parallelism = 1;
  bool own_parallelism = false;       // written, not taken over from the input or the job
  std::int32_t max_parallelism = -1;  // -1: the job's
  engine::ChainingStrategy chaining = engine::ChainingStrategy::ALWAYS;
  Duration cost;                                  // of one record, on a core of speed 1
  bool own_cost = false;                          // written
  std::optional<Duration> service;                // of one record, in time; it then costs no CPU
  Guarantee guarantee = Guarantee::kExactlyOnce;  // sinks
  std::optional<std::string> slot_sharing_group;  // after the checks of the job there is one
  std::optional<Duration> buffer_timeout;         // of what it sends; none: the job's
  std::string file;                               // sources: a path that can be opened, or
  std::int64_t made_up_records = 0;               // so many records of `record_bytes` on the wire
  std::int64_t record_bytes = 0;
  std::int32_t repeats = 1;  // sources: how many times over the file is read
  std::int32_t shards = 0;   // sources: or so many generators without an end
  SourceKeys keys;           // of the shards
  OfferedLoad load;          // sources
  bool finite = false;       // sources: `then: finish`
  KeyedState state;          // kUpdate
  Position position;
  Position parallelism_position;
};

struct Job {
  std::int32_t max_parallelism = -1;    // -1: derived by Flink's rule
  std::vector<OperatorSpec> operators;  // as written
  Position position;
};

// --- timeline --------------------------------------------------------------------------------

enum class CheckpointMoment : std::uint8_t {
  kTriggered,
  kAcknowledged,
  kCompleted,
  kStoring,  // its entry is on its way to the highly available store
  kStored,   // it is there, and the job manager does not know yet
};

struct Anchor {
  enum class Kind : std::uint8_t { kAt, kEvery, kCheckpoint };
  Kind kind = Kind::kAt;
  Time at;                      // kAt
  Duration every;               // kEvery: at from, from + every, … before until
  Time from;                    // kEvery
  Time until = Time::max();     // kEvery
  std::int64_t checkpoint = 0;  // kCheckpoint: its id
  CheckpointMoment moment = CheckpointMoment::kTriggered;
  std::int32_t acknowledged = 0;  // kAcknowledged: how many have arrived, this one included
};

enum class ActionKind : std::uint8_t {
  kKill,               // a process ends: peers see closed connections
  kVanish,             // its power is cut: only heartbeats notice
  kSlow,               // a subtask's work takes `factor_milli` as long, for `lasts`
  kPause,              // a subtask or a whole task manager stands still, for `lasts`
  kFail,               // a subtask throws
  kRescale,            // stop with a savepoint, resubmit with other parallelisms
  kStorage,            // the checkpoint store misbehaves, for `lasts`
  kSavepoint,          // take one and go on
  kCheckpoint,         // trigger one by hand
  kStopWithSavepoint,  // the run ends with it
  kCancelWithSavepoint,
};
[[nodiscard]] const char* to_string(ActionKind action);

struct SubtaskTarget {
  std::int32_t op = 0;       // index into Job::operators
  std::int32_t subtask = 0;  // kSlow: -1 is all of them
};

// Either a task manager by its number, or whichever runs that subtask when it happens.
struct TaskManagerTarget {
  std::int32_t index = -1;
  std::optional<SubtaskTarget> running;
};

struct StorageTrouble {
  std::int64_t error_rate_ppm = 0;  // of the requests
  std::int64_t slow_milli = 1000;   // transfers take this much as long
  Duration extra_latency;           // per request
  bool full = false;                // every write fails
};

struct TimelineEntry {
  Anchor anchor;
  ActionKind action = ActionKind::kCheckpoint;
  std::optional<SubtaskTarget> subtask;           // kSlow, kPause, kFail
  std::optional<TaskManagerTarget> task_manager;  // kKill, kVanish, kPause
  bool job_manager = false;                       // kKill, kVanish: it, and no task manager
  std::optional<Duration> back_after;             // kKill, kVanish: none: it stays away
  std::optional<Duration> lasts;                  // `for`; none: to the end of the run
  std::int64_t factor_milli = 1000;               // kSlow
  struct Rescale {
    std::int32_t op = 0;
    std::int32_t parallelism = 1;
  };
  std::vector<Rescale> rescales;  // kRescale
  StorageTrouble storage;         // kStorage
  bool drain = false;             // kStopWithSavepoint
  bool optional = false;          // need not happen
  std::string text;               // for messages: "kill {task_manager_of: count[0]}"
  Position position;
};

// --- prices ----------------------------------------------------------------------------------

// What work costs on an idle core of speed 1: so much per item, and bytes at a bandwidth.
struct Price {
  Duration per_item;
  BytesPerSecond bandwidth;
  Duration fixed;  // of each piece of work, whatever it holds
};

// How threads keep time that serve records or sleep (engine/ports.hpp, ServiceRules).
struct ThreadTimes {
  Duration park;
  Duration wake_up;
  Duration gap;
  Duration catch_up;
  Duration timer_lateness;
  // Some sleeps last longer, by up to `hiccup`.
  std::int64_t hiccup_share_ppm = 0;
  Duration hiccup;
};

struct Costs {
  Price serialise;              // item: record
  Price deserialise;            // item: record
  Price snapshot_sync;          // item: hash bucket or list element
  Price snapshot_async;         // item: entry
  Price restore;                // item: entry
  Price checkpoint_finalise;    // item: subtask state, at the job manager
  Duration source_record;       // of sources that state no cost of their own
  Duration checkpoint_trigger;  // at the job manager
  Duration checkpoint_start;    // of a task, from its last barrier to its own
  Duration task_deployment;     // at the task manager, one task after the other
  ThreadTimes threads;
  Duration slice;  // resolution of a task's work, not a cost
};

// --- all of it -------------------------------------------------------------------------------

enum class EndOfRun : std::uint8_t { kDuration, kSourcesFinished, kIdle };

struct ScenarioExpectation {
  analysis::Expectation expectation;
  Position position;
};

// What chance or a machine would decide, fixed. Virtual times, ascending as they are used up.
struct Pins {
  std::vector<Time> first_triggers;  // of each start of the periodic scheduler
  struct TaskStarts {
    SubtaskTarget subtask;
    std::vector<Time> times;  // of its attempts
    Position position{};
  };
  std::vector<TaskStarts> task_starts;
};

struct Scenario {
  // [0] the file's path, then "--set path=value" as given, then the profile's path.
  std::vector<std::string> sources;
  std::string name;
  std::string about;
  std::uint64_t seed = 1;
  EndOfRun ends_at = EndOfRun::kDuration;
  // With kDuration the length of the run; otherwise the time after which it ends all the same.
  Duration duration = Duration::max();
  bool stop_with_savepoint = true;  // `end: stop`; false: `end: cut`

  Cluster cluster;
  Job job;
  FlinkOptions flink;
  std::vector<TimelineEntry> timeline;  // as written
  std::vector<ScenarioExpectation> expectations;
  Costs costs;
  std::string profile;  // name; empty: none
  Pins pins;

  // What the reader of a run should know: options of Flink that have no effect here.
  std::vector<std::string> notes;

  // Index of an operator, or -1.
  [[nodiscard]] std::int32_t find_operator(const std::string& id) const;
};

// "file.yaml:12:5", or the text of the option.
[[nodiscard]] std::string describe(const Scenario& scenario, Position position);

}  // namespace tailrace::scenarios
