#include "scenarios/world/scenario_run.hpp"

#include <algorithm>
#include <utility>

#include "engine/generation.hpp"
#include "engine/task/stream_task.hpp"
#include "scenarios/diagnostics.hpp"
#include "scenarios/world/job_settings.hpp"
#include "scenarios/world/run_collector.hpp"
#include "scenarios/world/trace_kinds.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::scenarios {
namespace {

// The client gives up on a job that it cannot stop for so long, and the run ends as it stands.
constexpr Duration kClientPatience = Duration::seconds(3600);
// Runs that wait for something that never happens end here.
constexpr Duration kLongestRun = Duration::seconds(24 * 3600);
// How often somebody who watches is told, in virtual time.
constexpr Duration kProgressEvery = Duration::millis(100);

// All operators share one slot sharing group, so a job takes as many slots as its widest operator has
// subtasks, all at once (spec rescale.md S-6.29, S-6.30). One that never finds them would never run.
const Scenario& with_enough_slots(const Scenario& scenario) {
  const TaskManagers& managers = scenario.cluster.task_managers;
  const std::int64_t slots = static_cast<std::int64_t>(managers.count) * managers.slots;
  const auto check = [&](const OperatorSpec& op, std::int32_t parallelism, Position position) {
    if (parallelism <= slots) return;
    throw ScenarioError(describe(scenario, position) + ": " + op.id + " with a parallelism of " +
                        std::to_string(parallelism) + " needs as many slots; the cluster has " +
                        std::to_string(slots) + " (cluster.task_managers: count times slots)");
  };
  for (const OperatorSpec& op : scenario.job.operators) {
    check(op, op.parallelism, op.parallelism_position);
  }
  for (const TimelineEntry& entry : scenario.timeline) {
    for (const TimelineEntry::Rescale& change : entry.rescales) {
      check(scenario.job.operators[static_cast<std::size_t>(change.op)], change.parallelism,
            entry.position);
    }
  }
  return scenario;
}

CheckpointRules checkpoint_rules(const Scenario& scenario) {
  const engine::JobSubmission job = job_settings(scenario);
  const engine::CheckpointConfig& config = job.checkpoints;
  CheckpointRules rules;
  rules.interval = config.interval;
  rules.timeout = config.timeout;
  rules.min_pause = config.min_pause;
  rules.max_concurrent = config.max_concurrent;
  rules.retained = config.max_retained;
  rules.savepoints_forced = !config.unaligned;
  rules.savepoints_stored = engine::stores_savepoints(job.tasks.generation);
  rules.prefer_checkpoint_for_recovery = config.prefer_checkpoint_for_recovery;
  rules.highly_available = scenario.flink.high_availability != HighAvailabilityMode::NONE;
  const Cluster& cluster = scenario.cluster;
  rules.store_and_calls = 4 * cluster.rpc_latency;
  if (rules.highly_available) {
    // The last completion stores an entry and removes others, then the next trigger draws its number.
    const Duration request =
        cluster.high_availability.read + cluster.high_availability.write + 2 * cluster.rpc_latency;
    rules.store_and_calls += (4 + 3 * (config.max_retained + 1)) * request;
  }
  return rules;
}

CheckpointFiles::Rules file_rules(const Scenario& scenario) {
  const engine::CheckpointConfig config = job_settings(scenario).checkpoints;
  return {.retained = config.max_retained,
          .highly_available = scenario.flink.high_availability != HighAvailabilityMode::NONE,
          .retention = config.retention};
}

}  // namespace

ScenarioRun::ScenarioRun(const Scenario& scenario, const RunOptions& options)
    : scenario_(&with_enough_slots(scenario)),
      options_(options),
      recorder_(simulation_, checkpoint_rules(scenario), file_rules(scenario)),
      cluster_(scenario, simulation_, recorder_),
      ends_(make_job_ends(scenario, *cluster_.job_manager_ports().clock)),
      checkpointing_(engine::make_checkpointing_factory(scenario.flink.generation)),
      parallelism_(initial_parallelism(scenario)),
      hit_(scenario.timeline.size(), false) {
  if (!options.series) return;
  series_ = std::make_unique<SeriesRecorder>(scenario, *options.series,
                                             *cluster_.job_manager_ports().clock, ends_);
  recorder_.set_series(series_.get());
}

