#include <utility>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/union_input_gate.hpp"
#include "engine/network/unpooled_segment.hpp"
#include "engine/observer.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/state/stream_task_state_initializer.hpp"
#include "engine/state/task_state_manager.hpp"
#include "engine/task/stream_task.hpp"
#include "engine/task/stream_task_checkpoints.hpp"
#include "engine/task/task_semantics.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {

// --- triggers and notices: mails ---------------------------------------------------------------

bool StreamTask::trigger_checkpoint(CheckpointMetaData meta, CheckpointOptions options,
                                    bool advance_to_end_of_event_time) {
  static_cast<void>(advance_to_end_of_event_time);  // there is no event time in these jobs
  if (closing_ || ended_) return false;
  auto trigger = std::make_unique<CheckpointBarrier>(
      CheckpointBarrier{meta.id, meta.timestamp_ms, std::move(options)});
  if (input_ == nullptr && semantics_->source_stops_first &&
      is_synchronous(trigger->options.type)) {
    mailbox_.put(
        [this, trigger = std::move(trigger)]() mutable { stop_source(std::move(trigger)); });
  } else {
    put_trigger(std::move(trigger));
  }
  wake();
  return true;
}

void StreamTask::put_trigger(std::unique_ptr<CheckpointBarrier> trigger) {
  mailbox_.put([this, trigger = std::move(trigger)] {
    if (semantics_->has_end_of_data && input_ != nullptr && !inputs_finished()) {
      // Some task before has finished, so that no barrier will come from there: alignment decides.
      inputs_->process_barrier_of_coordinator(*trigger);
    } else {
      const CheckpointMetaData meta{trigger->id, trigger->timestamp_ms};
      begin_checkpoint(
          [this, meta, options = std::make_unique<CheckpointOptions>(trigger->options)] {
            checkpoints_->trigger(meta, *options);
          });
    }
  });
}

void StreamTask::begin_checkpoint(base::Callback perform) {
  const Duration start =
      running_ ? ports_.compute->price({WorkKind::kCheckpointStart, -1, 1, 0}) : Duration{};
  if (start.ns == 0) {
    perform();
    return;
  }
  spent_ += start;
  beginning_.push_back(std::move(perform));
}

// Flink 1.20 SourceStreamTask.triggerStopWithSavepointAsync: first no more records, then EndOfData,
// then the snapshot.
void StreamTask::stop_source(std::unique_ptr<CheckpointBarrier> trigger) {
  checkpoints_->set_synchronous_savepoint(trigger->id);
  if (canceled_) return;  // it was the second
  if (data_ended_) {
    put_trigger(std::move(trigger));
    return;
  }
  source_stopped_ = true;
  stop_drains_ = trigger->options.type == CheckpointType::SAVEPOINT_TERMINATE;
  stop_trigger_ = std::move(trigger);
}

void StreamTask::notify_checkpoint_complete(CheckpointId id) {
  notify([this, id] { checkpoints_->notify_complete(id); });
}

void StreamTask::notify_checkpoint_aborted(CheckpointId id, CheckpointId latest_completed) {
  notify([this, id, latest_completed] { checkpoints_->notify_aborted(id, latest_completed); });
}

void StreamTask::notify_checkpoint_subsumed(CheckpointId id) {
  notify([this, id] { checkpoints_->notify_subsumed(id); });
}

void StreamTask::notify(base::Callback mail) {
  if (closing_ || ended_) return;
  mailbox_.put_first(std::move(mail));
  wake();
}

// --- the end of data (1.20) --------------------------------------------------------------------

// Flink 1.20 StreamTask.endData. What the operators emit here is paid for, and may have to wait for
// buffers, before the next tasks hear of the end.
void StreamTask::end_data(bool drain) {
  TAILRACE_ASSERT(!data_ended_ && !data_ending_);
  data_ending_ = true;
  data_drained_ = drain;
  if (drain && !finished_on_restore_) {
    for (std::size_t i = 0; i < chain_->size(); ++i) {
      chain_->at(i).end_input();
      chain_->at(i).finish();
    }
  }
  pay();
}

