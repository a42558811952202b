#include "engine/task/f120/subtask_checkpoint_coordinator_120.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// Flink CheckpointOptions.withUnalignedSupported: what was forced to be aligned for one channel may
// overtake again behind it.
CheckpointOptions with_unaligned_supported(CheckpointOptions options) {
  TAILRACE_ASSERT(options.alignment == AlignmentType::FORCED_ALIGNED);
  const bool timeoutable = options.aligned_checkpoint_timeout != Duration::max();
  options.alignment = timeoutable ? AlignmentType::ALIGNED : AlignmentType::UNALIGNED;
  return options;
}

}  // namespace

// Closing an aborted part takes its turn behind the parts before it.
class SubtaskCheckpointCoordinator120::CloseOperation final : public AsyncOperation {
 public:
  CloseOperation(SubtaskCheckpointCoordinator120& owner,
                 std::shared_ptr<AsyncCheckpointRunnable> runnable)
      : owner_(owner), runnable_(std::move(runnable)) {}
  void start(base::Callback ended) override {
    owner_.close_runnable(*runnable_);
    ended();
  }

 private:
  SubtaskCheckpointCoordinator120& owner_;
  std::shared_ptr<AsyncCheckpointRunnable> runnable_;
};

SubtaskCheckpointCoordinator120::SubtaskCheckpointCoordinator120(const Ports& ports,
                                                                 FsCheckpointStreamFactory& streams,
                                                                 ChannelStateWriter& channel_state,
                                                                 CheckpointingTask& task,
                                                                 std::int32_t max_recorded_aborts)
    : ports_(ports),
      streams_(streams),
      channel_state_(channel_state),
      task_(task),
      max_recorded_aborts_(max_recorded_aborts) {
  TAILRACE_ASSERT(max_recorded_aborts >= 1);
}

SubtaskCheckpointCoordinator120::~SubtaskCheckpointCoordinator120() = default;

// --- the checkpoint ----------------------------------------------------------------------------

bool SubtaskCheckpointCoordinator120::checkpoint_state(const CheckpointMetaData& meta,
                                                       CheckpointOptions options,
                                                       const AlignmentMetrics& alignment) {
  TAILRACE_ASSERT(task_.is_running());
  if (last_checkpoint_id_ >= meta.id) {
    channel_state_.abort(meta.id);
    check_and_clear_aborted_status(meta.id);
    return true;
  }
  last_checkpoint_id_ = meta.id;
  if (check_and_clear_aborted_status(meta.id)) {
    // The marker spares the next tasks an alignment that would never end.
    task_.broadcast_event(CancelCheckpointMarker{meta.id}, false);
    channel_state_.abort(meta.id);
    return true;
  }
  if (options.alignment == AlignmentType::FORCED_ALIGNED) {
    options = with_unaligned_supported(std::move(options));
    init_inputs_checkpoint(meta.id, options);
  }
  task_.prepare_snapshot_pre_barrier(meta.id);
  task_.broadcast_event(CheckpointBarrier{meta.id, meta.timestamp_ms, options},
                        options.is_unaligned());
  register_alignment_timer(meta, options);
  const bool needs_channel_state = options.needs_channel_state();
  if (needs_channel_state) {
    const bool was_closed = closed_;
    channel_state_.finish_output(meta.id);
    if (closed_ && !was_closed) return false;  // its writer could not, which has failed the task
  }

  std::vector<OperatorSnapshotFutures> futures;
  if (!task_.snapshot_state(meta, options, alignment, futures)) {
    futures.clear();  // cancelled
    return fail(meta.id, "Could not complete snapshot " + std::to_string(meta.id));
  }
  CheckpointMetrics known;
  known.alignment_ns = alignment.duration_ns;
  known.start_delay_ns = alignment.start_delay_ns;
  known.bytes_processed_during_alignment = alignment.bytes_processed;
  AsyncCheckpointRunnable::Listener& listener = *this;
  auto runnable = std::make_shared<AsyncCheckpointRunnable>(ports_, streams_, meta,
                                                            std::move(options), std::move(futures),
                                                            known, task_.finished(), listener);
  if (needs_channel_state) runnable->set_channel_state(channel_state_.take_write_result(meta.id));
  if (closed_) {
    close_runnable(*runnable);
  } else if (!checkpoints_.emplace(meta.id, runnable).second) {
    // Flink's I/O error: two parts of one checkpoint.
    close_runnable(*runnable);
    return fail(meta.id, "Cannot register async checkpoint " + std::to_string(meta.id) + " twice");
  }
  task_.submit(std::move(runnable));
  return true;
}

bool SubtaskCheckpointCoordinator120::fail(CheckpointId id, std::string cause) {
  channel_state_.abort(id);
  task_.fail(std::move(cause));
  return false;
}

void SubtaskCheckpointCoordinator120::init_inputs_checkpoint(CheckpointId id,
                                                             const CheckpointOptions& options) {
  if (options.is_unaligned()) {
    channel_state_.start(id, options);
    task_.prepare_input_snapshot(id, [this, id] { channel_state_.finish_input(id); });
  } else if (options.is_timeoutable()) {
    // Only buffers of the outputs may have to be written, should the timer fire.
    channel_state_.start(id, options);
    channel_state_.finish_input(id);
  }
}