ScenarioRun::~ScenarioRun() = default;

void ScenarioRun::start() {
  started_ = true;
  start_job_manager();
  for (std::int32_t i = 0; i < cluster_.task_manager_count(); ++i) cluster_.start_task_manager(i);
  if (cluster_.high_availability() == nullptr) submit();

  recorder_.set_checkpoint_listener(
      [this](CheckpointMoment moment, engine::CheckpointId id, std::int32_t acknowledged) {
        checkpoint_moment(moment, id, acknowledged);
      });
  recorder_.set_running_listener([this](engine::JobId running) { on_running(running); });
  recorder_.set_replay_counter([this] {
    std::int64_t lines = 0;
    for (const auto& [op, log] : ends_.logs) lines += log->lines_replayed();
    return lines;
  });
  arm_timeline();

  Duration limit = scenario_->duration;
  if (scenario_->ends_at != EndOfRun::kDuration) {
    for (const auto& [op, log] : ends_.logs) {
      log->on_exhausted([this] {
        const bool all = std::all_of(ends_.logs.begin(), ends_.logs.end(),
                                     [](const auto& entry) { return entry.second->exhausted(); });
        if (!all) return;
        // Inside a read: act in an event of its own.
        simulation_.schedule({}, [this] {
          request_end(scenario_->ends_at == EndOfRun::kIdle
                          ? analysis::FinishReason::kIdle
                          : analysis::FinishReason::kSourcesFinished);
        });
      });
    }
    limit = std::min(limit, kLongestRun);
  }
  simulation_.schedule_at(Time{} + limit,
                          [this] { request_end(analysis::FinishReason::kDuration); });
}

void ScenarioRun::start_job_manager() {
  const engine::Ports& ports = cluster_.job_manager_ports();
  if (cluster_.high_availability() != nullptr) {
    high_availability_ =
        std::make_unique<engine::HighAvailabilityClient>(ports, *cluster_.high_availability());
  }
  job_manager_ = std::make_unique<engine::JobManager>(
      ports, cluster_config(*scenario_), *checkpointing_,
      engine::JobManagerServices{high_availability_.get(), &ids_});
  job_manager_->set_job_listener(this);
  cluster_.set_job_master(job_manager_->gateway());
  if (high_availability_ == nullptr) return;
  job_manager_->contend_for_leadership(
      [this](const std::vector<engine::JobId>& recovered) { on_leader(recovered); });
}

void ScenarioRun::submit() {
  submitted_ = true;
  engine::JobSubmission submission = job_settings(*scenario_);
  submission.graph = build_stream_graph(*scenario_, parallelism_, ends_);
  if (series_ != nullptr) series_->put_meters(submission.graph);
  base::Result<engine::JobId, std::string> job = job_manager_->submit_job(std::move(submission));
  if (!job) throw ScenarioError(describe(*scenario_, scenario_->job.position) + ": " + job.error());
  submitted(job.value());
}

void ScenarioRun::on_leader(const std::vector<engine::JobId>& recovered) {
  if (!submitted_) return submit();
  if (job_ended_) return;
  if (std::find(recovered.begin(), recovered.end(), job_) == recovered.end()) {
    job_lost("The job was not in the highly available store when its job manager died.");
    return;
  }
  apply_slow_downs();
}

void ScenarioRun::submitted(engine::JobId job) {
  job_ = job;
  has_run_ = false;
  std::int32_t subtasks = 0;
  for (const engine::JobVertex& vertex :
       job_manager_->find_scheduler(job)->execution_graph().job_graph().vertices) {
    subtasks += vertex.parallelism;
  }
  recorder_.job_submitted(job, subtasks);
  if (series_ != nullptr) {
    series_->job_submitted(job_manager_->find_scheduler(job)->execution_graph().job_graph());
  }
  apply_slow_downs();
}

