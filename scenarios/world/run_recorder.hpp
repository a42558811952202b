// Watches a run: writes the trace and gathers the rows of the result.
//
// Sees only what engine/observer.hpp tells and what the world does to the cluster; decides nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/run_result.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/observer.hpp"
#include "scenarios/model.hpp"
#include "scenarios/world/channel_cuts.hpp"
#include "scenarios/world/checkpoint_files.hpp"
#include "scenarios/world/checkpoint_invariants.hpp"
#include "sim/base/callback.hpp"
#include "sim/simulation.hpp"

namespace tailrace::scenarios {

class SeriesRecorder;

class RunRecorder final : public engine::Observer {
 public:
  // A moment of the checkpoint protocol that a timeline may wait for.
  using CheckpointListener = base::InplaceFunction<void(CheckpointMoment, engine::CheckpointId,
                                                        std::int32_t acknowledged)>;

  RunRecorder(sim::Simulation& simulation, const CheckpointRules& rules,
              const CheckpointFiles::Rules& files)
      : simulation_(&simulation), invariants_(rules), files_(files) {}

  // Null: nobody asked for a series. Outlives this.
  void set_series(SeriesRecorder* series) { series_ = series; }
  void set_checkpoint_listener(CheckpointListener listener) { listener_ = std::move(listener); }
  // Runs when all subtasks of the job run (again).
  void set_running_listener(base::InplaceFunction<void(engine::JobId)> listener) {
    running_listener_ = std::move(listener);
  }

  // From the world.
  void job_submitted(engine::JobId job, std::int32_t subtasks);
  void rescale_requested(std::string what, std::int64_t records_in_flight);
  void rescale_savepoint(engine::CheckpointId savepoint);
  void fault_injected();
  // `comes_back`: another leader will take the job over, which counts as a restart.
  void job_manager_lost(bool comes_back);
  void trace(sim::TraceKind kind, std::int64_t a = 0, std::int64_t b = 0, std::int64_t c = 0,
             std::int64_t d = 0, std::string_view text = {});
  // Lines that the sources have read again so far; attributed to the restart before.
  void set_replay_counter(base::InplaceFunction<std::int64_t()> counter) {
    replayed_ = std::move(counter);
  }

  [[nodiscard]] bool all_running() const { return running_.size() == subtasks_ && subtasks_ > 0; }
  [[nodiscard]] engine::JobStatus job_status() const { return status_; }
  [[nodiscard]] std::int64_t checkpoints_completed() const { return completed_; }
  [[nodiscard]] const ChannelCuts& channel_cuts() const { return cuts_; }
  // What must hold at the end of a run that was not broken off. `blobs`: a map by path.
  template <typename Blobs>
  void check_end(const Blobs& blobs) const {
    invariants_.check_liveness(simulation_->now());
    files_.check(blobs);
  }
  // Moves the rows into the result.
  void fill(analysis::RunResult& result);

