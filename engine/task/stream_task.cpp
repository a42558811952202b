#include "engine/task/stream_task.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/barrier/checkpointed_inputs.hpp"
#include "engine/generation.hpp"
#include "engine/network/channel_selector.hpp"
#include "engine/network/network_environment.hpp"
#include "engine/network/record_writer.hpp"
#include "engine/network/result_partition.hpp"
#include "engine/network/single_input_gate.hpp"
#include "engine/network/union_input_gate.hpp"
#include "engine/observer.hpp"
#include "engine/state/checkpoint_stream_factory.hpp"
#include "engine/state/heap/heap_keyed_state_backend.hpp"
#include "engine/state/key_group_assignment.hpp"
#include "engine/state/operator_state_backend.hpp"
#include "engine/state/stream_task_state_initializer.hpp"
#include "engine/state/task_state_manager.hpp"
#include "engine/task/async_checkpoint_runnable.hpp"
#include "sim/base/assert.hpp"

namespace tailrace::engine {
namespace {

// A source whose records cost nothing would never end its slice; so much at most without a look at
// the mailbox.
constexpr std::int32_t kSourceRecordsPerSliceMax = 4096;

}  // namespace

// One channel: its deserializer and how much it has taken.
struct StreamTask::Reader {
  explicit Reader(RecordType type) : deserializer(type) {}
  RecordDeserializer deserializer;
  std::int64_t bytes = 0;
};

StreamTask::StreamTask(const Ports& ports, NetworkEnvironment& network,
                       std::shared_ptr<const TaskDeploymentDescriptor> descriptor,
                       StreamTaskHost& host)
    : ports_(ports),
      network_(&network),
      descriptor_(std::move(descriptor)),
      host_(&host),
      client_{descriptor_->vertex, descriptor_->subtask} {
  set_up_outputs();
  set_up_inputs();
}

StreamTask::~StreamTask() {
  // Whatever holds buffers goes before the gates and partitions that own them.
  async_.clear();
  chain_.reset();
  readers_.clear();
  inputs_.reset();
  union_gate_.reset();
  writers_.clear();
  gates_.clear();
  partitions_.clear();
}

SubtaskRef StreamTask::subtask_ref() const {
  return {descriptor_->vertex, descriptor_->subtask, descriptor_->attempt_number};
}

// --- set-up ------------------------------------------------------------------------------------

void StreamTask::set_up_outputs() {
  const JobVertex& vertex = descriptor_->job_vertex();
  for (std::size_t i = 0; i < descriptor_->outputs.size(); ++i) {
    const ResultPartitionDescriptor& output = descriptor_->outputs[i];
    const JobEdge& edge = vertex.outputs[i];
    std::unique_ptr<ResultPartition> partition = network_->create_partition(output, &set_up_error_);
    if (partition == nullptr) return;
    partitions_.push_back(std::move(partition));
    const JobVertex& target =
        descriptor_->graph->vertices[static_cast<std::size_t>(edge.target_vertex)];
    ChannelSelectorConfig selector;
    selector.kind = output.partitioner;
    selector.channels = output.subpartitions;
    selector.max_parallelism = target.max_parallelism;
    selector.random = ports_.random;
    selector.random_stream = "partitioner/" + vertex.name + "/" + std::to_string(i) + "/" +
                             std::to_string(descriptor_->subtask);
    writers_.push_back(std::make_unique<RecordWriter>(*partitions_.back(), output.type,
                                                      make_channel_selector(selector),
                                                      descriptor_->config.buffer_timeout, ports_));
    writers_.back()->set_availability_listener([this] { wake(); });
  }
}

void StreamTask::set_up_inputs() {
  if (descriptor_->gates.empty() || !set_up_error_.empty()) return;
  for (const InputGateDescriptor& gate : descriptor_->gates) {
    gates_.push_back(network_->create_gate(
        gate, lifeline_.bind([this](std::string cause) { host_->invokable_failed(cause); })));
    for (std::size_t i = 0; i < gate.channels.size(); ++i) readers_.emplace_back(gate.type);
  }
  InputGate* gate = gates_.front().get();
  if (gates_.size() > 1) {
    std::vector<InputGate*> members;
    for (const auto& member : gates_) members.push_back(member.get());
    union_gate_ = std::make_unique<UnionInputGate>(std::move(members));
    gate = union_gate_.get();
  }
  gate->set_availability_listener([this] { wake(); });
  CheckpointedInputsOptions options;
  options.mode = descriptor_->config.mode;
  options.page_bytes = descriptor_->config.segment_bytes;
  options.max_buffered_bytes = descriptor_->config.alignment_max_bytes;
  const InputToCheckpoint input{gate, this};
  inputs_ = make_checkpointed_inputs(descriptor_->config.generation, std::span(&input, 1), options,
                                     *this, *ports_.clock);
  input_ = &inputs_->input(0);
  for (const auto& member : gates_) member->request_partitions();
}

// --- restore -----------------------------------------------------------------------------------

void StreamTask::invoke() {
  TAILRACE_ASSERT(set_up_error_.empty());
  // There is no channel state to read back; what 1.20 says at the end of it is said all the same.
  for (const auto& partition : partitions_) partition->finish_read_recovered_state();
  const JobVertex& vertex = descriptor_->job_vertex();
  chain_ = std::make_unique<OperatorChain>(vertex, writers_, *ports_.compute);
  state_.resize(chain_->size());
  // The directory of a checkpoint belongs to one job, so these three tell its files apart.
  const std::string owner = "v" + std::to_string(descriptor_->vertex) + "-s" +
                            std::to_string(descriptor_->subtask) + "-a" +
                            std::to_string(descriptor_->attempt_number);
  stream_factory_ = std::make_unique<FsCheckpointStreamFactory>(
      ports_, descriptor_->config.checkpoint_directory, descriptor_->config.inline_threshold_bytes,
      owner);
  state_manager_ = std::make_unique<TaskStateManagerImpl>(descriptor_->job, descriptor_->attempt,
                                                          descriptor_->restore, *host_);
  state_initializer_ = std::make_unique<StreamTaskStateInitializerImpl>(ports_, *state_manager_);
  restore_next_operator();
}

// Tail first, as Flink's OperatorChain initialises them.
void StreamTask::restore_next_operator() {
  if (!running_) return;
  if (restored_operators_ == chain_->size()) {
    // The time that reading the state back takes is paid before the operators open.
    computing_ = true;
    ports_.compute->run(client_, std::exchange(spent_, Duration{}), lifeline_.bind([this] {
      computing_ = false;
      if (running_) {
        start_running();
      } else {
        stop();
      }
    }));
    return;
  }
  const std::size_t index = chain_->size() - 1 - restored_operators_;
  const ChainedOperator& op = descriptor_->job_vertex().chain[index];
  OperatorStateRequest request;
  request.keyed = op.factory->is_keyed();
  request.max_parallelism = descriptor_->max_parallelism;
  request.range = compute_key_group_range_for_operator_index(
      descriptor_->max_parallelism, descriptor_->parallelism, descriptor_->subtask);
  state_initializer_->initialize(
      op.id, request,
      lifeline_.bind(
          [this,
           index](base::Result<std::unique_ptr<StreamOperatorStateContext>, std::string> result) {
            if (!running_) return;
            if (!result.ok()) {
              host_->invokable_failed("Could not restore the state of " +
                                      descriptor_->job_vertex().chain[index].name + ": " +
                                      result.error());
              return;
            }
            state_[index] = std::move(result).value();
            spent_ += ports_.compute->price(state_[index]->restore_work);
            ++restored_operators_;
            restore_next_operator();
          }));
}

void StreamTask::start_running() {
  contexts_.resize(chain_->size());
  for (std::size_t i = chain_->size(); i-- > 0;) {
    OperatorContext& context = contexts_[i];
    context.subtask = descriptor_->subtask;
    context.parallelism = descriptor_->parallelism;
    context.max_parallelism = descriptor_->max_parallelism;
    context.restored = state_[i]->restored;
    context.keyed_state = state_[i]->keyed_state.get();
    context.operator_state = state_[i]->operator_state.get();
    context.clock = ports_.clock;
    context.output = &chain_->output_of(i);
    chain_->at(i).initialize_state(context);
  }
  for (std::size_t i = chain_->size(); i-- > 0;) chain_->at(i).open();
  if (descriptor_->restore != nullptr) {
    host_->state_restored(descriptor_->restore->snapshot.state_size_bytes());
  }
  open_ = true;
  wake();
}

// --- the loop ----------------------------------------------------------------------------------

void StreamTask::wake() {
  if (!open_ || computing_ || waking_ || ended_) return;
  waking_ = true;
  ports_.timers->schedule({}, lifeline_.bind([this] {
    waking_ = false;
    if (!computing_) step();
  }));
}

void StreamTask::step() {
  if (ended_) return;
  if (!running_) {
    stop();
    return;
  }
  if (blocked_inside_record()) return;  // its listener wakes us
  run_mails();
  if (ended_) return;
  if (spent_.ns > 0 || !starting_.empty()) {
    pay();
    return;
  }
  if (finish_requested_) {
    finish();
    return;
  }
  if (sync_savepoint_ && input_ != nullptr) return;  // waits for its completion
  if (!outputs_available()) return;
  if (input_ != nullptr) {
    process_input();
  } else {
    process_source();
  }
}

void StreamTask::run_mails() {
  // A mail that costs time (a snapshot) is paid for before the next one runs.
  const bool only_urgent = sync_savepoint_.has_value() && input_ != nullptr;
  while (running_ && spent_.ns == 0 && starting_.empty() && !finish_requested_) {
    if (only_urgent ? !mailbox_.has_urgent() : mailbox_.empty()) return;
    base::Callback mail = only_urgent ? mailbox_.take_urgent() : mailbox_.take();
    mail();
  }
}

void StreamTask::process_input() {
  if (current_ == nullptr) {
    std::optional<BufferOrEvent> item = input_->poll_next();
    if (!running_ || ended_) return;
    if (item && item->is_buffer()) {
      current_ = &readers_[static_cast<std::size_t>(item->channel)];
      Buffer& buffer = std::get<0>(item->item);
      current_->bytes += buffer.size();
      deserialised_bytes_ += buffer.size();
      current_->deserializer.set_next_buffer(std::move(buffer));
    }
    if (spent_.ns > 0 || !starting_.empty() || sync_savepoint_) {
      // A barrier was among what the gate has read: its snapshot comes before the next record.
      pay();
      return;
    }
    if (!item) {
      if (input_->is_finished()) finish();
      return;  // otherwise the gate wakes us
    }
    if (!item->is_buffer()) {
      wake();  // an end of partition; there may be more
      return;
    }
  }

  const Duration slice = ports_.compute->slice();
  Record record;
  bool output_ready = true;
  while (output_ready && chain_->spent() < slice) {
    if (!current_->deserializer.next(record)) {
      current_ = nullptr;
      break;
    }
    ++records_in_;
    ++deserialised_records_;
    chain_->process(record);
    output_ready = outputs_available();
  }
  pay();
}

void StreamTask::process_source() {
  SourceOperator& source = chain_->source();
  const Duration slice = ports_.compute->slice();
  std::int32_t emitted = 0;
  while (chain_->spent() < slice && emitted < kSourceRecordsPerSliceMax && outputs_available()) {
    if (!chain_->emit_next()) break;
    ++emitted;
  }
  records_in_ += emitted;
  if (emitted > 0) {
    pay();
    return;
  }
  if (source.finished()) {
    finish();
    return;
  }
  ports_.timers->cancel(source_timer_);
  source_timer_ = {};
  if (const std::optional<Time> due = source.next_due(); due && *due < Time::max()) {
    source_timer_ =
        ports_.timers->schedule(*due - ports_.clock->now(), lifeline_.bind([this] { wake(); }));
  }
}

// What the records of this slice cost beside their operators.
void StreamTask::charge_wire_work() {
  if (deserialised_records_ > 0 || deserialised_bytes_ > 0) {
    spent_ += ports_.compute->price(
        {WorkKind::kDeserialise, -1, deserialised_records_, deserialised_bytes_});
    deserialised_records_ = deserialised_bytes_ = 0;
  }
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  for (const auto& writer : writers_) {
    records += writer->records_written();
    bytes += writer->bytes_written();
  }
  if (records > charged_records_) {
    spent_ += ports_.compute->price(
        {WorkKind::kSerialise, -1, records - charged_records_, bytes - charged_bytes_});
    charged_records_ = records;
    charged_bytes_ = bytes;
  }
}

void StreamTask::pay() {
  spent_ += chain_->take_spent();
  charge_wire_work();
  computing_ = true;
  paying_since_ = ports_.clock->now();
  ports_.compute->run(client_, std::exchange(spent_, Duration{}),
                      lifeline_.bind([this] { pay_done(); }));
}

void StreamTask::pay_done() {
  computing_ = false;
  publish_outputs();
  for (auto& runnable : starting_) {
    runnable->set_sync_duration((ports_.clock->now() - paying_since_).ns);
    async_.push_back(std::move(runnable));
    async_.back()->start();
  }
  starting_.clear();
  step();
}

bool StreamTask::blocked_inside_record() const {
  return std::any_of(writers_.begin(), writers_.end(),
                     [](const auto& writer) { return writer->is_blocked(); });
}

bool StreamTask::outputs_available() const {
  return std::all_of(writers_.begin(), writers_.end(),
                     [](const auto& writer) { return writer->is_available(); });
}

void StreamTask::publish_outputs() {
  for (const auto& writer : writers_) writer->publish();
}

void StreamTask::broadcast(const RuntimeEvent& event) {
  for (const auto& writer : writers_) writer->broadcast_event(event);
}

// --- the end -----------------------------------------------------------------------------------

void StreamTask::finish() {
  TAILRACE_ASSERT(!ended_ && !blocked_inside_record());
  ended_ = true;
  running_ = false;
  for (std::size_t i = 0; i < chain_->size(); ++i) chain_->at(i).close();
  publish_outputs();
  broadcast(EndOfPartitionEvent{});
  for (const auto& writer : writers_) writer->close();
  async_.clear();
  host_->invokable_finished();
}

void StreamTask::cancel() {
  if (ended_ || !running_) return;
  running_ = false;
  async_.clear();  // closed: what they have written is discarded, nothing is declined
  starting_.clear();
  // Inside a slice the task's thread comes to rest at its end; otherwise at once, also when it
  // waits for a buffer inside a record (the canceller interrupts it).
  if (!computing_) {
    ports_.timers->schedule({}, lifeline_.bind([this] {
      if (!computing_) stop();
    }));
  }
}

void StreamTask::stop() {
  if (ended_) return;
  ended_ = true;
  if (open_) {
    for (std::size_t i = 0; i < chain_->size(); ++i) chain_->at(i).close();
  }
  host_->invokable_stopped();
}

std::vector<std::unique_ptr<ResultPartition>> StreamTask::take_partitions() {
  writers_.clear();
  return std::move(partitions_);
}

// --- checkpoints -------------------------------------------------------------------------------

void StreamTask::trigger_checkpoint(CheckpointMetaData meta, CheckpointOptions options,
                                    bool advance_to_end_of_event_time) {
  static_cast<void>(advance_to_end_of_event_time);  // there is no event time in these jobs
  mailbox_.put([this, meta, options = std::make_unique<CheckpointOptions>(std::move(options))] {
    if (!perform_checkpoint(meta, *options, {})) {
      decline(meta.id, CheckpointFailureReason::CHECKPOINT_DECLINED_TASK_NOT_READY);
    }
  });
  wake();
}

void StreamTask::notify_checkpoint_complete(CheckpointId id) {
  mailbox_.put_first([this, id] { complete_checkpoint(id); });
  wake();
}

void StreamTask::trigger_checkpoint_on_barrier(const CheckpointMetaData& meta,
                                               const CheckpointOptions& options,
                                               const AlignmentMetrics& metrics) {
  perform_checkpoint(meta, options, metrics);
}

void StreamTask::abort_checkpoint_on_barrier(CheckpointId id, CheckpointFailureReason reason) {
  decline(id, reason);
  broadcast(CancelCheckpointMarker{id});
}

void StreamTask::decline(CheckpointId id, CheckpointFailureReason reason) {
  host_->decline({descriptor_->job, descriptor_->attempt, id, reason});
}

void StreamTask::on_barrier_processed(ChannelIndex channel, CheckpointId id) {
  ports_.observer->on_barrier_processed(descriptor_->job, subtask_ref(), 0, channel, id);
}

// Flink 1.10 StreamTask.performCheckpoint, atomic with respect to records.
bool StreamTask::perform_checkpoint(const CheckpointMetaData& meta,
                                    const CheckpointOptions& options,
                                    const AlignmentMetrics& metrics) {
  if (!running_) {
    broadcast(CancelCheckpointMarker{meta.id});
    return false;
  }
  if (options.type == CheckpointType::SYNC_SAVEPOINT) {
    if (sync_savepoint_ && *sync_savepoint_ != meta.id) {
      // Flink 1.10 StreamTask.setSynchronousSavepointId throws, and the task fails of it.
      host_->invokable_failed("at most one stop-with-savepoint checkpoint at a time is allowed");
      return true;
    }
    sync_savepoint_ = meta.id;
  }
  for (std::size_t i = 0; i < chain_->size(); ++i) {
    chain_->at(i).prepare_snapshot_pre_barrier(meta.id);
  }
  // The barrier goes out before the snapshot, so that the next task aligns meanwhile.
  broadcast(CheckpointBarrier{meta.id, meta.timestamp_ms, options});
  ports_.observer->on_snapshot_started(descriptor_->job, subtask_ref(), meta.id,
                                       metrics.duration_ns);
  snapshot_operators(meta, options, metrics);
  return true;
}

void StreamTask::snapshot_operators(const CheckpointMetaData& meta,
                                    const CheckpointOptions& options,
                                    const AlignmentMetrics& metrics) {
  std::vector<AsyncCheckpointRunnable::OperatorFutures> operators;
  for (std::size_t i = chain_->size(); i-- > 0;) {
    chain_->at(i).snapshot_state(meta.id);
    AsyncCheckpointRunnable::OperatorFutures op{descriptor_->job_vertex().chain[i].id, {}};
    const auto take = [&](std::unique_ptr<SnapshotFuture> future) {
      if (future == nullptr) return;
      spent_ += ports_.compute->price(future->sync_work());
      op.futures.push_back(std::move(future));
    };
    // Flink captures operator state first and writes keyed state first (spec state.md 7.3).
    std::unique_ptr<SnapshotFuture> lists;
    if (state_[i]->operator_state != nullptr) lists = state_[i]->operator_state->snapshot(meta.id);
    if (state_[i]->keyed_state != nullptr) take(state_[i]->keyed_state->snapshot(meta.id));
    take(std::move(lists));
    operators.push_back(std::move(op));
  }
  CheckpointMetrics known;
  known.alignment_bytes_buffered = metrics.bytes_buffered;
  known.alignment_ns = metrics.duration_ns;
  starting_.push_back(std::make_unique<AsyncCheckpointRunnable>(
      ports_, *stream_factory_, meta, options, std::move(operators), known,
      lifeline_.bind(
          [this](AsyncCheckpointRunnable& runnable, AsyncCheckpointRunnable::Outcome outcome) {
            if (outcome.succeeded) {
              state_manager_->report_task_state_snapshots(runnable.checkpoint(), outcome.metrics,
                                                          std::move(outcome.state));
            } else {
              // A plain exception of the asynchronous part reaches the job manager as JOB_FAILURE.
              decline(runnable.checkpoint(), CheckpointFailureReason::JOB_FAILURE);
            }
            forget(runnable);
          })));
}

void StreamTask::forget(const AsyncCheckpointRunnable& runnable) {
  // It is still on the stack: it goes in an event of its own.
  ports_.timers->schedule({}, lifeline_.bind([this, ended = &runnable] {
    std::erase_if(async_, [ended](const auto& owned) { return owned.get() == ended; });
  }));
}

void StreamTask::complete_checkpoint(CheckpointId id) {
  for (std::size_t i = chain_->size(); i-- > 0;) chain_->at(i).notify_checkpoint_complete(id);
  if (sync_savepoint_ == id) finish_requested_ = true;
}

// --- observation -------------------------------------------------------------------------------

std::int64_t StreamTask::records_out() const {
  std::int64_t records = 0;
  for (const auto& writer : writers_) records += writer->records_written();
  return records;
}

std::int64_t StreamTask::bytes_consumed(ChannelIndex channel) const {
  return readers_[static_cast<std::size_t>(channel)].bytes;
}

}  // namespace tailrace::engine