void ScenarioRun::advance(Time until) {
  if (!started_) start();
  simulation_.run(until, options_.interrupted);
}

void ScenarioRun::play() {
  if (!started_) start();
  sim::RunEnd end = sim::RunEnd::kHorizon;
  Time next_progress = options_.progress ? simulation_.now() + kProgressEvery : Time::max();
  while (end == sim::RunEnd::kHorizon) {
    const Time next_window = series_ != nullptr ? series_->window_end() : Time::max();
    const Time until = std::min(next_progress, next_window);
    end = simulation_.run(until, options_.interrupted);
    if (end == sim::RunEnd::kHorizon && until == next_window && series_ != nullptr) {
      series_->end_window(cluster_);
    }
    if (!options_.progress || (end == sim::RunEnd::kHorizon && until < next_progress)) continue;
    next_progress = next_progress + kProgressEvery;
    options_.progress({simulation_.now(), static_cast<std::int64_t>(simulation_.events_processed()),
                       recorder_.checkpoints_completed()});
  }
  // A run that ends with a window has all of it.
  if (series_ != nullptr && simulation_.now() == series_->window_end()) {
    series_->end_window(cluster_);
  }
  if (end == sim::RunEnd::kInterrupted) ending_ = analysis::FinishReason::kInterrupted;
}

// --- timeline --------------------------------------------------------------------------------------

void ScenarioRun::arm_timeline() {
  for (std::size_t i = 0; i < scenario_->timeline.size(); ++i) {
    const Anchor& anchor = scenario_->timeline[i].anchor;
    switch (anchor.kind) {
      case Anchor::Kind::kAt:
        simulation_.schedule_at(anchor.at, [this, i] { fire(i); });
        break;
      case Anchor::Kind::kEvery:
        arm_repetition(i, anchor.from);
        break;
      case Anchor::Kind::kCheckpoint:
        break;  // checkpoint_moment
    }
  }
}

void ScenarioRun::arm_repetition(std::size_t entry, Time at) {
  const Anchor& anchor = scenario_->timeline[entry].anchor;
  if (at >= anchor.until) return;
  simulation_.schedule_at(at, [this, entry, at] {
    fire(entry);
    arm_repetition(entry, at + scenario_->timeline[entry].anchor.every);
  });
}

void ScenarioRun::checkpoint_moment(CheckpointMoment moment, engine::CheckpointId id,
                                    std::int32_t acknowledged) {
  for (std::size_t i = 0; i < scenario_->timeline.size(); ++i) {
    const Anchor& anchor = scenario_->timeline[i].anchor;
    if (anchor.kind != Anchor::Kind::kCheckpoint || anchor.checkpoint != id ||
        anchor.moment != moment) {
      continue;
    }
    if (moment == CheckpointMoment::kAcknowledged && anchor.acknowledged != acknowledged) continue;
    // At the same instant, but not inside the engine.
    simulation_.schedule({}, [this, i] { fire(i); });
  }
}

void ScenarioRun::fire(std::size_t entry) {
  recorder_.trace(trace_kind::kTimelineAction, static_cast<std::int64_t>(entry),
                  static_cast<std::int64_t>(scenario_->timeline[entry].action));
  if (perform(entry)) hit_[entry] = true;
}

