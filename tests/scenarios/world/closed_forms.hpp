// What closed forms need to know of a run: how much is between two operators, and when each moment
// of a checkpoint came. Nothing here knows how the engine arrives at it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/task.hpp"
#include "scenarios/world/scenario_run.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "tests/scenarios/world/library_runs.hpp"

namespace tailrace::scenarios {

inline const OperatorSpec& operator_of(const Scenario& scenario, const std::string& id) {
  return scenario.job.operators.at(static_cast<std::size_t>(scenario.find_operator(id)));
}

inline double seconds(Duration duration) {
  return static_cast<double>(duration.ns) / 1e9;
}

// Seconds that the network card of a host takes for so many bytes.
inline double wire_time(const Scenario& scenario, std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(scenario.cluster.network.bandwidth.value);
}

// Seconds that a subtask takes for a record that it reads and does not send on: the operators of its
// chain, and the deserialiser.
inline double service_time(const Scenario& scenario, const std::vector<std::string>& chain,
                           std::int64_t record_bytes) {
  Duration total = scenario.costs.deserialise.per_item;
  for (const std::string& id : chain) total += operator_of(scenario, id).cost;
  return seconds(total) + static_cast<double>(record_bytes) /
                              static_cast<double>(scenario.costs.deserialise.bandwidth.value);
}

// One subtask of one operator, while the run is under way. Requires: it runs.
inline const engine::StreamTask& task_of(ScenarioRun& run, const Scenario& scenario,
                                         const std::string& id, std::int32_t subtask = 0) {
  return *run.cluster().locate(scenario.find_operator(id), subtask)->task->invokable();
}

// Records that all subtasks of an operator have handed to the network, or taken from it.
inline std::int64_t records_out(ScenarioRun& run, const Scenario& scenario, const std::string& id) {
  std::int64_t records = 0;
  for (std::int32_t i = 0; i < operator_of(scenario, id).parallelism; ++i) {
    records += task_of(run, scenario, id, i).records_out();
  }
  return records;
}
inline std::int64_t records_in(ScenarioRun& run, const Scenario& scenario, const std::string& id) {
  std::int64_t records = 0;
  for (std::int32_t i = 0; i < operator_of(scenario, id).parallelism; ++i) {
    records += task_of(run, scenario, id, i).records_in();
  }
  return records;
}

// What turns all exchanges of aligned-exchanges but the first ones into chains.
inline std::vector<std::string> fewer_exchanges(std::int32_t exchanges) {
  std::vector<std::string> sets;
  if (exchanges < 3) {
    sets.insert(sets.end(), {"job.operators.out.by=forward",
                             exchanges < 2 ? "job.operators.out.slot_sharing_group=first"
                                           : "job.operators.out.slot_sharing_group=second"});
  }
  if (exchanges < 2) {
    sets.insert(sets.end(), {"job.operators.second.by=forward",
                             "job.operators.second.slot_sharing_group=first"});
  }
  return sets;
}

// The moments of one checkpoint.
struct CheckpointMoments {
  struct Subtask {
    Time first_barrier;
    Time last_barrier;
    std::int32_t barriers = 0;
    [[nodiscard]] Duration alignment() const { return last_barrier - first_barrier; }
  };
  Time triggered;
  bool completed = false;
  Time last_acknowledgement;
  std::int64_t written_before_barrier = 0;  // records, by all subtasks of all sources
  std::int64_t taken_at_trigger = 0;        // records, by all subtasks of the last operator
  std::map<std::pair<std::int32_t, std::int32_t>, Subtask> subtasks;  // by vertex and subtask

  [[nodiscard]] Duration end_to_end() const { return last_acknowledgement - triggered; }
  [[nodiscard]] std::int64_t records_under_way() const {
    return written_before_barrier - taken_at_trigger;
  }
};

// Plays a scenario and takes down the moments of its checkpoints. The sources send to the network;
// `last` reads from it, and does not send on.
class CheckpointWatch {
 public:
  CheckpointWatch(const Scenario& scenario, std::vector<std::string> sources, std::string last)
      : scenario_(scenario),
        sources_(std::move(sources)),
        last_(std::move(last)),
        run_(scenario, RunOptions{}) {
    run_.simulation().trace().set_sink([this](const sim::TraceRecord& record) { see(record); });
    run_.play();
    run_.simulation().trace().set_sink({});
    outcome_ = run_.collect();
  }

  // By id.
  [[nodiscard]] const std::map<std::int64_t, CheckpointMoments>& checkpoints() const {
    return checkpoints_;
  }
  [[nodiscard]] std::int32_t vertex_of(const std::string& id) const { return vertices_.at(id); }
  [[nodiscard]] RunOutcome& outcome() { return outcome_; }

 private:
  void see(const sim::TraceRecord& record) {
    if (record.kind == trace_kind::kCheckpointTriggered) {
      CheckpointMoments& checkpoint = checkpoints_[record.fields[0]];
      checkpoint.triggered = record.at;
      checkpoint.taken_at_trigger = records_in(run_, scenario_, last_);
      for (const OperatorSpec& op : scenario_.job.operators) {
        vertices_[op.id] = task_of(run_, scenario_, op.id).descriptor().vertex;
      }
    } else if (record.kind == trace_kind::kSnapshotStarted) {
      for (const std::string& source : sources_) {
        if (record.fields[1] != vertices_.at(source)) continue;
        checkpoints_[record.fields[0]].written_before_barrier +=
            task_of(run_, scenario_, source, static_cast<std::int32_t>(record.fields[2]))
                .records_out();
      }
    } else if (record.kind == trace_kind::kBarrierProcessed) {
      CheckpointMoments::Subtask& subtask =
          checkpoints_[record.fields[0]].subtasks[{static_cast<std::int32_t>(record.fields[1]),
                                                   static_cast<std::int32_t>(record.fields[2])}];
      if (subtask.barriers++ == 0) subtask.first_barrier = record.at;
      subtask.last_barrier = record.at;
    } else if (record.kind == trace_kind::kCheckpointAcknowledged) {
      checkpoints_[record.fields[0]].last_acknowledgement = record.at;
    } else if (record.kind == trace_kind::kCheckpointCompleted) {
      checkpoints_[record.fields[0]].completed = true;
    }
  }

  const Scenario& scenario_;
  std::vector<std::string> sources_;
  std::string last_;
  ScenarioRun run_;
  std::map<std::string, std::int32_t> vertices_;  // by operator
  std::map<std::int64_t, CheckpointMoments> checkpoints_;
  RunOutcome outcome_;
};

}  // namespace tailrace::scenarios
