#include "engine/scheduling/f110/checkpointing_factory_110.hpp"

#include <utility>

#include "engine/checkpoint/checkpoint_id_counter.hpp"
#include "engine/checkpoint/checkpoint_storage.hpp"
#include "engine/checkpoint/completed_checkpoint_store.hpp"
#include "engine/checkpoint/f110/checkpoint_coordinator_110.hpp"
#include "engine/checkpoint/f110/checkpoint_failure_manager_110.hpp"
#include "engine/checkpoint/f110/checkpoint_stats_110.hpp"
#include "engine/checkpoint/f110/zookeeper_completed_checkpoint_store_110.hpp"
#include "engine/checkpoint/ha/high_availability_id_counter.hpp"
#include "engine/checkpoint/stats/checkpoint_stats_tracker.hpp"
#include "engine/scheduling/load_savepoint.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

class JobCheckpointing110 final : public JobCheckpointing {
 public:
  explicit JobCheckpointing110(CoordinatorContext context)
      : context_(std::move(context)),
        storage_(*context_.ports.blobs, *context_.ports.random, context_.job,
                 context_.tasks.checkpoint_directory, context_.config.savepoint_directory),
        registry_([this](const StreamStateHandle& handle) { delete_shared(handle); }),
        store_(make_store(context_, storage_, registry_)),
        id_counter_(make_counter(context_)),
        failures_(context_.config.tolerable_failures, *context_.fail_job),
        stats_tracker_(
            std::make_shared<CheckpointStatsTracker>(kCheckpointStats110, context_.config.history)),
        coordinator_(configuration(), vertices(), services()) {
    context_.ports.observer->on_checkpoint_stats_tracker(context_.job, stats_tracker_);
  }

  [[nodiscard]] CheckpointCoordinator& coordinator() override { return coordinator_; }
  void shutdown(JobStatus status, ShutdownDone done) override {
    coordinator_.shutdown(status, std::move(done));
  }

 private:
  [[nodiscard]] static std::unique_ptr<CompletedCheckpointStore> make_store(
      const CoordinatorContext& context, CheckpointStorage& storage,
      SharedStateRegistry110& registry) {
    if (context.stored.handles == nullptr) {
      return std::make_unique<StandaloneCompletedCheckpointStore>(context.config.max_retained,
                                                                  storage, registry);
    }
    return std::make_unique<ZooKeeperCompletedCheckpointStore110>(
        context.config.max_retained, *context.stored.handles, storage, registry);
  }
  [[nodiscard]] static std::unique_ptr<CheckpointIDCounter> make_counter(
      const CoordinatorContext& context) {
    if (context.stored.count == nullptr) return std::make_unique<StandaloneCheckpointIDCounter>();
    return std::make_unique<HighAvailabilityIDCounter>(*context.stored.count);
  }
  [[nodiscard]] CheckpointCoordinatorConfiguration110 configuration() const {
    CheckpointCoordinatorConfiguration110 configuration;
    configuration.job = context_.job;
    configuration.interval = context_.config.interval;
    configuration.timeout = context_.config.timeout;
    configuration.min_pause = context_.config.min_pause;
    configuration.max_concurrent = context_.config.max_concurrent;
    configuration.retention = context_.config.retention;
    configuration.prefer_checkpoint_for_recovery = context_.config.prefer_checkpoint_for_recovery;
    return configuration;
  }
  [[nodiscard]] CheckpointVertices vertices() const {
    return {context_.tasks_to_trigger, context_.all_tasks, context_.all_tasks};
  }
  [[nodiscard]] CheckpointCoordinatorServices110 services() {
    CheckpointCoordinatorServices110 services;
    services.clock = context_.ports.clock;
    services.timers = context_.ports.timers;
    services.compute = context_.ports.compute;
    services.random = context_.ports.random;
    services.observer = context_.ports.observer;
    services.storage = &storage_;
    services.store = store_.get();
    services.id_counter = id_counter_.get();
    services.fail_job = context_.fail_job;
    services.registry = &registry_;
    services.failure_manager = &failures_;
    services.stats_tracker = stats_tracker_.get();
    return services;
  }

  void delete_shared(const StreamStateHandle& handle) {
    if (std::holds_alternative<FileStateHandle>(handle)) storage_.discard_file(stream_name(handle));
  }

  CoordinatorContext context_;
  FsCheckpointStorage storage_;
  SharedStateRegistry110 registry_;
  std::unique_ptr<CompletedCheckpointStore> store_;
  std::unique_ptr<CheckpointIDCounter> id_counter_;
  CheckpointFailureManager110 failures_;
  std::shared_ptr<CheckpointStatsTracker> stats_tracker_;
  CheckpointCoordinator110 coordinator_;
};

}  // namespace

std::unique_ptr<JobCheckpointing> CheckpointingFactory110::create(CoordinatorContext context) {
  TAILRACE_ASSERT(context.fail_job != nullptr);
  return std::make_unique<JobCheckpointing110>(std::move(context));
}

base::Result<CompletedCheckpointPtr, std::string> CheckpointingFactory110::load_savepoint(
    JobId job, const std::string& path, const std::vector<std::byte>& metadata,
    const JobGraph& graph, bool allow_non_restored_state) {
  return engine::load_savepoint(job, path, metadata, graph, allow_non_restored_state);
}

}  // namespace tailrace::engine