bool ScenarioRun::perform(std::size_t index) {
  const TimelineEntry& entry = scenario_->timeline[index];
  switch (entry.action) {
    case ActionKind::kKill:
      return kill(entry, false);
    case ActionKind::kVanish:
      return kill(entry, true);
    case ActionKind::kSlow:
      return slow(index);
    case ActionKind::kPause:
      return pause(entry);
    case ActionKind::kFail:
      return fail(entry);
    case ActionKind::kStorage:
      return trouble_storage(entry);
    case ActionKind::kRescale:
      if (job_ended_ || ending_) return false;
      waiting_rescales_.push_back(index);
      next_rescale();
      return false;  // a hit when it begins
    case ActionKind::kSavepoint:
      if (job_ended_ || job_manager_ == nullptr) return false;
      job_manager_->trigger_savepoint(job_, {}, false, [](const engine::StopResult&) {});
      return true;
    case ActionKind::kCheckpoint:
      if (job_ended_ || job_manager_ == nullptr) return false;
      job_manager_->trigger_checkpoint(job_, [](const engine::StopResult&) {});
      return true;
    case ActionKind::kCancelWithSavepoint:
      if (job_ended_ || ending_ || job_manager_ == nullptr) return false;
      job_manager_->trigger_savepoint(job_, {}, true,
                                      [this, index](const engine::StopResult& taken) {
                                        if (!taken.ok()) return;
                                        canceled_behind_ = taken.value();
                                        hit_[index] = true;
                                      });
      return false;  // a hit when the savepoint is complete
    case ActionKind::kStopWithSavepoint:
      if (job_ended_ || ending_) return false;
      drain_ = entry.drain;
      stopping_entry_ = index;
      stop(analysis::FinishReason::kStopped);
      return true;  // unless it takes too long
  }
  return false;
}

void ScenarioRun::after(const std::optional<Duration>& lasts, base::Callback back) {
  if (lasts) simulation_.schedule(*lasts, std::move(back));
}

bool ScenarioRun::kill_job_manager(const TimelineEntry& entry, bool silently) {
  if (!cluster_.kill_job_manager(silently)) return false;
  // First nothing of it runs any more, then its memory goes.
  job_manager_.reset();
  high_availability_.reset();
  recorder_.fault_injected();
  if (job_ended_) {
    recorder_.job_manager_lost(false);
    simulation_.stop();  // what the end waited for will not come
    return true;
  }
  recorder_.job_manager_lost(cluster_.high_availability() != nullptr);
  if (cluster_.high_availability() == nullptr) {
    job_lost("The job manager died, and without high availability its jobs with it.");
    return true;
  }
  if (request_ != nullptr) ask_again_later();  // the client's connection is gone
  bring_back(entry, [this] {
    if (job_manager_ != nullptr) return;
    cluster_.start_job_manager();
    start_job_manager();
  });
  return true;
}

void ScenarioRun::job_lost(const std::string& cause) {
  failure_ = cause;
  ending_ = analysis::FinishReason::kJobFailed;
  finish();
}

bool ScenarioRun::kill(const TimelineEntry& entry, bool silently) {
  if (entry.job_manager) return kill_job_manager(entry, silently);
  std::int32_t index = entry.task_manager->index;
  if (entry.task_manager->running) {
    const auto located =
        cluster_.locate(entry.task_manager->running->op, entry.task_manager->running->subtask);
    if (!located) return false;
    index = located->task_manager;
  }
  if (!cluster_.kill_task_manager(index, silently)) return false;
  recorder_.fault_injected();
  bring_back(entry, [this, index] {
    if (cluster_.task_executor(index) == nullptr) cluster_.start_task_manager(index);
  });
  return true;
}

void ScenarioRun::bring_back(const TimelineEntry& entry, base::InplaceFunction<void()> start) {
  const auto back = std::make_shared<base::InplaceFunction<void()>>(std::move(start));
  if (entry.back_after) simulation_.schedule(*entry.back_after, [back] { (*back)(); });
  // An active resource manager sees the process end and starts another. In 1.10 it tells the job
  // manager nothing (spec rescale.md S-6.28b): only the new process's registration shows.
  const ResourceManager& resources = scenario_->cluster.resource_manager;
  if (resources.kind == ResourceManagerKind::kActive) {
    simulation_.schedule(resources.notices_after, [back] { (*back)(); });
  }
}