void SubtaskCheckpointCoordinator120::alignment_ended(CheckpointId id,
                                                      const AlignmentMetrics& alignment) {
  const auto found = checkpoints_.find(id);
  if (found != checkpoints_.end()) {
    found->second->alignment_ended(alignment.duration_ns, alignment.bytes_processed);
  }
}

void SubtaskCheckpointCoordinator120::abort_checkpoint_on_barrier(CheckpointId id,
                                                                  CheckpointFailureReason reason) {
  last_checkpoint_id_ = std::max(last_checkpoint_id_, id);
  // Stops at the first that is not smaller, whatever stands behind it.
  aborted_.erase(aborted_.begin(),
                 std::find_if(aborted_.begin(), aborted_.end(), [this](CheckpointId aborted) {
                   return aborted >= last_checkpoint_id_;
                 }));
  channel_state_.abort(id);
  task_.decline(id, reason);
  if (id == alignment_checkpoint_) cancel_alignment_timer();
  task_.abort_outputs(id);
  task_.broadcast_event(CancelCheckpointMarker{id}, false);
}

// --- the output alignment timer ----------------------------------------------------------------

void SubtaskCheckpointCoordinator120::register_alignment_timer(const CheckpointMetaData& meta,
                                                               const CheckpointOptions& options) {
  cancel_alignment_timer();  // of a checkpoint before, which was quick enough
  if (!options.is_timeoutable()) return;
  const Duration passed =
      Duration::millis(ports_.clock->now().millis_truncated() - meta.timestamp_ms);
  const Duration delay = std::max(Duration{}, options.aligned_checkpoint_timeout - passed);
  alignment_timer_ = task_.register_timer(delay, [this, id = meta.id] {
    alignment_timer_ = {};
    task_.aligned_barrier_timeout(id);
  });
  alignment_checkpoint_ = meta.id;
}

void SubtaskCheckpointCoordinator120::cancel_alignment_timer() {
  if (alignment_timer_ == TimerId{}) return;
  task_.cancel_timer(std::exchange(alignment_timer_, {}));
}

// --- notices -----------------------------------------------------------------------------------

void SubtaskCheckpointCoordinator120::notify_checkpoint_complete(CheckpointId id) {
  if (task_.is_running()) task_.notify_operators_complete(id);
}

void SubtaskCheckpointCoordinator120::notify_checkpoint_aborted(CheckpointId id) {
  if (!task_.is_running()) return;
  if (const auto found = checkpoints_.find(id); found != checkpoints_.end()) {
    auto runnable = std::move(found->second);
    checkpoints_.erase(found);
    task_.submit_close(std::make_shared<CloseOperation>(*this, std::move(runnable)));
  } else if (id > last_checkpoint_id_) {
    remember_aborted(id);
  }
  channel_state_.abort(id);
  task_.notify_operators_aborted(id);
}

void SubtaskCheckpointCoordinator120::notify_checkpoint_subsumed(CheckpointId id) {
  if (task_.is_running()) task_.notify_operators_subsumed(id);
}

bool SubtaskCheckpointCoordinator120::check_and_clear_aborted_status(CheckpointId id) {
  return std::erase(aborted_, id) > 0 || id + max_recorded_aborts_ < max_aborted_;
}

void SubtaskCheckpointCoordinator120::remember_aborted(CheckpointId id) {
  max_aborted_ = std::max(max_aborted_, id);
  if (std::find(aborted_.begin(), aborted_.end(), id) != aborted_.end()) return;
  aborted_.push_back(id);
  if (aborted_.size() > static_cast<std::size_t>(max_recorded_aborts_)) {
    aborted_.erase(aborted_.begin());
  }
}

// --- asynchronous parts ------------------------------------------------------------------------

void SubtaskCheckpointCoordinator120::cancel() {
  if (closed_) return;
  closed_ = true;
  for (const auto& [id, runnable] : std::exchange(checkpoints_, {})) close_runnable(*runnable);
  channel_state_.close();
}

void SubtaskCheckpointCoordinator120::close() {
  cancel_alignment_timer();
  cancel();
}

void SubtaskCheckpointCoordinator120::close_runnable(AsyncCheckpointRunnable& runnable) {
  if (const auto metrics = runnable.close()) {
    task_.report_incomplete(runnable.checkpoint(), *metrics);
  }
}

void SubtaskCheckpointCoordinator120::snapshot_completed(
    AsyncCheckpointRunnable& runnable, const CheckpointMetrics& metrics,
    std::shared_ptr<const TaskStateSnapshot> state) {
  CheckpointMetrics reported = metrics;
  // All state is written anew: no backend of a task refers to files of earlier checkpoints yet.
  reported.total_bytes_persisted = state == nullptr ? 0 : state->state_size_bytes();
  reported.bytes_persisted_of_this_checkpoint = reported.total_bytes_persisted;
  task_.acknowledge(runnable.checkpoint(), reported, std::move(state));
  checkpoints_.erase(runnable.checkpoint());
}

void SubtaskCheckpointCoordinator120::snapshot_failed(AsyncCheckpointRunnable& runnable) {
  // A task that does not run any more declines nothing: the job is failing over already.
  if (task_.is_running()) {
    task_.decline(runnable.checkpoint(), runnable.failure());
  }
  checkpoints_.erase(runnable.checkpoint());
}

}  // namespace tailrace::engine
