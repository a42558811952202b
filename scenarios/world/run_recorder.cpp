#include "scenarios/world/run_recorder.hpp"

#include <algorithm>
#include <utility>

#include "scenarios/world/checkpoint_statistics.hpp"
#include "scenarios/world/series_recorder.hpp"
#include "scenarios/world/trace_kinds.hpp"

namespace tailrace::scenarios {

using analysis::CheckpointRow;
using analysis::CheckpointStatus;

void RunRecorder::trace(sim::TraceKind kind, std::int64_t a, std::int64_t b, std::int64_t c,
                        std::int64_t d, std::string_view text) {
  simulation_->trace().record({simulation_->now(), kind, {a, b, c, d}, text});
}

// --- what the world does -------------------------------------------------------------------------

void RunRecorder::job_submitted(engine::JobId job, std::int32_t subtasks) {
  // A source of 1.10 goes on while a synchronous savepoint completes (spec coordinator.md ):
  // what it reads meanwhile is read again by the next job, without any failure.
  settle_replayed();
  replays_are_of_restart_ = false;
  job_ = job;
  subtasks_ = static_cast<std::size_t>(subtasks);
  invariants_.on_job_submitted(job, simulation_->now());
  running_.clear();
  if (rescaling_ && rescales_.back().savepoint >= 0)
    rescales_.back().submitted = simulation_->now();
}

void RunRecorder::rescale_requested(std::string what, std::int64_t records_in_flight) {
  analysis::RescaleRow row;
  row.requested = simulation_->now();
  row.what = std::move(what);
  row.records_in_flight = records_in_flight;
  rescales_.push_back(std::move(row));
  rescaling_ = true;
}

void RunRecorder::rescale_savepoint(engine::CheckpointId savepoint) {
  if (!rescaling_) return;
  rescales_.back().savepoint = savepoint;
  rescales_.back().savepoint_ready = simulation_->now();
}

void RunRecorder::fault_injected() {
  last_fault_ = simulation_->now();
}

void RunRecorder::job_manager_lost(bool comes_back) {
  invariants_.on_job_manager_lost(simulation_->now());
  files_.on_job_manager_lost();
  cuts_.on_job_manager_lost();
  running_.clear();
  if (comes_back) begin_restart("The job manager died.");
}

void RunRecorder::settle_replayed() {
  if (!replayed_) return;
  const std::int64_t total = replayed_();
  if (replays_are_of_restart_) restarts_.back().records_replayed += total - replayed_before_;
  replayed_before_ = total;
}

void RunRecorder::fill(analysis::RunResult& result) {
  settle_replayed();
  result.checkpoints = std::move(checkpoints_);
  result.restarts = std::move(restarts_);
  result.rescales = std::move(rescales_);
  result.checkpoints_not_started = not_started_;
  result.acknowledged_late = acknowledged_late_;
  for (const auto& stats : checkpoint_stats_) {
    result.checkpoint_history.push_back(checkpoint_statistics(*stats));
  }
  if (stats_tracker_ != nullptr) {
    result.statistics_schema = statistics_schema(stats_tracker_->traits());
    result.checkpointing = checkpointing_statistics(*stats_tracker_);
  }
  result.last_fault = last_fault_;
}

// --- job -----------------------------------------------------------------------------------------

void RunRecorder::on_job_status(engine::JobId job, engine::JobStatus status) {
  status_ = status;
  trace(trace_kind::kJobStatus, job.value, static_cast<std::int64_t>(status));
  invariants_.on_job_status(job, status, simulation_->now());
  files_.on_job_status(job, status);
  if (status == engine::JobStatus::FINISHED && rescaling_ && job == job_) {
    rescales_.back().stopped = simulation_->now();
  }
}

void RunRecorder::on_execution_state(engine::JobId job, engine::SubtaskRef subtask,
                                     engine::ExecutionState state) {
  trace(trace_kind::kExecutionState, subtask.vertex, subtask.subtask, subtask.attempt_number,
        static_cast<std::int64_t>(state));
  if (job != job_) return;
  const std::pair key{subtask.vertex, subtask.subtask};
  if (state != engine::ExecutionState::RUNNING) {
    running_.erase(key);
    return;
  }
  running_.insert(key);
  if (!all_running()) return;
  if (!restarts_.empty() && !restarts_.back().running) {
    restarts_.back().running = simulation_->now();
  }
  if (rescaling_ && !rescales_.back().running && rescales_.back().savepoint >= 0) {
    rescales_.back().running = simulation_->now();
    rescaling_ = false;
  }
  if (series_ != nullptr) series_->job_running();
  if (running_listener_) running_listener_(job);
}

void RunRecorder::on_failover(engine::JobId, engine::SubtaskRef subtask, std::string_view cause,
                              bool restarts) {
  trace(trace_kind::kFailover, subtask.vertex, subtask.subtask, restarts ? 1 : 0, 0, cause);
  if (restarts) begin_restart(cause);
}

void RunRecorder::begin_restart(std::string_view cause) {
  settle_replayed();
  replays_are_of_restart_ = true;
  if (!restarts_.empty() && !restart_restored_) restarts_.back().overtaken = true;
  restart_restored_ = false;
  analysis::RestartRow row;
  row.failed = simulation_->now();
  row.cause = std::string(cause);
  restarts_.push_back(std::move(row));
}

void RunRecorder::on_restore(engine::JobId job, engine::CheckpointId restored) {
  trace(trace_kind::kRestore, restored);
  invariants_.on_restore(job, restored, simulation_->now());
  restart_restored_ = true;
  if (!restarts_.empty() && !restarts_.back().running) {
    restarts_.back().restored_checkpoint = restored;
  }
}

void RunRecorder::on_task_manager_registered(engine::ProcessId process) {
  trace(trace_kind::kTaskManagerRegistered, process.value);
}

void RunRecorder::on_task_manager_lost(engine::ProcessId process, std::string_view cause) {
  trace(trace_kind::kTaskManagerLost, process.value, 0, 0, 0, cause);
}

void RunRecorder::on_task_failed(engine::JobId job, engine::SubtaskRef subtask,
                                 std::string_view cause) {
  if (series_ != nullptr && job == job_) series_->task_failed(subtask, cause);
}

void RunRecorder::on_task_restored(engine::JobId, engine::SubtaskRef subtask,
                                   std::int64_t state_bytes) {
  trace(trace_kind::kTaskRestored, subtask.vertex, subtask.subtask, state_bytes);
}

// --- checkpoints -----------------------------------------------------------------------------------

CheckpointRow* RunRecorder::find(engine::CheckpointId id) {
  const auto found = std::find_if(checkpoints_.rbegin(), checkpoints_.rend(),
                                  [id](const CheckpointRow& row) { return row.id == id; });
  return found == checkpoints_.rend() ? nullptr : &*found;
}

void RunRecorder::on_checkpoint_stats_tracker(
    engine::JobId, std::shared_ptr<const engine::CheckpointStatsTracker> tracker) {
  stats_tracker_ = std::move(tracker);
}

void RunRecorder::on_checkpoint_triggered(engine::JobId job, const engine::CheckpointMetaData& meta,
                                          const engine::CheckpointOptions& options,
                                          std::int32_t tasks_to_acknowledge) {
  trace(trace_kind::kCheckpointTriggered, meta.id, static_cast<std::int64_t>(options.type),
        tasks_to_acknowledge);
  invariants_.on_triggered(job, meta.id, options.type, simulation_->now());
  files_.on_triggered(job, meta.id, options.type);
  cuts_.on_triggered(job, meta.id);
  CheckpointRow row;
  row.id = meta.id;
  row.savepoint = engine::is_savepoint(options.type);
  row.triggered = simulation_->now();
  row.subtasks = tasks_to_acknowledge;
  checkpoints_.push_back(std::move(row));
  // Worlds of tests may have a coordinator without statistics.
  if (stats_tracker_ != nullptr) {
    if (auto stats = stats_tracker_->find_in_progress(meta.id); stats != nullptr) {
      checkpoint_stats_.push_back(std::move(stats));
    }
  }
  if (listener_) listener_(CheckpointMoment::kTriggered, meta.id, 0);
}

void RunRecorder::on_checkpoint_acknowledged(engine::JobId, engine::CheckpointId id,
                                             engine::SubtaskRef subtask, std::int32_t acknowledged,
                                             const engine::CheckpointMetrics& metrics,
                                             std::int64_t state_bytes) {
  trace(trace_kind::kCheckpointAcknowledged, id, subtask.vertex, subtask.subtask, state_bytes);
  if (CheckpointRow* row = find(id); row != nullptr) {
    row->acknowledged = acknowledged;
    row->alignment_max = std::max(row->alignment_max, Duration{metrics.alignment_ns});
  }
  if (listener_) listener_(CheckpointMoment::kAcknowledged, id, acknowledged);
}

void RunRecorder::on_late_acknowledgement(engine::JobId, engine::CheckpointId id) {
  trace(trace_kind::kLateAcknowledgement, id);
  ++acknowledged_late_;
}

void RunRecorder::on_checkpoint_declined(engine::JobId, engine::CheckpointId id,
                                         engine::SubtaskRef subtask,
                                         engine::CheckpointFailureReason reason) {
  trace(trace_kind::kCheckpointDeclined, id, subtask.vertex, subtask.subtask,
        static_cast<std::int64_t>(reason));
}

void RunRecorder::on_checkpoint_completed(engine::JobId job, const engine::CheckpointMetaData& meta,
                                          const engine::CheckpointOptions& options,
                                          std::int64_t state_bytes) {
  trace(trace_kind::kCheckpointCompleted, meta.id, state_bytes);
  invariants_.on_completed(job, meta.id, options.type, simulation_->now());
  files_.on_completed(job, meta.id);
  cuts_.on_completed(job, meta.id);
  ++completed_;
  if (CheckpointRow* row = find(meta.id); row != nullptr) {
    row->status = CheckpointStatus::kCompleted;
    row->duration = simulation_->now() - row->triggered;
    row->state_bytes = state_bytes;
  }
  if (rescaling_ && engine::is_synchronous(options.type)) {
    rescale_savepoint(meta.id);
  }
  std::erase_if(met_barrier_, [&](const auto& met) { return std::get<0>(met) <= meta.id; });
  if (listener_) listener_(CheckpointMoment::kCompleted, meta.id, 0);
}

void RunRecorder::on_checkpoint_failed(engine::JobId job, engine::CheckpointId id,
                                       engine::CheckpointFailureReason reason) {
  trace(trace_kind::kCheckpointFailed, id, static_cast<std::int64_t>(reason));
  invariants_.on_failed(job, id, simulation_->now());
  files_.on_failed(job, id);
  cuts_.on_failed(job, id);
  CheckpointRow* row = find(id);
  if (row == nullptr) {
    ++not_started_;
    return;
  }
  if (row->status != CheckpointStatus::kPending) return;
  row->status = CheckpointStatus::kFailed;
  row->duration = simulation_->now() - row->triggered;
  row->failure = engine::to_string(reason);
}

// --- the highly available store --------------------------------------------------------------------

void RunRecorder::on_leader_granted(engine::ProcessId process) {
  trace(trace_kind::kLeaderGranted, process.value);
}

void RunRecorder::on_checkpoint_entry_sent(engine::JobId job, engine::CheckpointId id) {
  trace(trace_kind::kCheckpointEntry, job.value, id, 0);
  if (listener_) listener_(CheckpointMoment::kStoring, id, 0);
}

void RunRecorder::on_checkpoint_entry_written(engine::JobId job, engine::CheckpointId id,
                                              bool savepoint) {
  trace(trace_kind::kCheckpointEntry, job.value, id, 1);
  invariants_.on_entry_written(job, id, savepoint);
  files_.on_entry_written(job, id);
  if (listener_) listener_(CheckpointMoment::kStored, id, 0);
}

void RunRecorder::on_checkpoint_entry_removed(engine::JobId job, engine::CheckpointId id) {
  trace(trace_kind::kCheckpointEntry, job.value, id, 2);
  invariants_.on_entry_removed(job, id);
  files_.on_entry_removed(job, id);
}

void RunRecorder::on_checkpoint_entry_read(engine::JobId job, engine::CheckpointId id,
                                           bool readable) {
  trace(trace_kind::kCheckpointEntry, job.value, id, readable ? 3 : 4);
  invariants_.on_entry_read(job, id, readable);
}

void RunRecorder::on_barrier_processed(engine::JobId, engine::SubtaskRef subtask, std::int32_t,
                                       engine::ChannelIndex channel, engine::CheckpointId id) {
  trace(trace_kind::kBarrierProcessed, id, subtask.vertex, subtask.subtask, channel);
  CheckpointRow* row = find(id);
  if (row == nullptr || !met_barrier_.emplace(id, subtask.vertex, subtask.subtask).second) return;
  row->start_delay_max = std::max(row->start_delay_max, simulation_->now() - row->triggered);
}

void RunRecorder::on_snapshot_started(engine::JobId, engine::SubtaskRef subtask,
                                      engine::CheckpointId id, std::int64_t alignment_ns) {
  trace(trace_kind::kSnapshotStarted, id, subtask.vertex, subtask.subtask, alignment_ns);
}

// --- channels ------------------------------------------------------------------------------------

void RunRecorder::on_output_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                                std::int32_t subpartition, const engine::SubpartitionCut& cut) {
  cuts_.on_output_cut(job, partition, subpartition, cut);
}

void RunRecorder::on_input_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                               std::int32_t subpartition, const engine::InputCut& cut) {
  cuts_.on_input_cut(job, partition, subpartition, cut);
}

void RunRecorder::on_input_state(engine::JobId job, const engine::ResultPartitionId& partition,
                                 std::int32_t subpartition, engine::CheckpointId id,
                                 std::int64_t bytes) {
  cuts_.on_input_state(job, partition, subpartition, id, bytes);
}

}  // namespace tailrace::scenarios