bool ScenarioRun::slow(std::size_t index) {
  const TimelineEntry& entry = scenario_->timeline[index];
  const SubtaskTarget target = *entry.subtask;
  if (target.subtask >= parallelism_[static_cast<std::size_t>(target.op)]) return false;
  slow_downs_.push_back({index, target, entry.factor_milli});
  apply_slow_downs();
  recorder_.fault_injected();
  after(entry.lasts, [this, index] {
    std::erase_if(slow_downs_, [index](const ActiveSlowDown& s) { return s.entry == index; });
    apply_slow_downs();
  });
  return true;
}

// Operators are slowed down; the world charges chains. A new submission may chain otherwise.
void ScenarioRun::apply_slow_downs() {
  if (job_manager_ == nullptr) return;  // the next leader's job graph will be the same
  cluster_.slow_downs().clear();
  engine::DefaultScheduler* scheduler = job_manager_->find_scheduler(job_);
  if (scheduler == nullptr) return;
  for (const ActiveSlowDown& slow_down : slow_downs_) {
    for (const engine::JobVertex& vertex : scheduler->execution_graph().job_graph().vertices) {
      for (const engine::ChainedOperator& op : vertex.chain) {
        if (op.stream_node != slow_down.target.op) continue;
        const std::int32_t one = slow_down.target.subtask;
        const std::int32_t first = one < 0 ? 0 : one;
        const std::int32_t last = one < 0 ? vertex.parallelism - 1 : one;
        for (std::int32_t subtask = first; subtask <= last; ++subtask) {
          cluster_.slow_downs().set(vertex.index, subtask, slow_down.factor_milli);
        }
      }
    }
  }
}

bool ScenarioRun::pause(const TimelineEntry& entry) {
  // The whole process computes nothing. Its timers, its network and its heartbeats go on: this is a
  // process without CPU, not one that is stopped.
  std::int32_t index = entry.task_manager ? entry.task_manager->index : -1;
  const std::optional<SubtaskTarget> running =
      entry.task_manager ? entry.task_manager->running : entry.subtask;
  if (running) {
    const auto located = cluster_.locate(running->op, running->subtask);
    if (!located) return false;
    index = located->task_manager;
  }
  if (cluster_.task_executor(index) == nullptr) return false;
  const sim::OwnerTag owner = cluster_.owner_of(index);
  cluster_.host_of(index).pause(owner);
  recorder_.fault_injected();
  after(entry.lasts, [this, index, owner] {
    if (cluster_.owner_of(index) == owner) cluster_.host_of(index).resume(owner);
  });
  return true;
}

bool ScenarioRun::fail(const TimelineEntry& entry) {
  const auto located = cluster_.locate(entry.subtask->op, entry.subtask->subtask);
  if (!located) return false;
  recorder_.fault_injected();
  return cluster_.task_executor(located->task_manager)
      ->fail_task(located->task->attempt(), "failed by the scenario's timeline");
}

// The latest one counts, and only it ends what it has begun.
bool ScenarioRun::trouble_storage(const TimelineEntry& entry) {
  cluster_.set_storage_trouble(entry.storage);
  recorder_.fault_injected();
  after(entry.lasts, [this, own = ++storage_troubles_] {
    if (own == storage_troubles_) cluster_.set_storage_trouble({});
  });
  return true;
}

// One at a time: a job that is on its way out has nothing left to rescale.
void ScenarioRun::next_rescale() {
  if (rescaling_ || ending_ || job_ended_ || waiting_rescales_.empty()) return;
  const std::size_t index = waiting_rescales_.front();
  waiting_rescales_.pop_front();
  hit_[index] = true;
  std::string what;
  for (const TimelineEntry::Rescale& change : scenario_->timeline[index].rescales) {
    const auto op = static_cast<std::size_t>(change.op);
    if (!what.empty()) what += ", ";
    what += scenario_->job.operators[op].id + ' ' + std::to_string(parallelism_[op]) + " -> " +
            std::to_string(change.parallelism);
  }
  recorder_.rescale_requested(std::move(what), cluster_.records_in_flight());
  rescaling_ = index;
  ask();
}