void StreamTask::announce_end_of_data() {
  data_ending_ = false;
  data_ended_ = true;
  broadcast(EndOfData{data_drained_});
  checkpoints_->end_of_data_received();
  // A source always says so, another task only at a real end (Flink SourceStreamTask.processInput,
  // StreamTask.processInput).
  if (input_ == nullptr || data_drained_) host_->end_of_data();
  if (input_ != nullptr) return;
  loop_left_ = true;
  if (stop_trigger_ != nullptr) put_trigger(std::move(stop_trigger_));
}

// --- barriers ----------------------------------------------------------------------------------

void StreamTask::trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                               const CheckpointOptions& options,
                                               const AlignmentMetrics& metrics) {
  struct Barrier {
    CheckpointMetaData meta;
    CheckpointOptions options;
    AlignmentMetrics metrics;
  };
  begin_checkpoint([this, barrier = std::make_unique<Barrier>(Barrier{meta, options, metrics})] {
    checkpoints_->trigger_on_barrier(barrier->meta, barrier->options, barrier->metrics);
  });
}

void StreamTask::abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  checkpoints_->abort_on_barrier(id, reason);
}

void StreamTask::alignment_ended(CheckpointId id, const AlignmentMetrics& metrics) {
  checkpoints_->alignment_ended(id, metrics);
}

std::optional<CheckpointFailureReason> StreamTask::init_inputs_checkpoint(
    CheckpointId id, const CheckpointOptions& options) {
  // Flink RescalingStreamTaskNetworkInput.prepareSnapshot.
  if (options.is_unaligned()) {
    for (const ChannelReader& reader : readers_) {
      if (reader.demultiplexes())
        return CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY;
    }
  }
  checkpoints_->init_inputs_checkpoint(id, options);
  return std::nullopt;
}

// --- what a checkpoint does --------------------------------------------------------------------

AsyncCheckpointRunnable::Finished StreamTask::finished() const {
  return {.deployed_as_finished = finished_on_restore_, .task_finished = data_ended_};
}

void StreamTask::prepare_snapshot_pre_barrier(CheckpointId id) {
  if (finished_on_restore_) return;
  for (std::size_t i = 0; i < chain_->size(); ++i) chain_->at(i).prepare_snapshot_pre_barrier(id);
}

void StreamTask::broadcast_event(const RuntimeEvent& event, bool priority) {
  for (const auto& writer : writers_) writer->broadcast_event(event, priority);
  if (const auto* barrier = std::get_if<CheckpointBarrier>(&event)) {
    cuts_.on_barrier_emitted(barrier->id, partitions_);
  }
}

void StreamTask::broadcast(const RuntimeEvent& event) {
  for (const auto& writer : writers_) writer->broadcast_event(event);
}

bool StreamTask::snapshot_state(const CheckpointMetaData& meta, const CheckpointOptions& options,
                                const AlignmentMetrics& alignment,
                                std::vector<OperatorSnapshotFutures>& futures) {
  ports_.observer->on_snapshot_started(descriptor_->job, subtask_ref(), meta.id,
                                       alignment.duration_ns);
  cuts_.on_snapshot(meta.id, options.is_unaligned(), readers_);
  if (finished_on_restore_) return true;
  const bool canonical = semantics_->marks_canonical_savepoints && is_savepoint(options.type) &&
                         options.format == SavepointFormatType::CANONICAL;
  const KeyGroupsFormat format = canonical ? KeyGroupsFormat::SAVEPOINT : KeyGroupsFormat::BACKEND;
  for (std::size_t i = chain_->size(); i-- > 0;) {
    chain_->at(i).snapshot_state(meta.id);
    OperatorSnapshotFutures op{descriptor_->job_vertex().chain[i].id, {}};
    const auto take = [&](std::unique_ptr<SnapshotFuture> future) {
      if (future == nullptr) return;
      spent_ += ports_.compute->price(future->sync_work());
      op.futures.push_back(std::move(future));
    };
    // Flink captures operator state first and writes keyed state first (spec state.md 7.3).
    std::unique_ptr<SnapshotFuture> lists;
    if (state_[i]->operator_state != nullptr) {
      lists = state_[i]->operator_state->snapshot(meta.id,
                                                  semantics_->operator_streams_say_compression);
    }
    if (state_[i]->keyed_state != nullptr) {
      take(state_[i]->keyed_state->snapshot(meta.id, format, semantics_->identifies_keyed_handles));
    }
    take(std::move(lists));
    futures.push_back(std::move(op));
  }
  return true;
}

