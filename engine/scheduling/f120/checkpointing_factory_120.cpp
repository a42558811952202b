#include "engine/scheduling/f120/checkpointing_factory_120.hpp"

#include <utility>
#include <variant>

#include "engine/checkpoint/checkpoint_id_counter.hpp"
#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/f120/checkpoint_coordinator_120.hpp"
#include "engine/checkpoint/f120/checkpoint_deletion.hpp"
#include "engine/checkpoint/f120/checkpoint_failure_manager_120.hpp"
#include "engine/checkpoint/f120/checkpoint_stats_120.hpp"
#include "engine/checkpoint/f120/checkpoints_cleaner.hpp"
#include "engine/checkpoint/f120/default_checkpoint_plan_calculator.hpp"
#include "engine/checkpoint/f120/default_completed_checkpoint_store_120.hpp"
#include "engine/checkpoint/f120/standalone_completed_checkpoint_store_120.hpp"
#include "engine/checkpoint/ha/high_availability_id_counter.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/scheduling/load_savepoint.hpp"
#include "engine/state/f120/shared_state_registry_120.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink's interval of no periodic checkpoints; a shorter one than 10 ms means the same (section 8).
std::optional<Duration> periodic_interval(const std::optional<Duration>& interval) {
  return interval.has_value() && *interval < Duration::millis(10) ? std::nullopt : interval;
}

class JobCheckpointing120 final : public JobCheckpointing {
 public:
  explicit JobCheckpointing120(CoordinatorContext context)
      : context_(std::move(context)),
        storage_(*context_.ports.blobs, *context_.ports.random, context_.job,
                 context_.tasks.checkpoint_directory, context_.config.savepoint_directory),
        registry_([this](const StreamStateHandle& handle) {
          if (std::holds_alternative<FileStateHandle>(handle)) {
            storage_.discard_file(stream_name(handle));
          }
        }),
        io_executor_(context_.config.io_pool_size),
        cleaner_(
            [this](CompletedCheckpointPtr checkpoint, base::InplaceFunction<void(), 128> done) {
              discard(std::move(checkpoint), std::move(done));
            }),
        store_(make_store()),
        id_counter_(make_counter()),
        failures_(context_.config.tolerable_failures, *context_.fail_job),
        stats_tracker_(
            std::make_shared<CheckpointStatsTracker>(kCheckpointStats120, context_.config.history)),
        plans_(*context_.graph, context_.all_tasks, context_.config.checkpoints_after_tasks_finish),
        coordinator_(configuration(), {}, services()) {
    context_.ports.observer->on_checkpoint_stats_tracker(context_.job, stats_tracker_);
  }

  [[nodiscard]] CheckpointCoordinator& coordinator() override { return coordinator_; }
  void shutdown(JobStatus status, ShutdownDone done) override {
    coordinator_.shutdown(status,
                          [this, status, done = std::make_unique<ShutdownDone>(std::move(done))] {
                            store_->shutdown(status);
                            id_counter_->shutdown(status);
                            io_executor_.let_all_run();
                            if (*done) (*done)();
                          });
  }