// --- the end ---------------------------------------------------------------------------------------

void ScenarioRun::request_end(analysis::FinishReason reason) {
  if (ending_ || job_ended_) return;
  const bool ends_by_itself = reason != analysis::FinishReason::kDuration &&
                              std::all_of(ends_.logs.begin(), ends_.logs.end(),
                                          [](const auto& entry) { return entry.second->finite(); });
  if (ends_by_itself) return;
  if (!scenario_->stop_with_savepoint) {
    ending_ = reason;
    finish();
    return;
  }
  stop(reason);
}

void ScenarioRun::stop(analysis::FinishReason reason) {
  ending_ = reason;
  simulation_.schedule(kClientPatience, [this] {
    if (job_ended_) return;
    if (stopping_entry_) hit_[*stopping_entry_] = false;
    finish();
  });
  if (!rescaling_) ask();
}

void ScenarioRun::on_job_terminated(engine::JobId job, engine::JobStatus status,
                                    const std::string& cause) {
  if (job != job_ || job_ended_) return;
  if (status == engine::JobStatus::FINISHED) {
    // The old job of a rescale, or the end by savepoint, whose own callbacks go on from here; a
    // job whose sources have ended is finished by itself.
    if (rescaling_ || ending_) return;
    finish_by_itself();
    return;
  }
  failure_ = cause;
  ending_ = status == engine::JobStatus::CANCELED ? analysis::FinishReason::kCanceled
                                                  : analysis::FinishReason::kJobFailed;
  finish();
}

void ScenarioRun::finish_by_itself() {
  finished_by_itself_ = true;
  ending_ = analysis::FinishReason::kSourcesFinished;
  finish();
}

void ScenarioRun::finish() {
  job_ended_ = true;
  if (high_availability_ == nullptr) {
    simulation_.stop();
  } else {
    // What the job leaves there goes first.
    high_availability_->when_idle([this] { simulation_.stop(); });
  }
}

RunOutcome ScenarioRun::collect() {
  if (ending_ != analysis::FinishReason::kInterrupted) recorder_.check_end(cluster_.blobs());
  RunCollector collector(*scenario_, ends_, cluster_.blobs());
  collector.set_reason(ending_.value_or(analysis::FinishReason::kIdle));
  collector.set_finished_by_itself(finished_by_itself_);
  collector.set_last_snapshot(final_savepoint_);
  const bool cut = ending_ && final_savepoint_ == nullptr && !finished_by_itself_ &&
                   *ending_ != analysis::FinishReason::kJobFailed &&
                   *ending_ != analysis::FinishReason::kInterrupted;
  if (cut) {
    engine::CompletedCheckpointPtr last;
    engine::DefaultScheduler* scheduler =
        job_manager_ == nullptr ? nullptr : job_manager_->find_scheduler(job_);
    if (ending_ == analysis::FinishReason::kCanceled) {
      last = canceled_behind_;
    } else if (cluster_.high_availability() != nullptr) {
      last = cluster_.high_availability()->newest(job_);
    } else if (engine::CheckpointCoordinator* coordinator = scheduler->coordinator();
               coordinator != nullptr && scheduler->status() != engine::JobStatus::FINISHED) {
      coordinator->restore_latest_checkpointed_state(
          {}, [&last](engine::CompletedCheckpointPtr latest) { last = std::move(latest); });
    }
    collector.set_cut(std::move(last));
  }
  RunOutcome outcome = collector.collect(recorder_, simulation_, options_);
  if (series_ != nullptr) outcome.result.series = series_->take();
  for (std::size_t i = 0; i < hit_.size(); ++i) {
    if (!hit_[i] && !scenario_->timeline[i].optional) {
      outcome.timeline_misses.push_back(static_cast<std::int32_t>(i));
    }
  }
  cluster_.shut_down_task_managers();
  return outcome;
}

}  // namespace tailrace::scenarios
