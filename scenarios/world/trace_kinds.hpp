// What the records of a trace are about. The numbers are part of every trace hash: add at the end.
#pragma once

#include "sim/trace.hpp"

namespace tailrace::scenarios {

namespace trace_kind {
inline constexpr sim::TraceKind kJobStatus{1};               // job, status
inline constexpr sim::TraceKind kExecutionState{2};          // vertex, subtask, attempt, state
inline constexpr sim::TraceKind kFailover{3};                // vertex, subtask, restarts; cause
inline constexpr sim::TraceKind kRestore{4};                 // checkpoint
inline constexpr sim::TraceKind kTaskManagerRegistered{5};   // process
inline constexpr sim::TraceKind kTaskManagerLost{6};         // process; cause
inline constexpr sim::TraceKind kCheckpointTriggered{7};     // id, type, tasks
inline constexpr sim::TraceKind kCheckpointAcknowledged{8};  // id, vertex, subtask, state bytes
inline constexpr sim::TraceKind kCheckpointDeclined{9};      // id, vertex, subtask, reason
inline constexpr sim::TraceKind kCheckpointCompleted{10};    // id, state bytes
inline constexpr sim::TraceKind kCheckpointFailed{11};       // id, reason
inline constexpr sim::TraceKind kBarrierProcessed{12};       // id, vertex, subtask, channel
inline constexpr sim::TraceKind kSnapshotStarted{13};        // id, vertex, subtask, alignment ns
inline constexpr sim::TraceKind kTaskRestored{14};           // vertex, subtask, state bytes
inline constexpr sim::TraceKind kTimelineAction{15};         // entry, action
inline constexpr sim::TraceKind kProcessStarted{16};         // process, task manager
inline constexpr sim::TraceKind kProcessDied{17};            // process, task manager
inline constexpr sim::TraceKind kEffects{18};                // sink, effects, hash of them
inline constexpr sim::TraceKind kLateAcknowledgement{19};    // checkpoint
inline constexpr sim::TraceKind kLeaderGranted{20};          // process
// Of the highly available store: job, checkpoint; 0 sent, 1 written, 2 removed, 3 read, 4 unreadable.
inline constexpr sim::TraceKind kCheckpointEntry{21};
}  // namespace trace_kind

}  // namespace tailrace::scenarios