 private:
  // Flink 1.20 CompletedCheckpoint.CompletedCheckpointDiscardObject: states, metadata, then the location.
  void discard(CompletedCheckpointPtr checkpoint, base::InplaceFunction<void(), 128> done) {
    struct Discarded {
      CompletedCheckpointPtr checkpoint;
      std::string metadata;
      base::InplaceFunction<void(), 128> done;
    };
    const auto discarded = std::make_shared<Discarded>();
    discarded->metadata = checkpoint->location.metadata_path();
    discarded->checkpoint = std::move(checkpoint);
    discarded->done = std::move(done);
    const CompletedCheckpoint& gone = *discarded->checkpoint;
    CheckpointDeletion deletion;
    deletion.files = unneeded_files(gone, store_->checkpoints());
    deletion.files.push_back(&discarded->metadata);
    deletion.owner = discarded;
    deletion.parallel = context_.config.cleaner_parallel_mode;
    deletion.location = [this, discarded](CheckpointStorage::Deleted deleted) {
      storage_.delete_location(discarded->checkpoint->location, std::move(deleted));
    };
    deletion.done = [this, discarded] {
      const CompletedCheckpoint& deleted = *discarded->checkpoint;
      if (deleted.statistics != nullptr) deleted.statistics->set_discarded();
      context_.ports.observer->on_checkpoint_cleaning(context_.job, deleted.id, false);
      discarded->done();
    };
    context_.ports.observer->on_checkpoint_cleaning(context_.job, gone.id, true);
    delete_on(io_executor_, storage_, std::move(deletion));
  }
  [[nodiscard]] std::unique_ptr<CompletedCheckpointStore120> make_store() {
    const StoredJob& stored = context_.stored;
    if (stored.handles == nullptr) {
      return std::make_unique<StandaloneCompletedCheckpointStore120>(context_.config.max_retained,
                                                                     registry_, cleaner_);
    }
    return std::make_unique<DefaultCompletedCheckpointStore120>(
        context_.config.max_retained, registered(stored.checkpoints), *stored.handles, registry_,
        cleaner_);
  }
  [[nodiscard]] std::unique_ptr<CheckpointIDCounter> make_counter() {
    if (context_.stored.count == nullptr) return std::make_unique<StandaloneCheckpointIDCounter>();
    return std::make_unique<HighAvailabilityIDCounter>(*context_.stored.count);
  }
  // Flink 1.20 SharedStateRegistryFactory: the claim mode holds for what a new leader finds, too.
  [[nodiscard]] std::vector<CompletedCheckpointPtr> registered(
      const std::vector<CompletedCheckpointPtr>& recovered) {
    std::vector<CompletedCheckpointPtr> result;
    for (const CompletedCheckpointPtr& checkpoint : recovered) {
      auto copy = std::make_shared<CompletedCheckpoint>(*checkpoint);
      const auto refused = registry_.register_all_after_restored(
          copy->operator_states, copy->id, context_.config.claim_mode == ClaimMode::CLAIM,
          std::nullopt);
      TAILRACE_ASSERT_MSG(!refused.has_value(), *refused);
      result.push_back(std::move(copy));
    }
    return result;
  }
  [[nodiscard]] CheckpointCoordinatorConfiguration120 configuration() const {
    const CheckpointConfig& config = context_.config;
    CheckpointCoordinatorConfiguration120 configuration;
    configuration.job = context_.job;
    configuration.interval = periodic_interval(config.interval);
    configuration.interval_during_backlog = config.interval_during_backlog;
    configuration.timeout = config.timeout;
    configuration.min_pause = config.min_pause;
    configuration.max_concurrent = config.max_concurrent;
    configuration.retention = config.retention;
    configuration.exactly_once = context_.tasks.mode == CheckpointingMode::EXACTLY_ONCE;
    configuration.unaligned = config.unaligned;
    configuration.aligned_timeout = config.aligned_timeout;
    configuration.cleaner_parallel_mode = config.cleaner_parallel_mode;
    TAILRACE_ASSERT(!configuration.problem().has_value());
    return configuration;
  }
  [[nodiscard]] CheckpointCoordinatorServices120 services() {
    return {.clock = context_.ports.clock,
            .timers = context_.ports.timers,
            .compute = context_.ports.compute,
            .random = context_.ports.random,
            .observer = context_.ports.observer,
            .storage = &storage_,
            .store = store_.get(),
            .cleaner = &cleaner_,
            .registry = &registry_,
            .id_counter = id_counter_.get(),
            .failure_manager = &failures_,
            .stats_tracker = stats_tracker_.get(),
            .plans = &plans_,
            .fail_job = context_.fail_job,
            .schedule_listener = nullptr,
            .io_executor = &io_executor_};
  }

  CoordinatorContext context_;
  FsCheckpointStorage storage_;
  SharedStateRegistry120 registry_;
  IoExecutor io_executor_;
  CheckpointsCleaner cleaner_;
  std::unique_ptr<CompletedCheckpointStore120> store_;
  std::unique_ptr<CheckpointIDCounter> id_counter_;
  CheckpointFailureManager120 failures_;
  std::shared_ptr<CheckpointStatsTracker> stats_tracker_;
  DefaultCheckpointPlanCalculator plans_;
  CheckpointCoordinator120 coordinator_;
};

}  // namespace

void CheckpointingFactory120::retrieve(CheckpointHandleStore& handles, Retrieved done) {
  retrieve_completed_checkpoints(handles, std::move(done));
}

std::unique_ptr<JobCheckpointing> CheckpointingFactory120::create(CoordinatorContext context) {
  TAILRACE_ASSERT(context.fail_job != nullptr);
  return std::make_unique<JobCheckpointing120>(std::move(context));
}

base::Result<CompletedCheckpointPtr, std::string> CheckpointingFactory120::load_savepoint(
    JobId job, const std::string& path, const std::vector<std::byte>& metadata,
    const JobGraph& graph, bool allow_non_restored_state) {
  return engine::load_savepoint(job, path, metadata, graph, allow_non_restored_state);
}

}  // namespace tailrace::engine
