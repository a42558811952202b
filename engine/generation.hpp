// The seam between the two generations of Flink: the only place that looks at the version.
//
// Rooms keep what differs in `f110/` and `f120/` under Flink's class names; this header makes the
// right ones. Small differences are named fields of `Semantics`. A test over the source text
// forbids `Generation::` anywhere else.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/ids.hpp"

namespace tailrace::engine {

class CheckpointListener;
class CheckpointedInputs;
class CheckpointingFactory;
class Clock;
struct CheckpointedInputsOptions;
struct InputToCheckpoint;
struct NetworkSemantics;
struct SchedulingSemantics;
struct SubtaskEdges;
struct TaskSemantics;

// "1.10" or "1.20", as a scenario writes it.
[[nodiscard]] constexpr std::string_view name_of(Generation generation) {
  return generation == Generation::kFlink110 ? "1.10" : "1.20";
}

// Whether savepoints join the completed checkpoints that a job restarts from (1.10; ).
[[nodiscard]] constexpr bool stores_savepoints(Generation generation) {
  return generation == Generation::kFlink110;
}

// Whether Flink itself brings high availability over Kubernetes (1.20); both bring ZooKeeper's.
[[nodiscard]] constexpr bool brings_kubernetes_high_availability(Generation generation) {
  return generation == Generation::kFlink120;
}

// What a task reads through (engine/barrier/checkpointed_inputs.hpp): all gates behind one barrier
// handler. Borrows gates, observers, listener and clock.
// Requires: at least one gate.
[[nodiscard]] std::unique_ptr<CheckpointedInputs> make_checkpointed_inputs(
    Generation generation, std::span<const InputToCheckpoint> inputs,
    const CheckpointedInputsOptions& options, CheckpointListener& listener, const Clock& clock);

// What the network stacks of a cluster do (engine/network/network_semantics.hpp); for NetworkConfig.
[[nodiscard]] const NetworkSemantics& network_semantics(Generation generation);

// What tasks do (engine/task/task_semantics.hpp).
[[nodiscard]] const TaskSemantics& task_semantics(Generation generation);

// How subtasks are connected (engine/graph/subtask_edges.hpp); for JobGraph.
[[nodiscard]] const SubtaskEdges& subtask_edges(Generation generation);

// What schedulers do (engine/scheduling/scheduling_semantics.hpp).
[[nodiscard]] const SchedulingSemantics& scheduling_semantics(Generation generation);

// What makes a job's coordinator (engine/scheduling/checkpointing.hpp).
[[nodiscard]] std::unique_ptr<CheckpointingFactory> make_checkpointing_factory(
    Generation generation);

}  // namespace tailrace::engine