  // engine::Observer
  void on_job_status(engine::JobId job, engine::JobStatus status) override;
  void on_execution_state(engine::JobId job, engine::SubtaskRef subtask,
                          engine::ExecutionState state) override;
  void on_failover(engine::JobId job, engine::SubtaskRef subtask, std::string_view cause,
                   bool restarts) override;
  void on_restore(engine::JobId job, engine::CheckpointId restored) override;
  void on_task_manager_registered(engine::ProcessId process) override;
  void on_task_manager_lost(engine::ProcessId process, std::string_view cause) override;
  void on_checkpoint_stats_tracker(
      engine::JobId job, std::shared_ptr<const engine::CheckpointStatsTracker> tracker) override;
  void on_checkpoint_triggered(engine::JobId job, const engine::CheckpointMetaData& meta,
                               const engine::CheckpointOptions& options,
                               std::int32_t tasks_to_acknowledge) override;
  void on_checkpoint_acknowledged(engine::JobId job, engine::CheckpointId id,
                                  engine::SubtaskRef subtask, std::int32_t acknowledged,
                                  const engine::CheckpointMetrics& metrics,
                                  std::int64_t state_bytes) override;
  void on_late_acknowledgement(engine::JobId job, engine::CheckpointId id) override;
  void on_checkpoint_declined(engine::JobId job, engine::CheckpointId id,
                              engine::SubtaskRef subtask,
                              engine::CheckpointFailureReason reason) override;
  void on_checkpoint_completed(engine::JobId job, const engine::CheckpointMetaData& meta,
                               const engine::CheckpointOptions& options,
                               std::int64_t state_bytes) override;
  void on_checkpoint_cleaning(engine::JobId job, engine::CheckpointId id, bool begins) override {
    files_.on_cleaning(job, id, begins);
    invariants_.on_cleaning(simulation_->now(), begins);
  }
  void on_checkpoint_failed(engine::JobId job, engine::CheckpointId id,
                            engine::CheckpointFailureReason reason) override;
  void on_checkpoint_entry_sent(engine::JobId job, engine::CheckpointId id) override;
  void on_checkpoint_entry_written(engine::JobId job, engine::CheckpointId id,
                                   bool savepoint) override;
  void on_checkpoint_entry_removed(engine::JobId job, engine::CheckpointId id) override;
  void on_checkpoint_entry_read(engine::JobId job, engine::CheckpointId id, bool readable) override;
  void on_leader_granted(engine::ProcessId process) override;
  void on_barrier_processed(engine::JobId job, engine::SubtaskRef subtask, std::int32_t gate,
                            engine::ChannelIndex channel, engine::CheckpointId id) override;
  void on_snapshot_started(engine::JobId job, engine::SubtaskRef subtask, engine::CheckpointId id,
                           std::int64_t alignment_ns) override;
  void on_task_failed(engine::JobId job, engine::SubtaskRef subtask,
                      std::string_view cause) override;
  void on_output_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                     std::int32_t subpartition, const engine::SubpartitionCut& cut) override;
  void on_input_cut(engine::JobId job, const engine::ResultPartitionId& partition,
                    std::int32_t subpartition, const engine::InputCut& cut) override;
  void on_input_state(engine::JobId job, const engine::ResultPartitionId& partition,
                      std::int32_t subpartition, engine::CheckpointId id,
                      std::int64_t bytes) override;
  void on_task_restored(engine::JobId job, engine::SubtaskRef subtask,
                        std::int64_t state_bytes) override;

 private:
  [[nodiscard]] analysis::CheckpointRow* find(engine::CheckpointId id);
  void settle_replayed();
  void begin_restart(std::string_view cause);

  sim::Simulation* simulation_;
  SeriesRecorder* series_ = nullptr;
  CheckpointInvariants invariants_;
  CheckpointFiles files_;
  ChannelCuts cuts_;
  CheckpointListener listener_;
  base::InplaceFunction<void(engine::JobId)> running_listener_;
  base::InplaceFunction<std::int64_t()> replayed_;

  engine::JobId job_;
  std::size_t subtasks_ = 0;
  engine::JobStatus status_ = engine::JobStatus::CREATED;
  std::set<std::pair<std::int32_t, std::int32_t>> running_;  // subtasks in RUNNING
  std::int64_t completed_ = 0;
  std::int64_t not_started_ = 0;
  std::int64_t acknowledged_late_ = 0;

  std::vector<analysis::CheckpointRow> checkpoints_;
  // Of the last coordinator that was made, and of each checkpoint of any.
  std::shared_ptr<const engine::CheckpointStatsTracker> stats_tracker_;
  std::vector<std::shared_ptr<const engine::CheckpointStats>> checkpoint_stats_;
  std::vector<analysis::RestartRow> restarts_;
  std::vector<analysis::RescaleRow> rescales_;
  bool rescaling_ = false;
  std::int64_t replayed_before_ = 0;  // what was settled already
  // Lines read again now belong to the last restart: since the last start of a job, it failed.
  bool replays_are_of_restart_ = false;
  bool restart_restored_ = true;  // the last failure's tasks have been reset
  std::optional<Time> last_fault_;
  // Subtasks that have met a barrier of a pending checkpoint.
  std::set<std::tuple<engine::CheckpointId, std::int32_t, std::int32_t>> met_barrier_;
};

}  // namespace tailrace::scenarios