void StreamTask::submit(std::shared_ptr<AsyncCheckpointRunnable> runnable) {
  starting_.push_back(std::move(runnable));
}

void StreamTask::submit_close(std::shared_ptr<AsyncOperation> operation) {
  async_pool_->execute(std::move(operation));
}

void StreamTask::notify_operators_complete(CheckpointId id) {
  if (finished_on_restore_) return;
  for (std::size_t i = chain_->size(); i-- > 0;) chain_->at(i).notify_checkpoint_complete(id);
}

void StreamTask::notify_operators_aborted(CheckpointId id) {
  if (finished_on_restore_) return;
  for (std::size_t i = chain_->size(); i-- > 0;) chain_->at(i).notify_checkpoint_aborted(id);
}

void StreamTask::notify_operators_subsumed(CheckpointId) {
  // For keyed backends with a changelog, which these tasks have not.
}

void StreamTask::prepare_input_snapshot(CheckpointId id, base::Callback done) {
  if (input_ == nullptr) {
    done();
    return;
  }
  std::size_t reader = 0;
  for (std::size_t gate = 0; gate < gates_.size(); ++gate) {
    for (std::int32_t channel = 0; channel < gates_[gate]->channel_count(); ++channel) {
      std::vector<std::byte> rest = readers_[reader++].unconsumed();
      if (rest.empty()) continue;
      std::vector<Buffer> data;
      data.push_back(UnpooledSegment::make_buffer(std::move(rest)));
      channel_state_->add_input_data(id, {static_cast<std::int32_t>(gate), channel},
                                     ChannelStateWriter::kSequenceNumberUnknown, std::move(data));
    }
  }
  // If it fails, the abort of the checkpoint has ended the channel state already.
  inputs_->when_all_barriers(
      id, [done = std::make_unique<base::Callback>(std::move(done))](bool received) {
        if (received) (*done)();
      });
}

void StreamTask::aligned_barrier_timeout(CheckpointId id) {
  for (const auto& writer : writers_) writer->aligned_barrier_timeout(id);
  cuts_.on_barrier_emitted(id, partitions_);
}

void StreamTask::abort_outputs(CheckpointId id) {
  for (const auto& writer : writers_) writer->abort_checkpoint(id);
}

TimerId StreamTask::register_timer(Duration delay, base::Callback mail) {
  return ports_.timers->schedule(
      delay, lifeline_.bind([this, mail = std::make_unique<base::Callback>(std::move(mail))] {
        if (closing_ || ended_) return;
        mailbox_.put(std::move(*mail));
        wake();
      }));
}

void StreamTask::cancel_timer(TimerId timer) {
  ports_.timers->cancel(timer);
}

void StreamTask::acknowledge(CheckpointId id, const CheckpointMetrics& metrics,
                             std::shared_ptr<const TaskStateSnapshot> state) {
  state_manager_->report_task_state_snapshots(id, metrics, std::move(state));
  if (closing_) wake();  // its end waits for this
}

void StreamTask::decline(CheckpointId id, CheckpointFailureReason reason) {
  host_->decline({descriptor_->job, descriptor_->attempt, id, reason});
  if (closing_) wake();
}

void StreamTask::report_incomplete(CheckpointId id, const CheckpointMetrics& metrics) {
  host_->report_checkpoint_metrics({descriptor_->job, descriptor_->attempt, id, metrics});
}

void StreamTask::fail(std::string cause) {
  host_->invokable_failed(std::move(cause));
}

}  // namespace tailrace::engine
