// One run of a scenario: the cluster, the job on it, what the timeline does to both, and the end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/completed_checkpoint.hpp"
#include "engine/scheduling/checkpointing.hpp"
#include "engine/scheduling/job_manager.hpp"
#include "scenarios/run_scenario.hpp"
#include "scenarios/world/job_builder.hpp"
#include "scenarios/world/run_recorder.hpp"
#include "scenarios/world/series_recorder.hpp"
#include "scenarios/world/simulated_cluster.hpp"
#include "sim/base/lifeline.hpp"
#include "sim/simulation.hpp"

namespace tailrace::scenarios {

class ScenarioRun final : private engine::JobListener {
 public:
  ScenarioRun(const Scenario& scenario, const RunOptions& options);
  ~ScenarioRun();
  ScenarioRun(const ScenarioRun&) = delete;
  ScenarioRun& operator=(const ScenarioRun&) = delete;

  // From the first event to the last. Once.
  void play();
  // What came of it. Once, after play().
  [[nodiscard]] RunOutcome collect();

  // For tests that look into a run while it is under way: runs to `until` and comes back.
  void advance(Time until);
  [[nodiscard]] SimulatedCluster& cluster() { return cluster_; }
  [[nodiscard]] RunRecorder& recorder() { return recorder_; }
  [[nodiscard]] sim::Simulation& simulation() { return simulation_; }

 private:
  struct ActiveSlowDown {
    std::size_t entry = 0;
    SubtaskTarget target;
    std::int64_t factor_milli = 1000;
  };

  void start();
  void start_job_manager();
  void submit();
  void on_leader(const std::vector<engine::JobId>& recovered);
  void submitted(engine::JobId job);
  void on_job_terminated(engine::JobId job, engine::JobStatus status,
                         const std::string& cause) override;

  // Timeline
  void arm_timeline();
  void arm_repetition(std::size_t entry, Time at);
  void checkpoint_moment(CheckpointMoment moment, engine::CheckpointId id,
                         std::int32_t acknowledged);
  void fire(std::size_t entry);
  // Returns: whether it hit anything.
  bool perform(std::size_t entry);
  bool kill(const TimelineEntry& entry, bool silently);
  bool kill_job_manager(const TimelineEntry& entry, bool silently);
  // Nobody knows of the job any more.
  void job_lost(const std::string& cause);
  // Brings a process back that has just died, whoever does that.
  void bring_back(const TimelineEntry& entry, base::InplaceFunction<void()> start);
  bool slow(std::size_t entry);
  bool pause(const TimelineEntry& entry);
  bool fail(const TimelineEntry& entry);
  bool trouble_storage(const TimelineEntry& entry);
  void next_rescale();
  void apply_slow_downs();
  // For how long an entry lasts; `back` undoes it.
  void after(const std::optional<Duration>& lasts, base::Callback back);

  // The client of the job manager
  void ask();
  void ask_again_later();
  void refused();
  void ask_to_rescale(std::size_t entry);
  void ask_to_stop();
  void on_running(engine::JobId job);

  // The end
  void request_end(analysis::FinishReason reason);
  void stop(analysis::FinishReason reason);
  void finish_by_itself();
  void finish();

  const Scenario* scenario_;
  RunOptions options_;
  sim::Simulation simulation_;
  RunRecorder recorder_;
  std::unique_ptr<SeriesRecorder> series_;  // null: nobody asked for a series
  SimulatedCluster cluster_;
  JobEnds ends_;
  std::unique_ptr<engine::CheckpointingFactory> checkpointing_;
  engine::UniqueIds ids_;
  std::unique_ptr<engine::HighAvailabilityClient> high_availability_;
  std::unique_ptr<engine::JobManager> job_manager_;  // null: dead

  engine::JobId job_;
  std::vector<std::int32_t> parallelism_;  // by operator, of the current submission
  std::vector<bool> hit_;                  // by timeline entry
  std::vector<ActiveSlowDown> slow_downs_;
  std::int64_t storage_troubles_ = 0;         // so many have begun
  std::deque<std::size_t> waiting_rescales_;  // timeline entries
  std::optional<std::size_t> rescaling_;      // the one under way
  bool has_run_ = false;                      // job_ has been RUNNING
  std::unique_ptr<base::Lifeline> request_;   // what the client waits for; gone: nothing

  std::optional<analysis::FinishReason> ending_;
  bool drain_ = false;      // of the stop
  bool job_ended_ = false;  // by itself or for good
  bool finished_by_itself_ = false;
  bool started_ = false;
  bool submitted_ = false;
  std::string failure_;  // of a FAILED job
  engine::CompletedCheckpointPtr final_savepoint_;
  std::optional<std::size_t> stopping_entry_;       // of the timeline: `stop_with_savepoint`
  engine::CompletedCheckpointPtr canceled_behind_;  // the savepoint of `cancel_with_savepoint`
};

}  // namespace tailrace::scenarios
